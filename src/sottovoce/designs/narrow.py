"""Narrow windows: the optimum at large ε, where a window is a hundredth of the domain or less.

A grid that is fine enough for such windows is too large for one program. But only near the ends of the domain
has the best background any structure; farther in it is a smooth density, and so is the prior of inputs that
proves the limit. Both are functions on a mesh with few nodes (`designs.mesh`):

    background   the least t such that the error, averaged over each hat of inputs, is at most t: a program
                 like that of `designs.master`, with averages of cuts for rows and hats of reports for
                 unknowns;
    limit        weights on hats of inputs such that r(y) ≥ 0 at some reports: where r turns out to be lowest
                 (`designs.sums`), reports are added, and those where it is far above 0 are left out.

The cuts of the limit are those that carry the background. Of several at one input only their mean is kept: c
is concave, so r is no smaller for it. Reports ship as equal cells (`designs.equal`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.arrays import FloatArray
from sottovoce.core.domains import Interval
from sottovoce.core.mechanism import Mechanism
from sottovoce.designs.certificate import Proof, settle, upper_e
from sottovoce.designs.cuts import Cuts
from sottovoce.designs.equal import Background, Side, equal_cells
from sottovoce.designs.master import linear_program
from sottovoce.designs.mesh import Mesh
from sottovoce.designs.oracles import REACH, cuts_at_ends, tangents
from sottovoce.designs.problem import Problem
from sottovoce.designs.sums import between, lows, sides

_MESHES = (16, 20, 24)  # points in half a typical window: one after the other until one meets
_AIM = 1.01  # the ratio to the limit
_ROUNDS = 30
_GAP = 1e-3  # between the error of the background and its bound
_CLOSE = 0.02  # rows with more room than that have no say in the next program
_LOWERINGS = 8
_LESS = 1e-3  # that cuts are lowered by if they are too high, in sizes of the answer
_EVERYWHERE = 0.5  # the mass of a background that has nothing to do with windows
_LOW = 80  # reports that are added at a time
_KEPT = 2  # reports for each hat of inputs that stay, those where r is lowest
_INSIDE = 64  # cells of a window at most
_KNOTS = 1280  # of an unbiased design, a knot for every cell: less than 64 KB
_TOLERANCE = 0.003  # of the position of a cell, in half windows


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a program, constant + row·masses ≤ a·t: a is 1 for an error, 0 for a mean to be reached."""

    table: FloatArray
    constant: FloatArray
    a: FloatArray

    @classmethod
    def none(cls, unknowns: int) -> _Rows:
        return cls(np.zeros((0, unknowns)), np.zeros(0), np.zeros(0))

    def __add__(self, other: _Rows) -> _Rows:
        pairs = ((self.table, other.table), (self.constant, other.constant), (self.a, other.a))
        return _Rows(*(np.concatenate(pair) for pair in pairs))

    def __getitem__(self, chosen: NDArray[np.intp] | NDArray[np.bool_]) -> _Rows:
        return _Rows(self.table[chosen], self.constant[chosen], self.a[chosen])


