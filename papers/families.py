"""The mechanisms that the papers compare, built once and named as the papers name them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sottovoce.designs import classic
from sottovoce.laws import bounded_laplace, staircase, truncated_laplace
from sottovoce.laws.law import Law
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.values.circle import Circle

#: Enough for four digits of every error, and quick.
CELLS = 4096
TURN = 2 * math.pi

Makers = dict[str, Callable[[float], Mechanism]]


@lru_cache(maxsize=512)
def ogpm(epsilon: float, loss: str = "l1", domain: tuple[float, float] = (0, 1), **more: Any) -> Mechanism:
    """Theorem 3.7 is loss "l1"; loss "l2" takes the root of (E−2)p³ + 3Ep − 2E² instead."""
    return classic.ogpm(epsilon, domain, loss, cells=CELLS, **more)


@lru_cache(maxsize=512)
def ogpm_circle(epsilon: float, loss: str = "l1") -> Mechanism:
    """Theorem 4.2 on [0, 2π)."""
    return classic.ogpm(epsilon, Circle(TURN), loss, cells=CELLS)


@lru_cache(maxsize=512)
def pm_c(epsilon: float, width: float = 1.0) -> Mechanism:
    """PM with its range compressed linearly to the domain."""
    return classic.pm(epsilon, (0, width), cells=CELLS).compressed()


@lru_cache(maxsize=512)
def sw_c(epsilon: float, width: float = 1.0) -> Mechanism:
    """SW with its range compressed linearly to the domain."""
    return classic.sw(epsilon, (0, width), cells=CELLS).compressed()


def laplace_like(epsilon: float) -> dict[str, Mechanism | Law]:
    """The laws of section 7.1.3, for L1."""
    return {
        "Staircase": staircase(epsilon, loss="l1"),
        "T-Laplace": truncated_laplace(epsilon),
        "B-Laplace": bounded_laplace(epsilon),
    }


def endpoint_error(epsilon: float, p: float, k: int) -> float:
    """E|y − x|^k of OGPM with central density p at x = 0 of [0, 1], in closed form."""
    e = math.exp(epsilon)
    w = (e - p) / (p * (e - 1))
    return p / (k + 1) * (w ** (k + 1) + (1 - w ** (k + 1)) / e)


def circle_error(epsilon: float, p: float, k: int) -> float:
    """The same at any point of the circle [0, 2π): Theorem 4.4 for k = 2."""
    return endpoint_error(epsilon, p, k) * math.pi**k
