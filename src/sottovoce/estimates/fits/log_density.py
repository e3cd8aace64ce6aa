"""A log density that is linear in coefficients, fitted to reports with as much smoothing as they call for.

    f = softmax(o + Bθ),     maximise  Σ_j c_j log (Pᵀf)_j − ½ θᵀSθ,     S = λ₁S₁ + λ_kS_k

The columns of B are smooth functions on a grid, o an offset (of the areas of a map), c the counts and P the
law of reports. Given λ, θ comes from Fisher scoring; λ from Fellner–Schall steps, which climb the likelihood

    evidence = ℓ − ½θᵀSθ + ½ log|S| − ½ log|H + S|      (Laplace's approximation, H the Fisher information).

On a line or a circle (`Splines`) B holds cubic B-splines, S_k = D_kᵀD_k, and D_k takes k-th differences.
There is more than one local maximum and more than one sensible k, so a few starts are fitted and averaged by
evidence. What no smooth density explains (a spike) is added as single points of the grid while that raises
the evidence by more than the log of the number of places it could have been put.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import FloatArray
from sottovoce.estimates.fits.binned_cells import Products

_ATOM_PRECISION = 1 / 9.0  # the log height of an atom over its surroundings has standard deviation 3
MOST_STEP = 2.0  # how far one scoring step may move the log density
_LAMBDA = (1e-7, 1e9)
_GAIN = 1e-3  # in penalised log likelihood: a step that gains less ends a climb
_ROUNDS = 400
SPLINES = 64
STARTS = ((2, 1e-2, 1e-2), (2, 1e-1, 1e2), (3, 1e-2, 1e-1), (3, 1e-1, 1e3))  # (k, λ₁, λ_k)
STIFF = (0.1, 100.0)  # leaves narrow peaks to atoms: where the search with atoms starts
MOST_ATOMS = 6


class Law(Products, Protocol):
    """P(bin | input): products with it and with its transpose, of columns too."""

    @property
    def shape(self) -> tuple[int, int]:
        """(inputs, bins)."""


@dataclass(frozen=True, eq=False)
class DensityFit:
    """A density on the grid, with the coefficients behind it, and the evidence for it."""

    state: State
    evidence: float
    order: int
    smoothing: tuple[float, float]
    atoms: tuple[int, ...]

    @property
    def density(self) -> FloatArray:
        return self.state.f


def spectrum(one: FloatArray, other: FloatArray) -> tuple[FloatArray, float]:
    """Two penalties in a basis in which both are diagonal, and log|one + other| in the other basis."""
    root = np.linalg.cholesky(one + other)
    inverse = np.linalg.inv(root)
    turn = np.linalg.eigh(inverse @ one @ inverse.T)[1].T @ inverse
    values = np.array([((turn @ penalty) * turn).sum(axis=1) for penalty in (one, other)])
    return values, 2 * float(np.log(np.diag(root)).sum())


def inverted(a: FloatArray) -> tuple[FloatArray, float]:
    """The inverse of a positive definite matrix, and the logarithm of its determinant."""
    from scipy.linalg.lapack import dpotrf, dpotri

    root = dpotrf(a.T, lower=1)[0]
    lower = dpotri(root, lower=1)[0]  # with zeros above
    return lower + lower.T - np.diag(lower.diagonal()), 2 * float(np.log(root.diagonal()).sum())


@dataclass(frozen=True, eq=False)
class LogDensity(ABC):
    """Reports and their law on a grid of inputs, ready to be fitted."""

    counts: FloatArray
    law: Law

    @cached_property
    def n(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def points(self) -> int:
        return self.law.shape[0]

    @property
    @abstractmethod
    def _smooth(self) -> FloatArray:
        """B: a row per input, a column per coefficient; no column is constant."""

    @abstractmethod
    def _penalty(self, order: int) -> FloatArray:
        """S_k: how rough the log density is, by differences or derivatives of an order."""

    def _spectrum(self, order: int) -> tuple[FloatArray, float]:
        """What determinants and traces of S follow from."""
        return spectrum(self._penalty(1), self._penalty(order))

    @property
    def offset(self) -> FloatArray | float:
        """o: where the log density is without any coefficient."""
        return 0.0

    def _design(self, atoms: Sequence[int]) -> FloatArray:
        spikes = np.zeros((self.points, len(atoms)))
        spikes[list(atoms), np.arange(len(atoms))] = 1.0
        return np.hstack([self._smooth, spikes])

    def search(
        self, order: int, smoothing: tuple[float, float], atoms: tuple[int, ...] = (), *, move: bool = True
    ) -> DensityFit:
        """Coefficients and smoothing that climb the evidence together, from the given smoothing or at it."""
        design, penalties = self._design(atoms), (self._penalty(1), self._penalty(order))
        state, lambdas = self._at(design, np.zeros(design.shape[1])), np.array(smoothing)
        before, smooth, (values, constant) = -np.inf, self._smooth.shape[1], self._spectrum(order)
        constant += len(atoms) * np.log(_ATOM_PRECISION)
        for turn in range(_ROUNDS):
            s = self._penalties(lambdas, order, len(atoms))
            state, gain = self._climb(state, s, most=1)
            inverse, logarithm = inverted(state.information + s)
            spectrum, theta = lambdas @ values, state.theta[:smooth]
            logs = constant + float(np.log(spectrum).sum()) - logarithm
            evidence = state.penalised(s) + logs / 2 - len(atoms) * np.log(self.points)
            if turn > 2 and gain < _GAIN and abs(evidence - before) < 1e-2:
                break
            before = evidence
            for i, penalty in enumerate(penalties if move else ()):
                up = float((values[i] / spectrum).sum() - (inverse[:smooth, :smooth] * penalty).sum())
                ratio = max(up, 1e-12) / max(float(theta @ penalty @ theta), 1e-12)
                lambdas[i] = np.clip(lambdas[i] * np.clip(ratio, 0.1, 10.0), *_LAMBDA)
        return DensityFit(state, float(evidence), order, (float(lambdas[0]), float(lambdas[1])), atoms)

    def smoothing(self, fit: DensityFit) -> FloatArray:
        """The S of a fit."""
        return self._penalties(fit.smoothing, fit.order, len(fit.atoms))

    def _penalties(self, smoothing: ArrayLike, order: int, atoms: int) -> FloatArray:
        """S, with a prior of its own for each atom's log height."""
        smooth, (first, second) = self._smooth.shape[1], np.asarray(smoothing)
        s = _ATOM_PRECISION * np.eye(smooth + atoms)
        s[:smooth, :smooth] = first * self._penalty(1) + second * self._penalty(order)
        return s

    def _climb(self, state: State, s: FloatArray, most: int) -> tuple[State, float]:
        """Fisher scoring: where it ended and what the last step gained. S may change between climbs."""
        gain = 0.0
        for _ in range(most):
            theta, before = state.theta, state.penalised(s)
            step = np.linalg.solve(state.information + s, state.score - s @ theta)
            step *= min(1.0, 2 * MOST_STEP / max(float(np.ptp(state.design @ step)), 1e-300))
            gain = 0.0
            for _ in range(12):  # halved until the penalised likelihood does not fall
                trial = self._at(state.design, theta + step)
                if trial.penalised(s) >= before - 1e-9:
                    gain, state = trial.penalised(s) - before, trial
                    break
                step = step / 2
            if gain < _GAIN:
                break
        return state, gain

    def _at(self, design: FloatArray, theta: FloatArray) -> State:
        eta = self.offset + design @ theta
        f = np.exp(eta - eta.max())
        f /= f.sum()
        q = self.law.mix(f)
        return State(self, design, theta, f, q, float(self.counts @ np.log(q)))


