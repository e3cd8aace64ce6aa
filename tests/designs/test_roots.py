"""Roots, and valleys at the same doubles as scipy's, so that digests stay what they were."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from sottovoce.designs.solver.roots import lowest, root


def test_the_roots_of_brentq_to_a_few_last_digits() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        epsilon, k = float(10 ** rng.uniform(-6, 1.2)), float(rng.choice([2, 3, rng.uniform(1.01, 20)]))
        more = math.expm1(epsilon)

        def slope(theta: float, epsilon: float = epsilon, k: float = k, more: float = more) -> float:
            w = math.expm1((1 - theta) * epsilon) / more
            return 1 + more * w ** (k + 1) - (k + 1) * w**k * math.exp((1 - theta) * epsilon)

        place = root(slope, 0.0, 1.0)
        assert place == pytest.approx(brentq(slope, 0.0, 1.0, xtol=1e-15), rel=4e-15, abs=1e-15)
        assert slope(place) == 0 or slope(math.nextafter(place, 0)) * slope(math.nextafter(place, 1)) <= 0


def test_no_change_of_sign_is_refused() -> None:
    with pytest.raises(ValueError, match="different signs"):
        root(lambda x: x * x + 1, 0.0, 1.0)
    assert root(lambda x: x - 1, 0.0, 1.0) == 1.0


def test_the_same_doubles_as_the_bounded_search() -> None:
    rng = np.random.default_rng(2)
    functions: list[Callable[[float], float]] = [lambda x: x, lambda x: -x, lambda x: 0.0]
    functions += [lambda x: math.floor(7 * abs(x - 0.3)), lambda x: math.cos(5 * x)]
    for place, power in zip(rng.uniform(-1, 2, 100).tolist(), 25 * [1.0, 1.5, 2.0, 4.0], strict=True):
        functions.append(lambda x, a=place, k=power: abs(x - a) ** k + 0.1 * math.sin(3 * x))  # type: ignore[misc]
    for f in functions:
        for bounds in ((0.0, 1.0), (-1.0, 3.0), (1e-9, 1 - 1e-9)):
            for tolerance in (1e-12, 1e-9, 1e-5):
                found = minimize_scalar(f, bounds=bounds, method="bounded", options={"xatol": tolerance})
                assert lowest(f, *bounds, tolerance) == (found.x, found.fun)
