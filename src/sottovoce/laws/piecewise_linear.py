"""Laws made of straight lines: a density linear between breakpoints that move with the truth, and atoms.

For a truth t there are breakpoints b_0 ≤ … ≤ b_m, a density at the left and at the right end of each piece,
and atoms. Distribution function, quantiles and E|y − t|^k are then polynomial on every piece.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.laws.law import Law

Pieces = tuple[FloatArray, FloatArray, FloatArray]  # breakpoints (…, m+1), left and right densities (…, m)


@dataclass(frozen=True)
class Linear(Law):
    """A law that says what its pieces are."""

    @abstractmethod
    def _pieces(self, t: FloatArray) -> Pieces: ...

    def _density(self, t: FloatArray, y: FloatArray) -> FloatArray:
        edges, left, right = self._pieces(t)
        v = y[..., None]
        inside = (v >= edges[..., :-1]) & ((v < edges[..., 1:]) | (v == edges[..., -1:]))
        along = _share(v - edges[..., :-1], np.diff(edges))
        value = left + along * (right - left)
        # Where two pieces touch, the point belongs to one of them.
        first = inside & (np.cumsum(inside, axis=-1) == 1)
        return np.asarray(np.where(first, value, 0.0).sum(axis=-1))

    def _cdf(self, t: FloatArray, y: FloatArray) -> FloatArray:
        edges, left, right = self._pieces(t)
        length = np.clip(y[..., None] - edges[..., :-1], 0.0, np.diff(edges))
        slope = _share(right - left, np.diff(edges))
        total = (length * (left + slope * length / 2)).sum(axis=-1)
        for where, mass in self._atoms(t):
            total = total + mass * (y >= where)
        return np.clip(total, 0.0, 1.0)

    def _quantile(self, t: FloatArray, p: FloatArray) -> FloatArray:
        edges, left, right = self._pieces(t)
        atoms = self._atoms(t)
        # Atoms are pieces of no length: every breakpoint list is extended by them and sorted.
        length, slope = np.diff(edges), _share(right - left, np.diff(edges))
        start, mass = edges[..., :-1], length * (left + right) / 2
        for where, weight in atoms:
            start, mass, length, left, slope = _split_at(start, mass, length, left, slope, where, weight)
        order = np.argsort(start, axis=-1, kind="stable")
        start, mass, length, left, slope = (
            np.take_along_axis(z, order, axis=-1) for z in (start, mass, length, left, slope)
        )
        below = np.cumsum(mass, axis=-1)
        piece = np.minimum((below <= p[..., None]).sum(axis=-1, keepdims=True), mass.shape[-1] - 1)
        begin, rise, reach, low, total = (
            np.take_along_axis(z, piece, axis=-1)[..., 0] for z in (start, slope, length, left, below)
        )
        need = p - (total - np.take_along_axis(mass, piece, axis=-1)[..., 0])
        root = np.sqrt(np.maximum(low * low + 2 * rise * need, 0.0))
        moved = 2 * need / np.maximum(low + root, 1e-300)
        return np.asarray(begin + np.clip(moved, 0.0, reach))

    def _deviation(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self._integral(t, 1.0, signed=True), self._integral(t, 2.0, signed=False)

    def _error(self, t: FloatArray, k: float, circular: bool) -> FloatArray:
        return self._integral(t, k, signed=False)

    def _integral(self, t: FloatArray, k: float, *, signed: bool) -> FloatArray:
        """E of |y − t|^k, or of its signed version."""
        edges, left, right = self._pieces(t)
        z = edges - t[..., None]
        slope = _share(right - left, np.diff(edges))
        flat = left - slope * z[..., :-1]  # the density is flat + slope·(y − t)

        def even(p: float) -> FloatArray:
            return np.abs(z) ** p / p

        def odd(p: float) -> FloatArray:
            return np.sign(z) * np.abs(z) ** p / p

        for_flat, for_slope = (even, odd) if signed else (odd, even)
        pieces = flat * np.diff(for_flat(k + 1)) + slope * np.diff(for_slope(k + 2))
        total = pieces.sum(axis=-1)
        for where, mass in self._atoms(t):
            away = where - t
            total = total + mass * np.abs(away) ** k * (np.sign(away) if signed else 1.0)
        return np.asarray(total)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part/whole, 0 where the piece has no length."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def _split_at(
    start: FloatArray,
    mass: FloatArray,
    length: FloatArray,
    left: FloatArray,
    slope: FloatArray,
    where: float,
    weight: FloatArray,
) -> tuple[FloatArray, ...]:
    """Cut every piece at an atom and put the atom between the halves."""
    before = np.clip(where - start, 0.0, length)
    after = length - before
    lower = np.where(start + length <= where, mass, before * (left + slope * before / 2))
    atom = weight[..., None]
    none = np.zeros_like(atom)
    return (
        np.concatenate((start, np.full_like(atom, where), start + before), axis=-1),
        np.concatenate((lower, atom, mass - lower), axis=-1),
        np.concatenate((before, none, after), axis=-1),
        np.concatenate((left, none, left + slope * before), axis=-1),
        np.concatenate((slope, none, slope), axis=-1),
    )
