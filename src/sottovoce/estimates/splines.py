"""The distribution as a smooth log density, its smoothness chosen by the evidence in the reports.

    f = softmax(Bθ),     maximise  Σ_j c_j log (Pᵀf)_j − ½ θᵀSθ,     S = λ₁D₁ᵀD₁ + λ_kD_kᵀD_k

B holds cubic B-splines on a fine grid (periodic on a circle), D_k takes k-th differences, c are the counts of
reports and P the law of the mechanism. Given λ, θ comes from Fisher scoring; λ from Fellner–Schall steps,
which climb the marginal likelihood

    evidence = ℓ − ½θᵀSθ + ½ log|S| − ½ log|H + S|      (Laplace's approximation, H the Fisher information).

There is more than one local maximum and more than one sensible k, so a few starts are fitted and their
densities averaged by evidence. What no smooth density explains (a spike) is added as single points of the
grid while that raises the evidence by more than the log of the number of places it could have been put.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.core.kernels.operator import Operator
from sottovoce.core.kernels.tables import FloatArray
from sottovoce.estimates.model import Table

SPLINES = 64
#: n·ε² from which splines beat EMS (benchmarks/reconstruction.py).
ENOUGH = 2500.0
#: Where the search for smoothing starts: (k, λ₁, λ_k).
STARTS = ((2, 1e-2, 1e-2), (2, 1e-1, 1e2), (3, 1e-2, 1e-1), (3, 1e-1, 1e3))
#: A smoothing that leaves narrow peaks to atoms: where the search with atoms starts.
STIFF = (0.1, 100.0)
MOST_ATOMS = 6
_ATOM_PRECISION = 1 / 9.0  # the log height of an atom over its surroundings has standard deviation 3
_MOST_STEP = 2.0  # how far one scoring step may move the log density
_LAMBDA = (1e-7, 1e9)
_GAIN = 1e-3  # in penalised log likelihood: steps that gain less end the climb
_ROUNDS = 400


@dataclass(frozen=True, eq=False)
class SplineFit:
    """A density on the grid, the coefficients behind it and the evidence for it."""

    density: FloatArray
    evidence: float
    order: int
    smoothing: tuple[float, float]
    atoms: tuple[int, ...]
    theta: FloatArray


@dataclass(frozen=True, eq=False)
class Splines:
    """Reports and their law on a grid of inputs, ready to be fitted."""

    counts: FloatArray
    law: Operator | Table
    circle: bool

    @cached_property
    def n(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def points(self) -> int:
        return self.law.shape[0]

    @cached_property
    def _free(self) -> FloatArray:
        """A constant added to θ changes nothing: an orthonormal basis of what is left."""
        return np.linalg.qr(np.column_stack([np.ones(SPLINES), np.eye(SPLINES)[:, 1:]]))[0][:, 1:]

    @cached_property
    def _smooth(self) -> FloatArray:
        return basis(self.points, circle=self.circle) @ self._free

    def _penalty(self, order: int) -> FloatArray:
        d = differences(SPLINES, order, circle=self.circle) @ self._free
        return np.asarray(d.T @ d)

    def _design(self, atoms: Sequence[int]) -> FloatArray:
        spikes = np.zeros((self.points, len(atoms)))
        spikes[list(atoms), np.arange(len(atoms))] = 1.0
        return np.hstack([self._smooth, spikes])

    # -- fitting ----------------------------------------------------------------------------------------

    def fit(self, starts: Sequence[tuple[int, float, float]] = STARTS) -> list[SplineFit]:
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

    def search(
        self,
        order: int,
        smoothing: tuple[float, float],
        atoms: tuple[int, ...] = (),
        start: FloatArray | None = None,
    ) -> SplineFit:
        """Coefficients and smoothing that climb the evidence together, from the given smoothing."""
        design, penalties = self._design(atoms), (self._penalty(1), self._penalty(order))
        theta = np.zeros(design.shape[1])
        if start is not None:
            theta[: len(start)] = start
        state, lambdas = self._at(design, theta), np.array(smoothing)
        before, smooth = -np.inf, SPLINES - 1
        for turn in range(_ROUNDS):
            s = self._penalties(lambdas, penalties, len(atoms))
            state, gain = self._climb(state, s, most=1)
            theta, a = state.theta, state.information + s
            logs = np.linalg.slogdet(s)[1] - np.linalg.slogdet(a)[1]
            evidence = state.penalised(s) + logs / 2 - len(atoms) * np.log(self.points)
            if turn > 2 and gain < _GAIN and abs(evidence - before) < 1e-2:
                break
            before = evidence
            inverse_a = np.linalg.inv(a)[:smooth, :smooth]
            inverse_s = np.linalg.inv(s[:smooth, :smooth])
            for i, penalty in enumerate(penalties):
                up = float(((inverse_s - inverse_a) * penalty).sum())
                ratio = max(up, 1e-12) / max(float(theta[:smooth] @ penalty @ theta[:smooth]), 1e-12)
                lambdas[i] = np.clip(lambdas[i] * np.clip(ratio, 0.1, 10.0), *_LAMBDA)
        return SplineFit(
            state.f, float(evidence), order, (float(lambdas[0]), float(lambdas[1])), atoms, theta
        )

    def refit(self, fit: SplineFit) -> FloatArray:
        """The density for these counts with the smoothing and atoms of another fit (for a bootstrap)."""
        penalties = (self._penalty(1), self._penalty(fit.order))
        s = self._penalties(np.array(fit.smoothing), penalties, len(fit.atoms))
        return self._climb(self._at(self._design(fit.atoms), fit.theta), s, most=20)[0].f

    def response(self, fit: SplineFit, noise: FloatArray) -> FloatArray:
        """How a fit's density would move if its counts did so, to first order: a column for each of noise."""
        state = self._at(self._design(fit.atoms), fit.theta)
        penalties = (self._penalty(1), self._penalty(fit.order))
        a = state.information + self._penalties(np.array(fit.smoothing), penalties, len(fit.atoms))
        theta = np.linalg.solve(a, state._moved.T @ (noise / state.q[:, None]))
        return np.asarray(state.f[:, None] * ((state.design - state.f @ state.design) @ theta))

    def _penalties(
        self, smoothing: FloatArray, penalties: tuple[FloatArray, FloatArray], atoms: int
    ) -> FloatArray:
        """S, with a prior of its own for each atom's log height."""
        s = _ATOM_PRECISION * np.eye(SPLINES - 1 + atoms)
        s[: SPLINES - 1, : SPLINES - 1] = smoothing[0] * penalties[0] + smoothing[1] * penalties[1]
        return s

    def _climb(self, state: _State, s: FloatArray, most: int) -> tuple[_State, float]:
        """Fisher scoring, steps capped and halved until the penalised likelihood does not fall.

        Returns where it ended and what the last step gained; S may change between climbs.
        """
        gain = 0.0
        for _ in range(most):
            theta, before = state.theta, state.penalised(s)
            step = np.linalg.solve(state.information + s, state.score - s @ theta)
            step *= min(1.0, 2 * _MOST_STEP / max(float(np.ptp(state.design @ step)), 1e-300))
            gain = 0.0
            for _ in range(12):
                trial = self._at(state.design, theta + step)
                if trial.penalised(s) >= before - 1e-9:
                    gain, state = trial.penalised(s) - before, trial
                    break
                step = step / 2
            if gain < _GAIN:
                break
        return state, gain

    def _at(self, design: FloatArray, theta: FloatArray) -> _State:
        eta = design @ theta
        f = np.exp(eta - eta.max())
        f /= f.sum()
        q = self.law.mix(f)
        return _State(self, design, theta, f, q, float(self.counts @ np.log(q)))

    def _likely_places(self, fit: SplineFit) -> set[int]:
        """Where an atom may be: the highest point, and where mass is most lambdas by a stiffer fit."""
        design = self._design(fit.atoms)
        s = self._penalties(np.array(STIFF), (self._penalty(1), self._penalty(2)), len(fit.atoms))
        stiff = self._climb(self._at(design, fit.theta), s, most=20)[0].f
        slope = self.law.expect(self.counts / self.law.mix(stiff))
        height = fit.density.copy()
        for known in (slope, height):
            known[list(fit.atoms)] = 0.0
        return {int(np.argmax(slope)), int(np.argmax(height))}


