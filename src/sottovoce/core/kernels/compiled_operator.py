"""The window operator compiled by numba: the additions of `operator` in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_COMPILE: dict[str, Any] = {"nogil": True, "cache": True}


@njit(**_COMPILE)
def expect(background, extra, lower, lower_part, upper, upper_part, wrapped, f):
    cells = background.size
    below = np.empty(cells + 1)
    gain = np.empty(cells + 1)
    base = 0.0
    run = 0.0
    below[0] = 0.0
    for j in range(cells):
        base += background[j] * f[j]
        gain[j] = extra[j] * f[j]
        run += gain[j]
        below[j + 1] = run
    gain[cells] = 0.0
    out = np.empty(lower.size)
    for i in range(lower.size):
        high = below[upper[i]] + upper_part[i] * gain[upper[i]]
        low = below[lower[i]] + lower_part[i] * gain[lower[i]]
        out[i] = base + ((high - low) + wrapped[i] * run)
    return out


@njit(**_COMPILE)
def mix(background, extra, lower, lower_part, upper, upper_part, wrapped, w):
    cells = background.size
    inputs = lower.size
    up = np.zeros(cells + 1)
    down = np.zeros(cells + 1)
    part_up = np.zeros(cells + 1)
    part_down = np.zeros(cells + 1)
    total = 0.0
    around = 0.0
    for i in range(inputs):
        up[lower[i]] += w[i]
        down[upper[i]] += w[i]
        part_up[upper[i]] += w[i] * upper_part[i]
        part_down[lower[i]] += w[i] * lower_part[i]
        total += w[i]
        around += w[i] * wrapped[i]
    out = np.empty(cells)
    run = 0.0
    for j in range(cells):
        run += up[j] - down[j]
        cover = run + (part_up[j] - part_down[j])
        out[j] = background[j] * total + extra[j] * (cover + around)
    return out
