"""The ε of what is shipped, counted: exactly from a mechanism or from anybody's spec.

sottovoce.audit(mechanism).epsilon      # exact, at most mechanism.epsilon
sottovoce.audit(text).holds             # does this spec keep its promise? joint reports (surveys, polar) too
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sottovoce.errors import refuse_others
from sottovoce.exact.rational_bounds import exp_lower, log_upper
from sottovoce.notebook import Shown
from sottovoce.reporters.contract import Reporter, as_reporter
from sottovoce.reporters.formats import claim_and_ratio, from_json

if TYPE_CHECKING:
    from sottovoce.shuffling.shuffled import Shuffled


@dataclass(frozen=True)
class Audit(Shown):
    """What counting found.

    Attributes:
        ratio: The largest ratio of the probabilities of one report under two inputs, a rational number.
        claimed: The ε that the mechanism says it keeps.
        central: What the counts of so many people reveal, if that was asked for.
    """

    ratio: Fraction
    claimed: float
    central: Shuffled | None = None

    @property
    def epsilon(self) -> float:
        """The logarithm of `ratio`, rounded up: the least double ε that the mechanism keeps."""
        return log_upper(self.ratio)

    @property
    def holds(self) -> bool:
        """Whether the claim is kept, decided in integers."""
        # Counts are at most 2^53 < e^37; the bound of a huge claim would have more digits than memory holds.
        return self.claimed > 0 and self.ratio <= exp_lower(min(self.claimed, 37.0))

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return f"<Audit epsilon={self.epsilon!r} claimed={self.claimed!r} {verdict}>"

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        told = "" if self.central is None else f"; {self.central}"
        return (
            f"exact epsilon {self.epsilon!r} (ratio {self.ratio}); claimed {self.claimed!r}: {verdict}{told}"
        )


def audit(mechanism: Reporter | str | bytes, people: int | None = None, delta: float = 1e-6) -> Audit:
    """Count the exact ε of anything that reports, or of a JSON spec without believing what it claims.

    Args:
        mechanism: A reporter, or a spec in any format.
        people: Also how far the counts of so many *honest* people protect each of them from whoever sees
            nothing but the counts (`shuffled`). The claim is about single reports and does not change.
        delta: The δ of that.

    Returns:
        What counting found.

    Raises:
        SpecError: If a spec is malformed.
        PrivacyError: If `people` is given and the spec breaks its claim.
        ArgumentTypeError: If it is something else.

    >>> from sottovoce.designs.classic import ogpm
    >>> result = audit(ogpm(epsilon=1.0), people=1000)
    >>> result.holds and 0.9999999 < result.epsilon <= 1.0
    True
    >>> result.central.epsilon < 0.15
    True
    """
    if people is None:
        refuse_others(audit, "an audit without people", {"delta": delta})
    if isinstance(mechanism, str | bytes):
        claimed, ratio = claim_and_ratio(mechanism)
        reporter = None if people is None else from_json(mechanism)
    else:
        reporter = as_reporter(mechanism, "mechanism")
        claimed, ratio = reporter.epsilon, reporter.largest_ratio
    if people is None or reporter is None:
        return Audit(ratio, claimed)
    from sottovoce.shuffling.shuffled import shuffled  # not needed on a device, which audits too

    return Audit(ratio, claimed, shuffled(reporter, people, delta))
