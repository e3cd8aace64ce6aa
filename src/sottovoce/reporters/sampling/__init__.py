"""The hot loops of sampling, in numpy and compiled by numba.

Sampling turns random words and values into cells; both loops of a kind give the same bits.
"""
