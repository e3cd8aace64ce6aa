"""Roots without scipy: the same doubles as `scipy.optimize.brentq`, so that digests stay what they were."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from sottovoce.designs.roots import root


def test_the_same_doubles_as_brentq() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        epsilon, k = float(10 ** rng.uniform(-6, 1.2)), float(rng.choice([2, 3, rng.uniform(1.01, 20)]))
        more = math.expm1(epsilon)

        def slope(theta: float, epsilon: float = epsilon, k: float = k, more: float = more) -> float:
            w = math.expm1((1 - theta) * epsilon) / more
            return 1 + more * w ** (k + 1) - (k + 1) * w**k * math.exp((1 - theta) * epsilon)

        for tolerance in (1e-15, 2e-12):
            assert root(slope, 0.0, 1.0, tolerance) == brentq(slope, 0.0, 1.0, xtol=tolerance)


def test_no_change_of_sign_is_refused() -> None:
    with pytest.raises(ValueError, match="different signs"):
        root(lambda x: x * x + 1, 0.0, 1.0)
    assert root(lambda x: x - 1, 0.0, 1.0) == 1.0
