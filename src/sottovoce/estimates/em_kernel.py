"""The iterations of `em` compiled by numba: the additions of an operator in one pass."""

from __future__ import annotations

import numpy as np

from sottovoce.core.kernels.jit import compiled


@compiled
def iterate(background, extra, places, steps, counts, f, q, smoothing, rounds):
    """`rounds` iterations on f in place, and in q the probabilities of reports before the last of them.

    `smoothing` is 0 for none, 1 on a line, 2 around a circle. Numbers are added in the order of `model`: the
    results are the same. Arrays are gone through by hand: numba takes three times as long to compile what
    numpy writes in one line.
    """
    inputs, each = places.shape
    size = background.size
    n = 0.0
    for j in range(size):
        n += counts[j]
    rise = np.empty(size)
    old = np.empty(inputs)
    for _ in range(rounds):
        rise[:] = 0.0
        total = 0.0
        for i in range(inputs):
            total += f[i]
            for k in range(each):
                rise[places[i, k]] += steps[i, k, 0] * f[i]
                rise[places[i, k] + 1] += steps[i, k, 1] * f[i]
        run = 0.0
        for j in range(size):
            run += rise[j]
            q[j] = background[j] * total + extra[j] * run
            rise[j] = counts[j] / q[j] if counts[j] > 0.0 else 0.0
        base = 0.0
        run = 0.0
        for j in range(size - 1, -1, -1):
            base += background[j] * rise[j]
            run += extra[j] * rise[j]
            rise[j] = run
        for i in range(inputs):
            gain = 0.0
            for k in range(each):
                gain += steps[i, k, 0] * rise[places[i, k]]
                gain += steps[i, k, 1] * rise[places[i, k] + 1]
            f[i] = max(f[i] * (gain + base) / n, 0.0)
        if smoothing > 0:
            for i in range(inputs):
                old[i] = f[i]
            for i in range(1, inputs - 1):
                f[i] = 0.25 * (old[i - 1] + old[i + 1]) + 0.5 * old[i]
            if smoothing == 2:
                f[0] = 0.25 * (old[inputs - 1] + old[1]) + 0.5 * old[0]
                f[inputs - 1] = 0.25 * (old[inputs - 2] + old[0]) + 0.5 * old[inputs - 1]
            else:
                f[0] = (2.0 * old[0] + old[1]) / 3.0
                f[inputs - 1] = (2.0 * old[inputs - 1] + old[inputs - 2]) / 3.0
            total = 0.0
            for i in range(inputs):
                total += f[i]
            for i in range(inputs):
                f[i] /= total
