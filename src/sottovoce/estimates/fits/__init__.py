"""Smooth fits to counts, and the law on bins of cells that they rest on."""
