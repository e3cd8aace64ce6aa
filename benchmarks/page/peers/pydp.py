"""PyDP: Google's C++ library; Laplace noise on a grid, from a cryptographic source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DISTRIBUTIONS = ("python-dp",)
REQUIRES = ("numpy", "python-dp>=1.1.5")


def laplace(epsilon: float) -> Callable[[Any], Any]:
    """`LaplaceMechanism.add_noise`, one value a call"""
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    add_noise = LaplaceMechanism(epsilon, 1.0).add_noise
    return lambda x: [add_noise(value) for value in x.tolist()]


PRIVATISERS = {"Laplace": laplace}
LAWS = {"Laplace": "Laplace"}
