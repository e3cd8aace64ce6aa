"""Probabilities as integer rows that keep ε by counting."""

from __future__ import annotations

import numpy as np

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentError
from sottovoce.exact.exponential import MAX_BITS
from sottovoce.exact.rational_bounds import exp_lower


def repaired(p: FloatArray, epsilon: float, bits: int = MAX_BITS) -> IntArray:
    """Integer rows of sum 2^bits as near to p as counting allows with ratio ≤ e^ε.

    g_j is the least weight that leaves room for the row with the most; rows are clipped to
    [g_j, ⌊q·g_j⌋], and what a row then has too much or too little is spread over its cells in proportion
    to the room they have.
    """
    q, total = exp_lower(epsilon), 1 << bits
    most = np.rint(p.max(axis=0) * total).astype(np.int64)
    low = np.array([max(1, -(-int(m) * q.denominator // q.numerator)) for m in most], dtype=np.int64)
    high = np.array([int(g) * q.numerator // q.denominator for g in low], dtype=np.int64)
    if not int(low.sum()) <= total <= int(high.sum()):
        raise ArgumentError(
            f"these rows are too far from epsilon={epsilon!r} to be repaired", argument="probabilities"
        )
    rows = np.clip(np.rint(p * total).astype(np.int64), low, high)
    for row in rows:
        _balance(row, low, high, total)
    return rows


def _balance(row: IntArray, low: IntArray, high: IntArray, total: int) -> None:
    """Move a row to the right sum within its bounds, in place."""
    missing = total - int(row.sum())
    sign = 1 if missing > 0 else -1
    room = (high - row) if missing > 0 else (row - low)
    # Slightly too little by rounding down; the rest goes out in single units.
    share = np.floor(room * (abs(missing) / max(int(room.sum()), 1) * (1 - 1e-12))).astype(np.int64)
    row += sign * share
    while left := abs(total - int(row.sum())):
        row[np.flatnonzero(row != (high if sign > 0 else low))[:left]] += sign
