"""The operator's products compiled by numba: the additions of `operator` in the same order."""

from __future__ import annotations

import numpy as np

from sottovoce.core.kernels.jit import compiled


@compiled
def expect(background, extra, places, steps, f):
    slots = background.size
    inputs, each = places.shape
    base = 0.0
    for j in range(slots):
        base += background[j] * f[j]
    tail = np.zeros(slots + 1)
    run = 0.0
    for j in range(slots - 1, -1, -1):
        run += extra[j] * f[j]
        tail[j] = run
    out = np.empty(inputs)
    for i in range(inputs):
        value = base
        for k in range(each):
            place = places[i, k]
            value += steps[i, k, 0] * tail[place] + steps[i, k, 1] * tail[place + 1]
        out[i] = value
    return out


@compiled
def mix(background, extra, places, steps, w):
    slots = background.size
    inputs, each = places.shape
    here = np.zeros(slots)
    there = np.zeros(slots)
    total = 0.0
    for i in range(inputs):
        total += w[i]
        for k in range(each):
            place = places[i, k]
            here[place] += steps[i, k, 0] * w[i]
            there[place] += steps[i, k, 1] * w[i]
    out = np.empty(slots)
    run = 0.0
    for j in range(slots):
        run += here[j] + there[j - 1] if j else here[j]
        out[j] = background[j] * total + extra[j] * run
    return out
