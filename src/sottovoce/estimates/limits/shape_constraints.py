"""What somebody declares about the truth beforehand, as linear constraints on it.

An envelope has to hold for every truth. Fewer truths need less of it: for all densities f ≥ 0 of a class

    E[w·c/n] = ∫ f·h  ≥  ∫ f·τ − b·u      if    h + (what u adds) ≥ τ,    u ≥ 0,

so b·u joins the limit. Density at most B: u(x) adds itself and costs B·∫u. Steepness at most L: V adds V′ and
costs L·∫|V|, because ∫ f·V′ = [f·V] − ∫ f′·V, with V(0) ≥ 0 ≥ V(1) on an interval. Unimodal with the mode in
[m, m′]: f is a mixture of even spreads over [a, m], of even spreads over [m′, b] and of points between m and
m′, so h has to be above τ on average over each of them and not everywhere. The place of the mode is not
declared: limits are the outermost over all cells that the reports leave for it.

Between two nodes the law is linear, so an even spread over [a, m] with a between them is a mixture of the one
that begins at the next node and of people at the two nodes. These are the rows here: finitely many, and what
holds for them holds for the class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, one_of, real_number
from sottovoce.values.domain import Domain

CELLS = 32  # for the mode
SHAPES = ("unimodal",)
_KNOTS = 24  # between which what u adds is linear; more of them where the target jumps
_APART = 1e-3  # no two knots are nearer
_THIN = 4  # bins by which even spreads of a pilot differ
_SMOOTH = 17  # bins, twice
_CLOSER = 0.3 * 0.5 ** np.arange(7.0)


@dataclass(frozen=True)
class Shape:
    """A class of truths, in the unit coordinate.

    Attributes:
        words: The declaration, as it is printed.
        unimodal: True if the density rises to one place and falls from there.
        density: The most that the density can be.
        steepness: The most by which it can change per unit.
        circle: True if the domain is one.
        mode: Where the mode is, of one cell of a unimodal shape.
    """

    words: str
    unimodal: bool = False
    density: float = math.inf
    steepness: float = math.inf
    circle: bool = False
    mode: tuple[float, float] | None = None

    @classmethod
    def declared(
        cls, domain: Domain, shape: str | None, density: float | None, steepness: float | None
    ) -> Shape:
        """The declaration that somebody made in the units of the domain."""
        bounds = {"density": (density, domain.width), "steepness": (steepness, domain.width**2)}
        names = [name for name, (number, _) in bounds.items() if number is not None]
        if shape is not None and not names:
            return cls(one_of(shape, "shape", SHAPES), unimodal=True, circle=domain.is_circle)
        if shape is not None or len(names) > 1:
            raise ArgumentError(
                "declare one of shape, density and steepness", code="shape", argument=names[0]
            )
        if domain.is_log:
            sentence = f"{names[0]} is not defined on a log scale; a shape is, of the logarithms"
            raise ArgumentError(sentence, code="domain", argument=names[0])
        given, unit = bounds[names[0]]
        number, least = real_number(given, names[0]), 0.0 if steepness is not None else 1 / domain.width
        if number <= least:
            rule = f"exceed {least:.6g}" + ("" if steepness is not None else ", that of an even spread")
            raise ArgumentError(f"{names[0]} must {rule}, got {names[0]}={number!r}", argument=names[0])
        limits = {names[0]: number * unit}
        most, rise = (limits.get(name, math.inf) for name in bounds)
        return cls(f"{names[0]} at most {number:.12g}", False, most, rise, domain.is_circle)

    def cells(self) -> list[Shape]:
        """Convex classes whose union is this one: a mode in each of many cells."""
        if not self.unimodal:
            return [self]
        return [replace(self, mode=(i / CELLS, (i + 1) / CELLS)) for i in range(CELLS)]

    def places(self, jumps: tuple[float, ...], near: float) -> FloatArray:
        """Where nodes are needed for a target that jumps at some places, besides those."""
        knots = self._knots(jumps)
        return knots if self.steepness == math.inf else np.concatenate((knots - near, knots + near))

    def columns(self, t: FloatArray, jumps: tuple[float, ...], near: float) -> tuple[FloatArray, FloatArray]:
        """What each u adds at the nodes, and what it costs."""
        added, costs = [np.zeros((len(t), 0))], [np.zeros(0)]
        if self.density < math.inf:
            sides = np.add.outer(jumps, [-near, near]).reshape(-1)  # u may jump where the target does
            knots = np.unique(np.clip(np.append(self._knots(jumps), sides), 0.0, 1.0))
            added.append(_hats(t, knots))
            costs.append(self.density * _lengths(knots))
        if self.steepness < math.inf:
            knots = self._knots(jumps)
            piece = np.clip(np.searchsorted(knots, t) - 1, 0, len(knots) - 2)
            rise = np.diff(np.eye(len(knots)), axis=0) / np.diff(knots)[:, None]
            rise, cost = rise[piece], self.steepness * _lengths(knots)
            if self.circle:  # V is the same at both ends
                rise[:, 0] += rise[:, -1]
                cost[0] += cost[-1]
            added += [rise[:, :-1], -rise[:, :-1] if self.circle else -rise[:, 1:]]
            costs += [cost[:-1], cost[:-1] if self.circle else cost[1:]]
        return np.hstack(added), np.concatenate(costs)

    def extremes(self, t: FloatArray, values: FloatArray, near: float) -> FloatArray:
        """Averages, over each extreme member of the class, of what has these values at the nodes."""
        if self.mode is None:
            return values
        first = int(np.searchsorted(t, self.mode[0] - 4 * near))
        last = max(int(np.searchsorted(t, self.mode[1] + 4 * near)) - 1, first)
        inside = values[first : last + 1]
        left, right = slice(first + 1), slice(last, None)
        if self.circle:  # once around, from the end of the cell to its beginning
            t = np.concatenate((t[right], 1 + t[1 : first + 1]))
            values = np.concatenate((values[right], values[1 : first + 1]))
            left = right = slice(None)
        falling = _spreads(-t[right][::-1], values[right][::-1], near)
        return np.concatenate((_spreads(t[left], values[left], near), inside, falling))

    def nearest(self, density: FloatArray, law: FloatArray) -> FloatArray:
        """A density of the class, on equal bins, whose reports look much like those of another one.

        Args:
            density: Probabilities of the bins.
            law: Bins of the density × bins of cells.

        Returns:
            Probabilities of the bins.
        """
        bins = len(density)
        if self.mode is not None:
            from scipy.optimize import nnls

            members = self._members(bins)
            root = np.sqrt(density @ law)
            steps = nnls((members @ law / root).T, root)[0] @ members
            wide = np.pad(steps, 2 * _SMOOTH, mode="wrap" if self.circle else "constant")
            kernel = np.ones(_SMOOTH) / _SMOOTH  # the steps are chance
            density = np.convolve(np.convolve(wide, kernel, "same"), kernel, "same")[
                2 * _SMOOTH : -2 * _SMOOTH
            ]
        if self.density < math.inf:
            low, high = 1.0, float(bins)  # the factor that makes up for what is cut off
            for _ in range(40):
                factor = (low + high) / 2
                low, high = (
                    (factor, high)
                    if np.minimum(factor * density + 1e-9, self.density / bins).sum() < 1
                    else (low, factor)
                )
            density = np.minimum(high * density + 1e-9, self.density / bins)
        if self.steepness < math.inf:
            apart = np.abs(np.subtract.outer(np.arange(bins), np.arange(bins)))
            apart = np.minimum(apart, bins - apart) if self.circle else apart
            below = (density + self.steepness / bins**2 * apart).min(axis=1)
            above = (density - self.steepness / bins**2 * apart).max(axis=1)
            rest = (1 - below.sum()) / max(float(above.sum() - below.sum()), 1e-12)
            density = below + rest * (above - below)
        return np.asarray(density / density.sum())

    def _members(self, bins: int) -> FloatArray:
        """Even spreads over bins that end or begin at the mode's cell, and the bins in it."""
        assert self.mode is not None
        first, last = (round(end * bins) for end in self.mode)
        around = np.arange(last, first + bins) % bins
        left, right = (around, around) if self.circle else (np.arange(first), np.arange(last, bins))
        chains = [np.array([i]) for i in range(first, last)]
        for side in (left[::-1], right):
            chains += [side[:size] for size in range(_THIN, len(side) + 1, _THIN)]
        members = np.zeros((len(chains), bins))
        for row, chain in zip(members, chains, strict=True):
            row[chain] = 1 / len(chain)
        return members

    def _knots(self, jumps: tuple[float, ...]) -> FloatArray:
        around = [jump + sign * _CLOSER for jump in jumps for sign in (-1, 1)]
        every = np.concatenate((np.arange(_KNOTS + 1) / _KNOTS, jumps, self.mode or (), *around))
        inner = np.unique(every[(every > _APART) & (every < 1 - _APART)])
        return np.concatenate(([0.0], inner[np.diff(inner, append=1.0) > _APART], [1.0]))


def _spreads(t: FloatArray, values: FloatArray, near: float) -> FloatArray:
    """Averages over even spreads from a to the last node, for every a; two rows for each piece."""
    steps = np.diff(t)
    if not len(steps):
        return values[:0]
    column = (slice(None), *(None,) * (values.ndim - 1))
    areas = steps[column] * (values[1:] + values[:-1]) / 2
    beyond = np.cumsum(areas[::-1], axis=0)[::-1] - areas  # from the end of the piece on
    wide = steps > 3 * near
    length = (t[-1] - t[:-1])[column]
    rows = [(steps[column] * ends + beyond) / length for ends in (values[:-1], values[1:])]
    return np.concatenate([row[wide] for row in rows])


def _hats(t: FloatArray, knots: FloatArray) -> FloatArray:
    """Functions that are 1 at one knot, 0 at the others and linear in between."""
    return np.stack([np.interp(t, knots, row) for row in np.eye(len(knots))], axis=1)


def _lengths(knots: FloatArray) -> FloatArray:
    """Integrals of those functions."""
    steps = np.diff(knots) / 2
    return np.append(steps, 0.0) + np.insert(steps, 0, 0.0)
