"""Smooth fits to counts, and the law on groups of cells that they rest on."""
