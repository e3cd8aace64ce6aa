"""One optimiser with its certificate."""