@dataclass(frozen=True, eq=False)
class State:
    """Coefficients with all that follows from them; the information is computed when asked for, once."""

    model: LogDensity
    design: FloatArray
    theta: FloatArray
    f: FloatArray
    q: FloatArray
    likelihood: float

    def penalised(self, s: FloatArray) -> float:
        return self.likelihood - float(self.theta @ s @ self.theta) / 2

    @cached_property
    def moved(self) -> FloatArray:
        """G = Pᵀ(f ∘ (design − its mean)): how the probabilities of the bins move with θ."""
        return self.model.law.mix(self.f[:, None] * (self.design - self.f @ self.design))

    @cached_property
    def score(self) -> FloatArray:
        expected = self.model.law.expect(self.model.counts / self.q)
        return np.asarray((self.f * (expected - self.f @ expected)) @ self.design)

    @cached_property
    def information(self) -> FloatArray:
        """Fisher's: H = n·Gᵀ diag(1/q) G."""
        root = self.moved * np.sqrt(self.model.n / self.q)[:, None]
        return np.asarray(root.T @ root)


def average(fits: Sequence[DensityFit]) -> FloatArray:
    """The mean of the fitted densities, each weighted by its evidence."""
    return np.asarray(shares(fits) @ np.array([fit.density for fit in fits]))


