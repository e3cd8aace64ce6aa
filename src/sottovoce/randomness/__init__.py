"""The secure stream, the seeded stream of simulations, threads."""
