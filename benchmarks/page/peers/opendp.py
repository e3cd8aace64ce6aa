"""A library for the central model; noise sampled exactly, from a cryptographic source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DISTRIBUTIONS = ("opendp",)
REQUIRES = ("opendp>=0.12",)

Run = Callable[[Any], Any]


def laplace_vector(epsilon: float) -> Run:
    """Laplace noise by exact arithmetic on a grid of floats, a whole vector a call"""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    noisy = dp.m.make_laplace(*space, scale=1 / epsilon)
    return lambda x: noisy(x.tolist())


def laplace_scalar(epsilon: float) -> Run:
    """The same, one value a call"""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    noisy = dp.m.make_laplace(
        dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1 / epsilon
    )
    return lambda x: [noisy(value) for value in x.tolist()]


def geometric(epsilon: float) -> Run:
    """Two-sided geometric noise on integers, the value rounded to 1/1000, a whole vector a call"""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    noisy = dp.m.make_geometric(*space, scale=1000 / epsilon)
    return lambda x: [value / 1000 for value in noisy((x * 1000).round().astype(int).tolist())]


SPEED = {"Laplace, one value a call": laplace_scalar}
PRIVATISERS = {"Laplace, vector": laplace_vector, "geometric, vector": geometric}
LAWS = {"Laplace, vector": "Laplace"}