def shares(fits: Sequence[DensityFit]) -> FloatArray:
    """The weight of each fit: e to the evidence, over the sum."""
    best = max(fit.evidence for fit in fits)
    weight = np.exp([fit.evidence - best for fit in fits])
    return np.asarray(weight / weight.sum())


@dataclass(frozen=True, eq=False)
class Splines(LogDensity):
    """Cubic B-splines, on a line or around a circle."""

    circle: bool

    @property
    def _smooth(self) -> FloatArray:
        return _smooth(self.points, self.circle)

    def _penalty(self, order: int) -> FloatArray:
        return _penalty(order, self.circle)

    def _spectrum(self, order: int) -> tuple[FloatArray, float]:
        return _spectrum(order, self.circle)

    def fit(self, starts: Sequence[tuple[int, float, float]] = STARTS) -> list[DensityFit]:
        """A fit from every start, and the best of them with atoms if the reports ask for any."""
        fits = [self.search(order, (first, second)) for order, first, second in starts]
        best = max(fits, key=lambda fit: fit.evidence)
        while len(best.atoms) < MOST_ATOMS:
            trials = [self.search(2, STIFF, (*best.atoms, place)) for place in self._likely_places(best)]
            trial = max(trials, key=lambda fit: fit.evidence)
            if trial.evidence <= best.evidence:
                break
            best = trial
        return [*fits, best] if best.atoms else fits

    def _likely_places(self, fit: DensityFit) -> set[int]:
        """Where an atom may be: the highest point, and where a stiffer fit lacks most mass."""
        stiff = self._climb(fit.state, self._penalties(STIFF, 2, len(fit.atoms)), most=20)[0].f
        slope = self.law.expect(self.counts / self.law.mix(stiff))
        height = fit.density.copy()
        for known in (slope, height):
            known[list(fit.atoms)] = 0.0
        return {int(np.argmax(slope)), int(np.argmax(height))}


@cache
def _free() -> FloatArray:
    """A constant added to θ changes nothing: an orthonormal basis of what is left."""
    return np.linalg.qr(np.column_stack([np.ones(SPLINES), np.eye(SPLINES)[:, 1:]]))[0][:, 1:]


@lru_cache(maxsize=8)
def _smooth(points: int, circle: bool) -> FloatArray:
    return basis(points, circle=circle) @ _free()


@cache
def _penalty(order: int, circle: bool) -> FloatArray:
    d = differences(SPLINES, order, circle=circle) @ _free()
    return np.asarray(d.T @ d)


@cache
def _spectrum(order: int, circle: bool) -> tuple[FloatArray, float]:
    return spectrum(_penalty(1, circle), _penalty(order, circle))


def basis(points: int, *, circle: bool, splines: int = SPLINES) -> FloatArray:
    """Cubic B-splines on equally spaced knots, at the middles of `points` equal cells of [0, 1]."""
    span, u = np.divmod((np.arange(points) + 0.5) / points * (splines if circle else splines - 3), 1.0)
    pieces = np.array([(1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, 1 + 3 * u * (1 + u - u**2), u**3]) / 6
    matrix = np.zeros((points, splines))
    for k, piece in enumerate(pieces):  # around a circle the first follow the last
        matrix[np.arange(points), (span.astype(np.int64) + k) % splines] = piece
    return matrix


def differences(count: int, order: int, *, circle: bool) -> FloatArray:
    """The matrix of `order`-th differences of `count` numbers, around the circle where there is one."""
    d = np.eye(count)
    for _ in range(order):
        d = np.roll(d, -1, axis=0) - d if circle else np.diff(d, axis=0)
    return d
