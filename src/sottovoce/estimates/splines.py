"""The distribution as a smooth log density, its smoothness chosen by the evidence in the reports.

    f = softmax(Bθ),     maximise  Σ_j c_j log (Pᵀf)_j − ½ θᵀSθ,     S = λ₁D₁ᵀD₁ + λ_kD_kᵀD_k

B holds cubic B-splines on a fine grid (periodic on a circle), D_k takes k-th differences, c are the counts of
reports and P the law of the mechanism. Given λ, θ comes from Fisher scoring; λ from Fellner–Schall steps, which
climb the marginal likelihood

    evidence = ℓ − ½θᵀSθ + ½ log|S| − ½ log|H + S|      (Laplace's approximation, H the Fisher information).

There is more than one local maximum and more than one sensible k, so a few starts are fitted and their densities
averaged by evidence. What no smooth density explains (a spike) is added as single grid cells while that raises
the evidence by more than the log of the number of places it could have been put.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sottovoce.kernels.tables import FloatArray

SPLINES = 64
_STARTS = ((2, 1e-2, 1e-2), (2, 1e-1, 1e2), (3, 1e-2, 1e-1), (3, 1e-1, 1e3))  # k, λ₁, λ_k
_MOST_ATOMS = 6
_ATOM_PRECISION = 1 / 9.0  # log height of an atom over its surroundings: sd 3
_MOST_STEP = 2.0  # of the log density at any point, in one scoring step
_LAMBDA = (1e-7, 1e9)


class Operator(Protocol):
    @property
    def shape(self) -> tuple[int, int]: ...

    def mix(self, w: FloatArray) -> FloatArray: ...

    def expect(self, f: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class Fit:
    """A fitted density, its evidence and the smoothing that it chose."""

    density: FloatArray
    evidence: float
    order: int
    smoothing: tuple[float, float]
    atoms: tuple[int, ...]
    theta: FloatArray


def basis(points: int, *, circle: bool, splines: int = SPLINES) -> FloatArray:
    """Cubic B-splines on equally spaced knots at the middles of `points` cells of [0, 1]."""
    spans = splines if circle else splines - 3
    u = (np.arange(points) + 0.5) / points * spans
    cell = np.minimum(u.astype(np.int64), spans - 1)
    r = u - cell
    pieces = [(1 - r) ** 3, 3 * r**3 - 6 * r**2 + 4, -3 * r**3 + 3 * r**2 + 3 * r + 1, r**3]
    out = np.zeros((points, splines))
    for shift, piece in enumerate(pieces):
        out[np.arange(points), (cell + shift) % splines] += piece / 6
    return out


def differences(splines: int, order: int, *, circle: bool) -> FloatArray:
    """The matrix of k-th differences of coefficients, around the circle where there is one."""
    eye = np.eye(splines)
    for _ in range(order):
        eye = np.roll(eye, -1, axis=0) - eye if circle else np.diff(eye, axis=0)
    return eye


class Problem:
    """Counts of reports and the law they came from, on a grid of inputs."""

    def __init__(self, counts: FloatArray, operator: Operator, *, circle: bool) -> None:
        self.counts = np.asarray(counts, dtype=np.float64)
        self.operator, self.circle = operator, circle
        self.n = float(self.counts.sum())
        self.points = operator.shape[0]
        # A constant does not change the density: coefficients live in the complement of the ones.
        self.free = np.linalg.qr(np.column_stack([np.ones(SPLINES), np.eye(SPLINES)[:, 1:]]))[0][:, 1:]
        self.design = basis(self.points, circle=circle) @ self.free
        self.penalties = {
            k: self.free.T @ (d := differences(SPLINES, k, circle=circle)).T @ d @ self.free for k in (1, 2, 3)
        }

    def likelihood(self, f: FloatArray) -> tuple[float, FloatArray]:
        q = np.maximum(self.operator.mix(f), 1e-300)
        return float(self.counts @ np.log(q)), q

    def information(self, f: FloatArray, q: FloatArray, design: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The score and the Fisher information of the coefficients of `design` in the log density."""
        tilted = f[:, None] * (design - f @ design)
        moved = np.stack([self.operator.mix(column) for column in tilted.T], axis=1)
        return moved.T @ (self.counts / q), self.n * (moved / q[:, None]).T @ moved

    def fit(self, order: int, smoothing: tuple[float, float], atoms: tuple[int, ...] = (), start: Any = None) -> Fit:
        """Penalised likelihood with λ chosen by Fellner–Schall steps from the given ones."""
        smooth = self.design.shape[1]
        design = self.design
        if atoms:
            spikes = np.zeros((self.points, len(atoms)))
            spikes[list(atoms), np.arange(len(atoms))] = 1.0
            design = np.hstack([design, spikes])
        theta = np.zeros(design.shape[1])
        if start is not None:
            theta[: len(start)] = start
        first, second = self.penalties[1], self.penalties[order]
        log_s = 0.0
        lam = np.array(smoothing, dtype=np.float64)
        evidence_before = -np.inf
        for round_ in range(200):
            s = np.zeros((len(theta), len(theta)))
            s[:smooth, :smooth] = lam[0] * first + lam[1] * second
            s[smooth:, smooth:] = _ATOM_PRECISION * np.eye(len(atoms))
            theta, f, value, information, gain = self._climb(design, theta, s, 3)
            a = information + s
            factor = np.linalg.cholesky(a)
            log_s = np.linalg.slogdet(s)[1]
            evidence = value + 0.5 * log_s - float(np.log(np.diag(factor)).sum())
            if gain < 1e-3 and abs(evidence - evidence_before) < 1e-2 and round_ > 2:
                break
            evidence_before = evidence
            inverse_a = np.linalg.inv(a)[:smooth, :smooth]
            inverse_s = np.linalg.inv(s[:smooth, :smooth])
            b = theta[:smooth]
            for i, penalty in enumerate((first, second)):
                up = float((inverse_s * penalty).sum() - (inverse_a * penalty).sum())
                ratio = max(up, 1e-12) / max(float(b @ penalty @ b), 1e-12)
                lam[i] = np.clip(lam[i] * np.clip(ratio, 0.1, 10.0), *_LAMBDA)
        return Fit(f, evidence, order, (float(lam[0]), float(lam[1])), atoms, theta)

    def _climb(self, design: FloatArray, theta: FloatArray, s: FloatArray, most: int):
        """Fisher scoring steps, capped and halved until the penalised likelihood does not fall."""
        f = _softmax(design @ theta)
        value, q = self.likelihood(f)
        value -= 0.5 * float(theta @ s @ theta)
        gain = 0.0
        for _ in range(most):
            score, information = self.information(f, q, design)
            step = np.linalg.solve(information + s, score - s @ theta)
            change = design @ step
            step *= min(1.0, _MOST_STEP / max(float(np.ptp(change)) / 2, 1e-300))
            gain = 0.0
            for _ in range(12):
                trial = theta + step
                f_trial = _softmax(design @ trial)
                v, q_trial = self.likelihood(f_trial)
                v -= 0.5 * float(trial @ s @ trial)
                if v >= value - 1e-9:
                    gain = v - value
                    theta, f, q, value = trial, f_trial, q_trial, v
                    break
                step /= 2
            if gain < 1e-3:
                break
        _, information = self.information(f, q, design)
        return theta, f, value, information, gain


