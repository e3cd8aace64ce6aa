"""How well n people hide the difference of two inputs: a hockey-stick divergence, with both bounds.

For a contrast with likelihoods ξ, η over a reference (`input_pair.py`) and L = ξ − e^ε·η this is

    δ(ε) = E[(L₁ + … + L_n)₊] / n,   L = 0 for a report that says nothing.

The law of the sum is kept on a lattice and doubled: 1, 2, 4 … n people. A value between two points of the
lattice is divided among both so that its mean stays, and the lattice is made coarser as the sum gets wider.
Both only spread the sum out, S' = S + R with E[R | S] = 0, so E[S'₊] ≥ E[S₊]: an upper bound. R is a sum of
centred two-point variables, hence sub-Gaussian with a known v: E e^{νR} ≤ e^{ν²v/2}. With ν = 1/√v and
d(s) = E(s + R)₊ − s₊ = (E|s + R| − |s|)/2,

    d ≤ √(v/e)·e^{−ν|s|},   d ≤ √v/2,   E e^{−ν|s+R|} ≥ e^{−ν(|s| + 2d)}
    ⟹   E[(s + R)₊ − √(e·v)·e^{−ν|s+R|}] ≤ s₊,

so the same law gives a lower bound too. All masses are stored times e^{λs}, with λ such that the sum is
centred at 0, where it counts: an error of 10⁻¹³ of the stored mass is then an error of about that part of δ,
however small δ is. `error_bound` is one of the ℓ₁ distance of the stored mass from the one meant: roundings,
the error of the FFT (Higham, Accuracy and Stability of Numerical Algorithms, Theorem 24.2, with more than
twice its constant) and tails that were cut off. It costs at most error_bound·max s₊e^{−λs}.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.shuffling.input_pair import Contrast

UNIT = 2.0**-53
_SPARSE = 1 << 19  # products of so many pairs are added up one by one,
_FEW = 64  # and so many for each of the sums
_FINE = 256  # points of the lattice per standard deviation, at least
_STEEP = 12.0  # and so many per 1/λ: what is spread out must not be seen through e^{−λs}
_MOST_POINTS = 1 << 16  # of one person's law
_ROUNDING = 2.0**-41  # of one person's stored mass, all kinds together: probabilities, tilt, division
_CUT = 1e-11  # stored mass that may be cut off at each end, in the whole
_STEEPEST = 600.0  # λ times the largest loss: e^600 is still a double


class Bounds(NamedTuple):
    """A number, known to lie between two."""

    lower: float
    upper: float


def divergence(contrast: Contrast, people: int, epsilon: float) -> Bounds:
    """The hockey-stick divergence δ(ε) of a contrast hidden among people.

    Args:
        contrast: The two inputs and the reference, which is the law of each person.
        people: How many, the one in question included.
        epsilon: Where the divergence is wanted, not negative.

    Returns:
        Numbers below and above δ(ε).

    Example:
        >>> from sottovoce.reporters.law.blanket import opposed
        >>> import numpy as np
        >>> window = Contrast(*opposed(np.array([0.3, 0.1]), np.array([1.0, 7.0])))  # γ = 0.4, ratio 7
        >>> low, high = divergence(window, 1000, 0.3)
        >>> 0.99 < low / high < 1
        True
    """
    theta = math.exp(epsilon)
    losses = np.append(contrast.first - theta * contrast.second, 0.0)
    shift = 8 * UNIT * float((contrast.first + theta * contrast.second).max())  # of one person's loss
    if losses.max() <= 0:
        return Bounds(0.0, max(0.0, float(losses[:-1].max()) + shift))
    person = _person(np.append(contrast.mass, contrast.silent), losses, people)
    law = person.lattice(max(person.unit, float(np.ptp(person.losses)) / _MOST_POINTS))
    for bit in f"{people:b}"[1:]:
        law = law.self_convolve(people)
        if bit == "1":
            law = law.convolve(person.lattice(law.step))
    return _bounds(law, person, people, shift * people)


@dataclass(frozen=True)
class _Person:
    """One person's losses with their masses times e^{λ·loss − norm}, which add up to 1.

    `unit`·√k is the step of a lattice that is fine enough for k people; `error_bound` is as in `_Lattice`.
    """

    losses: FloatArray
    mass: FloatArray
    tilt: float
    norm: float
    unit: float
    error_bound: float

    def lattice(self, step: float) -> _Lattice:
        """The same on multiples of a step, every loss divided among its two neighbours."""
        place = np.floor(self.losses / step)
        above = self.losses / step - place
        cell = (place - place.min()).astype(np.int64)
        size = int(cell.max()) + 2
        left = self.mass * (1 - above) * np.exp(-self.tilt * step * above)
        right = self.mass * above * np.exp(self.tilt * step * (1 - above))
        weights = np.bincount(cell, left, size) + np.bincount(cell + 1, right, size)
        return _Lattice(
            int(place.min()),
            weights.astype(np.float64),
            step,
            tilt=self.tilt,
            unit=self.unit,
            people=1,
            noise=step**2 / 4,
            error_bound=self.error_bound,
        )


def _person(mass: FloatArray, losses: FloatArray, people: int) -> _Person:
    """Tilted so that the mean loss is zero, or not at all if it is positive already."""

    def mean(tilt: float) -> float:
        return float(mass * np.exp(tilt * losses) @ losses)

    tilt = 0.0
    if mean(0.0) < 0:
        low, high = 0.0, 1.0 / float(losses.max())
        while mean(high) < 0 and 2 * high * losses.max() < _STEEPEST:
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if mean(middle) < 0 else (low, middle)
        tilt = high
    norm = math.log(math.fsum(mass * np.exp(tilt * losses)))
    stored = mass * np.exp(tilt * losses - norm)
    deviation = math.sqrt(float(stored @ (losses - stored @ losses) ** 2))
    unit = deviation / max(_FINE, _STEEP * tilt * deviation * math.sqrt(people))
    kept = stored > _CUT / people / stored.size
    return _Person(losses[kept], stored[kept], tilt, norm, unit, _ROUNDING + float(stored[~kept].sum()))


@dataclass(frozen=True)
class _Lattice:
    """The sum of some people's losses on multiples of a step.

    `first` is the index of the first weight; `unit` is as for a person; `noise` bounds the sub-Gaussian v of
    what was spread, and `error_bound` the ℓ₁ distance of the weights from those meant.
    """

    first: int
    weights: FloatArray
    step: float
    tilt: float
    unit: float
    people: int
    noise: float
    error_bound: float

    def self_convolve(self, whole: int) -> _Lattice:
        """Twice as many people, on a lattice that keeps up with the spread; `whole` is how many come."""
        weights, error = convolve(self.weights, self.weights)
        error_bound = self.error_bound * (2 * float(self.weights.sum()) + self.error_bound) + error
        law = replace(
            self,
            first=2 * self.first,
            weights=weights,
            people=2 * self.people,
            noise=2 * self.noise,
            error_bound=error_bound,
        )
        law = law._truncate_tails(max(_CUT * law.people / whole, error / 4))
        while 2 * law.step <= law.unit * math.sqrt(law.people):
            law = law._coarsen()
        return law

    def convolve(self, other: _Lattice) -> _Lattice:
        """These people and others, on the same lattice."""
        weights, error = convolve(self.weights, other.weights)
        mine, theirs = float(self.weights.sum()), float(other.weights.sum())
        return replace(
            self,
            first=self.first + other.first,
            weights=weights,
            people=self.people + other.people,
            noise=self.noise + other.noise,
            error_bound=self.error_bound * (theirs + other.error_bound) + mine * other.error_bound + error,
        )

    def _truncate_tails(self, least: float) -> _Lattice:
        """Without the ends that weigh less."""
        begin = int(np.searchsorted(np.cumsum(self.weights), least))
        end = self.weights.size - int(np.searchsorted(np.cumsum(self.weights[::-1]), least))
        return replace(
            self,
            first=self.first + begin,
            weights=self.weights[begin:end],
            error_bound=self.error_bound + 3 * least,
        )

    def _coarsen(self) -> _Lattice:
        """Every second point, what was between divided in halves."""
        weights = np.pad(self.weights, (self.first % 2, 0))
        weights = np.pad(weights, (0, 1 - weights.size % 2))
        odd, even = weights[1::2], weights[::2].copy()
        even[:-1] += odd * (0.5 * math.exp(-self.tilt * self.step))
        even[1:] += odd * (0.5 * math.exp(self.tilt * self.step))
        return replace(
            self,
            first=(self.first - self.first % 2) // 2,
            weights=even,
            step=2 * self.step,
            noise=self.noise + self.step**2,
            error_bound=self.error_bound * math.cosh(self.tilt * self.step) * (1 + 4 * UNIT)
            + 16 * UNIT * float(even.sum()),
        )


def _bounds(law: _Lattice, person: _Person, people: int, shift: float) -> Bounds:
    """Both bounds of E[S₊]/n from the law of the spread sum; `shift` bounds what roundings moved it."""
    tilt, spread = law.tilt, math.sqrt(law.noise)
    s = (law.first + np.arange(law.weights.size)) * law.step
    near = s > -(40 * spread + shift)  # below, neither bound has anything that counts
    s, stored = s[near], law.weights[near]
    mass = stored * np.exp(-tilt * s)
    largest = float(s[-1]) + shift if s.size else 0.0
    most = min(largest, 1 / (math.e * tilt)) if tilt else largest
    upper = float(mass @ np.maximum(s + shift, 0.0)) + law.error_bound * (most + shift)
    low = s - shift
    penalty = math.sqrt(math.e) * spread * np.exp(-np.abs(low) / spread)
    lower = float(mass @ (np.maximum(low, 0.0) - penalty)) - law.error_bound * (most + 3 * spread + shift)
    if tilt * spread > 0.5:  # the penalty of what was cut off may then exceed its bound
        lower = 0.0
    exponent = people * person.norm
    scale, doubt = math.exp(exponent) / people, (abs(exponent) + 64) * 8 * UNIT
    return Bounds(max(0.0, scale * lower * (1 - doubt)), math.nextafter(scale * upper * (1 + doubt), 1.0))


def convolve(a: FloatArray, b: FloatArray) -> tuple[FloatArray, float]:
    """The convolution, not negative, and a bound of its ℓ₁ error.

    Args:
        a: Numbers that are not negative.
        b: The same.
    """
    i, j, size = np.flatnonzero(a), np.flatnonzero(b), a.size + b.size - 1
    if i.size * j.size <= min(_SPARSE, _FEW * size):
        places, products = np.add.outer(i, j).ravel(), np.multiply.outer(a[i], b[j]).ravel()
        sums = np.bincount(places, products, size).astype(np.float64)
        return sums, (min(i.size, j.size) + 2) * UNIT * float(sums.sum())
    levels = (size - 1).bit_length()
    length = 1 << levels
    waves = np.fft.rfft(a, length)
    sums = np.fft.irfft(waves * (waves if a is b else np.fft.rfft(b, length)), length)[:size]
    # ‖ifft(Â·δB̂)‖₂ ≤ ‖a‖₁·‖δb‖₂, and ‖·‖₁ ≤ √size·‖·‖₂.
    norms = a.sum() * np.linalg.norm(b) + b.sum() * np.linalg.norm(a) + 2 * np.linalg.norm(sums)
    return np.maximum(sums, 0.0), float(16 * UNIT * levels * math.sqrt(size) * norms)