@dataclass(frozen=True)
class NarrowProblem(Problem):
    """The problem for k = 1 or 2 at an ε of 6.5 or more.

    Attributes:
        fine: How many reports the mesh has in half a typical window, near the ends of the domain.
    """

    fine: int = _MESHES[0]

    @classmethod
    def solution(cls, epsilon: float, k: float, unbiased: bool) -> Mechanism:
        """Find the design on [0, 1], with its certificate.

        A window that leaps between two inputs of a mesh can be farther off there than at both. Another mesh
        has its inputs elsewhere.
        """
        designs: list[Mechanism] = []
        for fine in _MESHES:
            designs.append(cls(epsilon, k, unbiased, fine).design())
            if designs[-1].certificate.ratio <= _AIM:
                break
        return min(designs, key=lambda design: design.certificate.ratio)

    @cached_property
    def radius(self) -> float:
        """Half a typical window, ρ: where ρ^k/(k + 1) and the error of an even background balance."""
        return float((0.7 * 2**-self.k * (self.k + 1) / (2 * self.k * self.e)) ** (1 / (self.k + 1)))

    @cached_property
    def scale(self) -> float:
        """The size of the answer."""
        return self.radius**self.k

    @cached_property
    def mesh(self) -> Mesh:
        """The points."""
        return Mesh(self.radius, self.unbiased, self.fine)

    def design(self) -> Mechanism:
        """Find the design of this mesh, with its certificate."""
        background, cuts, reach = self.best()
        proof = self.limited(cuts, reach)
        windows = float(background.edge[-1]) / background.length
        inside = min(_INSIDE, int(_KNOTS / windows)) if self.unbiased else _INSIDE
        design = equal_cells(
            self.epsilon,
            Interval(0, 1),
            positions=background.quantiles(inside),
            inside=inside,
            unbiased=self.unbiased,
            tolerance=_TOLERANCE * self.radius,
        )
        return replace(design, certificate=self.certified(design, proof))

    def best(self) -> tuple[Background, Cuts, Cuts]:
        """Find the best background, the cut that carries it at each input, and the cuts on its least mean."""
        mesh, hat = self.mesh, self.mesh.over_inputs
        even = np.where((mesh.y >= -self.radius) & (mesh.y <= 1 + self.radius), 1.0, 0.0)
        background = self._background(self._mass * even / even.sum())
        masses, least, weights = np.zeros(mesh.over_reports.shape[1]), -np.inf, np.zeros(0)
        rows, origin = (
            _Rows.none(len(masses)),
            np.zeros((2, 0), dtype=np.intp),
        )  # the round and the hat of a row
        rounds: list[Cuts] = []
        reach = Cuts.of(self.k, np.zeros(0), np.zeros(0))
        for number in range(_ROUNDS):
            cuts = self._tight(background)
            averages = _Rows(hat.T @ self._coefficients(cuts), hat.T @ cuts.kappa, np.ones(hat.shape[1]))
            errors, missing = averages.table @ masses + averages.constant, 0.0
            if self.unbiased:
                ends, short = cuts_at_ends(mesh.y, background.g, self.e)
                missing = float(short[0])
            if errors.max() <= least * (1 + _GAP) and missing <= REACH:
                break
            fresh = np.flatnonzero(errors > least * (1 + _GAP / 4))
            rows, origin = rows + averages[fresh], np.hstack((origin, [np.full(len(fresh), number), fresh]))
            rounds.append(cuts)
            if self.unbiased and (missing > REACH / 4 or not number):
                rows += _Rows(self._coefficients(ends[:1]), ends[:1].kappa, np.zeros(1))
                origin, reach = np.hstack((origin, [[number], [-1]])), reach + ends[:1]
            masses, least, weights = self._program(rows)
            close = (rows.table @ masses + rows.constant >= (1 - _CLOSE) * least) | (rows.a == 0)
            rows, origin, weights = rows[close], origin[:, close], weights[close]
            background = self._background(mesh.over_reports @ masses)
        shares, lossy = np.zeros((len(rounds), len(mesh.x))), rows.a > 0
        np.add.at(shares, origin[0, lossy], weights[lossy, None] * hat[:, origin[1, lossy]].T)
        return background, _mean_cuts(rounds, shares), reach

    def limited(self, cuts: Cuts, reach: Cuts) -> Proof:
        """Find the weights on hats of inputs with which these cuts prove most.

        Cuts that are a little too high prove nothing: reports that are everywhere at once would obey them.
        """
        hat, at = self.mesh.over_inputs, self.mesh.x[self.mesh.input_nodes]
        y = np.append(np.linspace(at[:-1], at[1:], 4).ravel(), (at[1:] + at[:-1]) / 2)
        if self.unbiased:
            outside = np.append(np.arange(1, 96) / 96, 1.2 ** np.arange(60))
            y = np.append(y, -self.radius * outside)
        y = np.unique(np.rint(y * 96 / self.radius)) * self.radius / 96
        a, columns = np.append(np.ones(hat.shape[1]), reach.a), self._at(cuts, reach, y)
        proofs: list[tuple[float, Cuts, FloatArray]] = []
        while len(proofs) < _LOWERINGS:
            constant = np.append(hat.T @ cuts.kappa, reach.kappa)
            masses, least, weights = self._program(_Rows(columns, constant, a), presolve=False)
            if least <= 0 or masses.sum() > _EVERYWHERE:
                cuts = cuts.lowered(_LESS * self.scale)
                columns = self._at(cuts, reach, y)
                continue
            lowest = np.argsort(weights @ columns)[: _KEPT * len(weights)]
            weights = np.append(hat @ weights[: hat.shape[1]], weights[hat.shape[1] :])
            heavy = weights > 0
            both, weights = (cuts + reach)[heavy], np.tile(weights[heavy], 2)
            both, weights = both + both.mirrored(), weights / float(weights @ np.tile(both.a, 2))
            low, r = lows(both, weights, upper_e(self.epsilon))
            proofs.append((float(weights @ both.kappa + r.min() / weights.sum()), both, weights))
            more = np.setdiff1d(_turns(low, r), y)
            if not len(more):
                break
            y, columns = np.append(y[lowest], more), columns[:, lowest]
            columns = np.hstack((columns, self._at(cuts, reach, more)))
        _, both, weights = max(proofs, key=itemgetter(0))
        return settle(both, weights, self.epsilon)

    @property
    def _mass(self) -> float:
        """A typical mass of the background."""
        return 1 / (2 * self.e * self.radius)

    def _background(self, g: FloatArray) -> Background:
        return Background(self.e, self.mesh.y, g, self.mesh.width)

    def _tight(self, background: Background) -> Cuts:
        """The cut at each input that the window of a background there gives."""
        x, edge, length = self.mesh.x, background.edge, background.length
        level = np.unique(np.clip(np.append(edge, edge - length), 0.0, max(edge[-1] - length, 0.0)))
        if self.unbiased:
            sums = np.append(0.0, np.cumsum((self.e - 1) * background.g * background.y))
            inside = np.interp(level + length, edge, sums) - np.interp(level, edge, sums)
            start = np.interp(x, background.g @ background.y + inside, level)
        else:
            pieces: tuple[tuple[FloatArray, Side], ...] = ((level[:-1], "right"), (level[1:], "left"))
            centres = [(background.at(u, side) + background.at(u + length, side)) / 2 for u, side in pieces]
            start = np.interp(x, np.stack(centres, 1).ravel(), np.stack((level[:-1], level[1:]), 1).ravel())
        # A little inside: the end of a window between two reports may be rounded to either.
        a, b = background.at(start + 1e-9, "right"), background.at(start + length - 1e-9, "right")
        if self.unbiased:
            return tangents(x, a, b)
        return Cuts.of(self.k, x, np.maximum(np.abs(x - a), np.abs(x - b)) ** self.k)

    def _coefficients(self, cuts: Cuts) -> FloatArray:
        """What a unit of each hat of reports contributes to each cut."""
        (left, right), (low, high) = sides(cuts), between(cuts)
        first, last = np.searchsorted(self.mesh.y, low), np.searchsorted(self.mesh.y, high)
        turn = np.clip(np.searchsorted(self.mesh.y, cuts.x), first, last)
        sums, more = self.mesh.moments, self.e - 1
        below = sums[turn] + more * (sums[turn] - sums[first])
        above = sums[-1] - sums[turn] + more * (sums[last] - sums[turn])
        return np.asarray(np.einsum("ip,ipj->ij", left, below) + np.einsum("ip,ipj->ij", right, above))

    def _at(self, cuts: Cuts, reach: Cuts, y: FloatArray) -> FloatArray:
        """What a pair of mirrored reports contributes to each hat of inputs, and to the cuts on the mean."""
        pairs = [part.coefficients(y, self.e) + part.coefficients(1 - y, self.e) for part in (cuts, reach)]
        return np.vstack((self.mesh.over_inputs.T @ pairs[0], pairs[1])) / 2

    def _program(self, rows: _Rows, *, presolve: bool = True) -> tuple[FloatArray, float, FloatArray]:
        """The masses, between 1/E and 1 together, of least t; that t; and the multipliers of the rows."""
        unit, unknowns = np.where(rows.a > 0, self.scale, 1.0), rows.table.shape[1]
        matrix = np.zeros((len(unit) + 2, unknowns + 1))
        matrix[:-2] = np.column_stack((rows.table * (self._mass / unit[:, None]), -rows.a))
        matrix[-2, :-1], matrix[-1, :-1] = self._mass, -self.e * self._mass
        most = np.append(-rows.constant / unit, [1.0, -1.0])
        x, weights = linear_program(np.append(np.zeros(unknowns), 1.0), matrix, most, presolve=presolve)
        return x[:-1] * self._mass, float(x[-1] * self.scale), weights[:-2] * self.scale / unit


def _mean_cuts(rounds: list[Cuts], shares: FloatArray) -> Cuts:
    """One cut for each input: the weighted mean of those of the rounds, or what its neighbours have."""
    total, x = shares.sum(axis=0), rounds[0].x
    heavy = total > 0
    b, kappa = (
        np.interp(x, x[heavy], (shares * values).sum(axis=0)[heavy] / total[heavy])
        for values in ([cuts.b for cuts in rounds], [cuts.kappa for cuts in rounds])
    )
    return Cuts.of(rounds[0].k, x, kappa, b=b)


def _turns(y: FloatArray, r: FloatArray) -> FloatArray:
    """The reports of the lower half at which the weighted sum of cuts has its lowest minima."""
    y, r = y[y <= 0.5], r[y <= 0.5]
    turn = np.append(True, r[1:] <= r[:-1]) & np.append(r[:-1] <= r[1:], True) & (r < 0.05 * r.min())
    return np.asarray(y[turn][np.argsort(r[turn])][:_LOW])
