"""A certificate: how far a mechanism is from the best that any ε-LDP mechanism can do.

The limit is a weighted sum of cuts (see `designs.solver.cuts`), each true of every mechanism, whose combined
dependence on the mechanism is nowhere negative. `verify` checks that again from the numbers alone, for every
real report y: the solver that found them need not be trusted.

What the limit covers: any output space, public randomness, several messages or rounds, and any decoding of
one person's own transcript, when that person's whole transcript is ε-LDP (δ = 0): the maximum over x of the
expected loss is at least the limit; unbiased: decodings with mean x. Not covered: (ε, δ), shuffling, averages
under a prior, estimates that pool people (reconstruction, shrinkage, adaptive rounds). With a prior the
certificate is about that prior's expectation and nothing else.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.cut_sums import least_shift, least_sum
from sottovoce.designs.solver.cuts import Cuts
from sottovoce.designs.solver.error_floors import CLOSED
from sottovoce.errors import SolverError, SpecError
from sottovoce.exact.rational_bounds import exp_upper
from sottovoce.notebook import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Shown):
    """How close a mechanism comes to the best: `ratio` = `worst` / `limit`.

    Attributes:
        epsilon: Privacy parameter ε.
        exponent: The k of the loss |y − x|^k.
        unbiased: True if it is about variances of unbiased mechanisms.
        unit_limit: `limit` for a domain of width 1.
        unit_worst: `worst` for a domain of width 1.
        form: What proves the limit: "cuts", or one of the closed forms of `designs.solver.error_floors`.
        cuts: The inequalities that the proof adds up.
        weights: Their weights in the proof.
        prior: The values and chances under which `worst` and `limit` are expectations, if there is a prior.
        width: The width of the domain.
    """

    epsilon: float
    exponent: float
    unbiased: bool
    unit_limit: float
    unit_worst: float
    form: str = "cuts"
    cuts: Cuts | None = None
    weights: FloatArray | None = None
    prior: tuple[FloatArray, FloatArray] | None = None
    width: float = 1.0

    @property
    def limit(self) -> float:
        """No ε-LDP mechanism is better than this, in the units of the domain (to the loss's power)."""
        return self._in_units(self.unit_limit)

    @property
    def worst(self) -> float:
        """The exact value of the shipped integer mechanism over the continuous domain."""
        return self._in_units(self.unit_worst)

    def _in_units(self, value: float) -> float:
        try:
            return value * self.width**self.exponent
        except OverflowError:
            return math.inf

    @property
    def ratio(self) -> float:
        """worst / limit: 1.002 means that no mechanism whatsoever is more than 0.2 % better."""
        if self.unit_limit > 0:
            return self.unit_worst / self.unit_limit
        return math.inf if self.unit_worst > 0 else 1.0

    @property
    def quantity(self) -> str:
        """What is bounded, in words."""
        name = {1.0: "absolute error", 2.0: "squared error"}.get(
            self.exponent, f"error to the power {self.exponent:g}"
        )
        return f"{'worst-case' if self.prior is None else 'expected'} {'variance' if self.unbiased else name}"

    def scaled(self, width: float) -> Certificate:
        """State the same on a domain of another width.

        Args:
            width: The width of that domain.

        Returns:
            The certificate in its units.
        """
        return replace(self, width=width)

    def verify(self) -> float:
        """Check the proof again, from the cuts or the closed form alone, for every real report y.

        Returns:
            What they prove: at least the limit.

        Raises:
            ArithmeticError: If they do not prove the limit.
        """
        if self.cuts is None or self.weights is None:
            proved = CLOSED[self.form](self.epsilon, self.exponent)
        else:
            self._check_weights(self.cuts, self.weights)
            proved = float(self.weights @ self.cuts.kappa)
            if least_sum(self.cuts, self.weights, upper_e(self.epsilon)) < 0:
                raise SolverError("the cuts of this certificate leave some report y unaccounted for")
        if proved < self.unit_limit:
            raise SolverError("this certificate proves less than its limit")
        return self._in_units(proved)

    def _check_weights(self, cuts: Cuts, weights: FloatArray) -> None:
        """Weights of a bound: none negative, together no more than one error, or no more than the prior."""
        honest = bool((weights >= 0).all() and ((cuts.x >= 0) & (cuts.x <= 1)).all() and (cuts.a >= 0).all())
        if not self.unbiased:
            honest &= bool((cuts.b == 0).all())
        share = weights * cuts.a
        if self.prior is None:
            honest &= float(share.sum()) <= 1 + 1e-12
        else:
            points, chances = self.prior
            lossy = cuts.a > 0
            at = np.minimum(np.searchsorted(points, cuts.x[lossy]), len(points) - 1)
            honest &= bool((points[at] == cuts.x[lossy]).all())
            honest &= bool((np.bincount(at, share[lossy], len(points)) <= chances * (1 + 1e-9)).all())
        if not honest:
            raise SolverError("the weights of this certificate are not those of a bound")

    def __str__(self) -> str:
        lines = (
            f"{self.quantity} of this mechanism  {self.worst:.6g}",
            f"limit for every {'unbiased ' if self.unbiased else ''}ε-LDP mechanism  {self.limit:.6g}",
            f"ratio  {self.ratio:.5f}",
        )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Certificate {self.quantity} limit={self.limit:.6g} ratio={self.ratio:.6f} by {self.form}>"

    def to_json(self) -> str:
        """Write the certificate and its proof, as for a domain of width 1.

        Returns:
            What `from_json` reads.
        """
        return json.dumps(asdict(self.scaled(1.0)), default=np.ndarray.tolist)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read what `to_json` wrote. The proof is not checked: `verify` does that.

        Args:
            text: A certificate's JSON.

        Returns:
            The certificate, for a domain of width 1.

        Raises:
            SpecError: If the text is not that of a certificate.
        """
        try:
            content = json.loads(text)
            if content["prior"] is not None:
                content["prior"] = tuple(np.array(column, dtype=np.float64) for column in content["prior"])
            if content["cuts"] is not None:
                content["weights"] = np.array(content["weights"], dtype=np.float64)
                k, *columns = (content["cuts"][field.name] for field in fields(Cuts))
                content["cuts"] = Cuts(k, *(np.array(column, dtype=np.float64) for column in columns))
            return cls(**content)
        except (ValueError, TypeError, KeyError) as error:
            raise SpecError(f"this is not a certificate: {error}") from None


def upper_e(epsilon: float) -> float:
    """A double not below e^ε: whatever is true of mechanisms with this ratio is true of ε-LDP ones."""
    return math.nextafter(float(exp_upper(epsilon)), math.inf)


class Proof(NamedTuple):
    """Weighted cuts, and the limit that they prove for every real y."""

    cuts: Cuts
    weights: FloatArray
    limit: float


def settle(cuts: Cuts, weights: FloatArray, epsilon: float) -> Proof:
    """Lower cuts just enough to prove a limit."""
    e = upper_e(epsilon)
    lowered = cuts.lowered(least_shift(cuts, weights, e))
    bound = float(weights @ lowered.kappa)
    return Proof(lowered, weights, bound - 1e-14 * float(weights @ np.abs(lowered.kappa)))