def _softmax(eta: FloatArray) -> FloatArray:
    f = np.exp(eta - eta.max())
    return np.asarray(f / f.sum())


def fit(counts: FloatArray, operator: Operator, *, circle: bool, starts=_STARTS, atoms: bool = True) -> tuple[FloatArray, list[Fit]]:
    problem = Problem(counts, operator, circle=circle)
    fits = [problem.fit(k, (l1, lk)) for k, l1, lk in starts]
    if atoms:
        best = max(fits, key=lambda found: found.evidence)
        grown = best
        for _ in range(_MOST_ATOMS):
            place = _place(problem, grown)
            if place in grown.atoms:
                break
            trial = problem.fit(grown.order, grown.smoothing, (*grown.atoms, place), grown.theta)
            if trial.evidence - np.log(problem.points) * len(trial.atoms) <= grown.evidence - np.log(problem.points) * len(grown.atoms):
                break
            grown = trial
        if grown.atoms:
            fits.append(grown)
    total = np.array([f.evidence - np.log(problem.points) * len(f.atoms) for f in fits])
    weight = np.exp(total - total.max())
    weight /= weight.sum()
    return np.asarray(weight @ np.array([found.density for found in fits])), fits


def _place(problem: Problem, found: Fit) -> int:
    """Where one more point of mass would raise the likelihood fastest, in units of its own noise."""
    _, q = problem.likelihood(found.density)
    slope = problem.operator.expect(problem.counts / q) - problem.n
    return int(np.argmax(slope))
