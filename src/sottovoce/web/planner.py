"""What the dashboard's planner computes with: the noise of one report, by ε, on a domain of width 1.

    error of a mean over n people ≈ z · width · deviation / √n

On an interval the deviation is that of the best quick unbiased design at the worst true value (optimal
designs do better by a few per cent but need a solver). On a circle it is that of the mean direction when
people agree, by the delta method: √E[sin²] / E[cos] of the noise, in turns.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

import sottovoce as sv

#: The steps of a slider.
EPSILONS = (
    0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8,
    2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0,
)  # fmt: skip
_CELLS = 2048


@cache
def planner_table() -> dict[str, Any]:
    """For every ε of the slider, the design and its deviation, on an interval and on a circle."""
    rows = [_interval(epsilon) for epsilon in EPSILONS]
    return {
        "epsilon": EPSILONS,
        "interval": {"design": [name for name, _ in rows], "deviation": [value for _, value in rows]},
        "circle": {"design": ["ogpm"] * len(EPSILONS), "deviation": [_circle(e) for e in EPSILONS]},
    }


def _interval(epsilon: float) -> tuple[str, float]:
    made = {"ptt": sv.ptt(epsilon, (0, 1), cells=_CELLS), "duchi": sv.duchi(epsilon, (0, 1))}
    found = {name: math.sqrt(m.worst_variance()) for name, m in made.items()}
    best = min(found, key=found.__getitem__)
    return best, found[best]


def _circle(epsilon: float) -> float:
    m = sv.ogpm(epsilon, sv.Circle(1.0), cells=_CELLS)
    angle = 2 * math.pi * m.decode(np.arange(m.cells))
    p = m.probabilities(0.0)
    return float(math.sqrt(p @ np.sin(angle) ** 2) / (p @ np.cos(angle)) / (2 * math.pi))
