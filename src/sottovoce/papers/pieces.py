"""The papers' m-piece problem for small m, solved directly: levels first (at the worst input), then places.

A mechanism of m pieces has levels g·E^{s_i}, 0 ≤ s_i ≤ 1, so ε holds whatever the solver finds; g follows
from the normalisation. L1 error, domain [0, 1].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sottovoce.domains import FloatArray


def best_pieces(epsilon: float, m: int, rng: np.random.Generator, starts: int) -> tuple[FloatArray, float]:
    """(levels of the m pieces, low outside and high inside; the worst-case error), over several starts."""
    from scipy.optimize import minimize

    def parts(z: FloatArray) -> tuple[FloatArray, FloatArray]:
        width = np.exp(z[m:] - z[m:].max())
        width = width / width.sum()
        level = np.exp(epsilon * z[:m])
        return level / (level * width).sum(), width

    def error(z: FloatArray) -> float:
        level, width = parts(z)
        edges = np.concatenate(([0.0], np.cumsum(width)))
        return float((level * np.diff(edges**2)).sum() / 2)

    bounds = [(0.0, 1.0)] * m + [(-12.0, 12.0)] * m
    best = min(
        (
            minimize(
                error,
                np.concatenate((np.sort(rng.uniform(0, 1, m))[::-1], rng.normal(0, 1, m))),
                bounds=bounds,
                method="L-BFGS-B",
                options={"ftol": 1e-14, "gtol": 1e-10, "maxiter": 2000},
            )
            for _ in range(starts)
        ),
        key=lambda found: found.fun,
    )
    level, width = parts(best.x)
    used = level[width > 1e-5]
    low, high = float(used.min()), float(used.max())
    # Between two low pieces all others may be high: an order in which every input finds its window.
    return np.array([low] + [high] * (m - 2) + [low]), float(best.fun)


def arrange(levels: FloatArray, x: float) -> FloatArray:
    """Edges of the pieces that minimise the error at x for given levels."""
    from scipy.optimize import minimize

    m = len(levels)

    def integral(edges: FloatArray) -> float:
        z = edges - x
        return float((levels * np.diff(np.sign(z) * z * z / 2)).sum())

    def edges_of(width: FloatArray) -> FloatArray:
        return np.concatenate(([0.0], np.cumsum(width)))

    solve: Any = minimize  # its types know no constraints as plain dictionaries
    rules = [
        {"type": "eq", "fun": lambda width: width.sum() - 1},
        {"type": "eq", "fun": lambda width: (levels * width).sum() - 1},
    ]
    found = solve(
        lambda width: integral(edges_of(width)),
        np.full(m, 1 / m, dtype=np.float64),
        bounds=[(0.0, 1.0)] * m,
        constraints=rules,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return edges_of(np.clip(found.x, 0, None))


def merged(levels: FloatArray, edges: FloatArray) -> list[tuple[float, float, float]]:
    """(level, from, to) after joining neighbours of equal level and dropping empty pieces."""
    joined: list[tuple[float, float, float]] = []
    for level, low, high in zip(levels, edges[:-1], edges[1:], strict=True):
        if high - low < 1e-6:
            continue
        if joined and math.isclose(joined[-1][0], level, rel_tol=1e-3):
            joined[-1] = (joined[-1][0], joined[-1][1], float(high))
        else:
            joined.append((float(level), float(low), float(high)))
    return joined
