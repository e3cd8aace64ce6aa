"""The two hot loops, plain (numpy) and compiled (numba, where it is installed).

Sampling turns random words and values into cells; the operator applies the matrix P(cell | input) and
its transpose by prefix sums in O(cells + inputs); who only reports does not load it. Both kernels of a pair
give the same bits.
"""

from sottovoce.core.kernels.dispatch import (
    Sampler,
    compiled_available,
    many,
    products_compiled,
    serves_soon,
    worth_compiling,
)
from sottovoce.core.kernels.tables import Table, Tables

__all__ = [
    "Sampler",
    "Table",
    "Tables",
    "compiled_available",
    "many",
    "products_compiled",
    "serves_soon",
    "worth_compiling",
]
