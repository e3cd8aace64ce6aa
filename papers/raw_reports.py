"""Repeated campaigns with the collector of the OGPM paper, who reads reports as they are (section 7.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.reporters.mechanism import Mechanism

BINS = 50
_BATCH = 25


@dataclass(frozen=True)
class Errors:
    """Averages over repetitions; `scripted` is the published scripts' distance: L2 of counts, 49 bins."""

    distribution: float
    scripted: float
    mean: float


def simulate_raw(
    mechanism: Mechanism, values: FloatArray, repetitions: int, rng: np.random.Generator, *, circular: bool
) -> Errors:
    """Distance of the 50-bin histogram of raw reports (sum of absolute differences) and of the mean.

    On a circle the mean is atan2 of the averages of sine and cosine, and its error the shorter arc.
    """
    n, cells = len(values), mechanism.cells
    decoded = mechanism.decode(np.arange(cells))
    low, width = mechanism.domain.low, mechanism.domain.width

    def binned(y: FloatArray, bins: int) -> NDArray[np.int64]:
        return np.clip(((y - low) / width * bins).astype(np.int64), 0, bins - 1)

    place = {bins: binned(decoded, bins) for bins in (BINS, BINS - 1)}
    truth = {bins: np.bincount(binned(values, bins), minlength=bins) for bins in place}
    reads = np.exp(2j * math.pi * (decoded - low) / width) if circular else decoded
    target = np.exp(2j * math.pi * (values - low) / width).mean() if circular else values.mean()
    many = np.tile(values, _BATCH)
    offset = np.repeat(np.arange(_BATCH) * cells, n)
    distribution, scripted, mean = [], [], []
    for first in range(0, repetitions, _BATCH):
        batch = min(_BATCH, repetitions - first)
        reports = mechanism.report(many[: batch * n], rng=rng).astype(np.int64)
        counts = np.bincount(reports + offset[: batch * n], minlength=batch * cells).reshape(batch, cells)
        gap = {
            bins: np.stack([np.bincount(at, weights=row, minlength=bins) for row in counts]) - truth[bins]
            for bins, at in place.items()
        }
        distribution.append(np.abs(gap[BINS]).sum(axis=1) / n)
        scripted.append(np.sqrt((gap[BINS - 1] ** 2).sum(axis=1)))
        found = counts @ reads / n
        away = np.angle(found * np.conj(target)) * width / (2 * math.pi) if circular else found - target
        mean.append(np.abs(away))
    return Errors(*(float(np.concatenate(parts).mean()) for parts in (distribution, scripted, mean)))
