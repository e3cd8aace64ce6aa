"""The hot loops of sampling, in numpy and compiled by numba, and the operator of a law.

Sampling turns random words and values into cells; both loops of a kind give the same bits. The operator
applies the matrix P(cell | input) and its transpose by prefix sums in O(cells + inputs); who only reports
does not load it.
"""