@dataclass(frozen=True, eq=False)
class _State:
    """Coefficients with all that follows from them; the information is computed when asked for, once."""

    model: Splines
    design: FloatArray
    theta: FloatArray
    f: FloatArray
    q: FloatArray
    likelihood: float

    def penalised(self, s: FloatArray) -> float:
        return self.likelihood - float(self.theta @ s @ self.theta) / 2

    @cached_property
    def _moved(self) -> FloatArray:
        """G = Pᵀ(f ∘ (design − its mean)): how the probabilities of the groups move with θ."""
        return self.model.law.mix(self.f[:, None] * (self.design - self.f @ self.design))

    @cached_property
    def score(self) -> FloatArray:
        return np.asarray(self._moved.T @ (self.model.counts / self.q))

    @cached_property
    def information(self) -> FloatArray:
        """Fisher's: H = n·Gᵀ diag(1/q) G."""
        return np.asarray(self.model.n * (self._moved / self.q[:, None]).T @ self._moved)


def average(fits: Sequence[SplineFit]) -> FloatArray:
    """The mean of the fitted densities, each weighted by its evidence."""
    weight = shares(fits)
    return np.asarray(weight @ np.array([fit.density for fit in fits]))


def shares(fits: Sequence[SplineFit]) -> FloatArray:
    """The weight of each fit: e to the evidence, over the sum."""
    evidence = np.array([fit.evidence for fit in fits])
    weight = np.exp(evidence - evidence.max())
    return np.asarray(weight / weight.sum())


def basis(points: int, *, circle: bool, splines: int = SPLINES) -> FloatArray:
    """Cubic B-splines on equally spaced knots, at the middles of `points` equal cells of [0, 1]."""
    from scipy.interpolate import BSpline

    spans = splines if circle else splines - 3
    knots = np.arange(-3, spans + 4) / spans
    matrix = BSpline.design_matrix((np.arange(points) + 0.5) / points, knots, 3).toarray()
    if circle:  # the last three are the first three, once around
        matrix[:, :3] += matrix[:, splines:]
    return np.asarray(matrix[:, :splines])


def differences(count: int, order: int, *, circle: bool) -> FloatArray:
    """The matrix of `order`-th differences of `count` numbers, around the circle where there is one."""
    d = np.eye(count)
    for _ in range(order):
        d = np.roll(d, -1, axis=0) - d if circle else np.diff(d, axis=0)
    return d
