"""The hot loops of sampling: random words and values to cells, alike in numpy and compiled by numba."""
