"""The ε of what is shipped, counted: exactly from a mechanism or from anybody's spec.

sottovoce.audit(mechanism).epsilon      # exact, at most mechanism.epsilon
sottovoce.audit(text).holds             # does this spec keep its promise? joint reports (vector, polar) too
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sottovoce.core.errors import ArgumentTypeError
from sottovoce.core.exact import exp_lower, log_upper
from sottovoce.core.formats import counted
from sottovoce.core.reporter import Reporter


@dataclass(frozen=True)
class Audit:
    """What counting found.

    Attributes:
        ratio: The largest ratio of the probabilities of one report under two inputs, a rational number.
        claimed: The ε that the mechanism says it keeps.
    """

    ratio: Fraction
    claimed: float

    @property
    def epsilon(self) -> float:
        """The logarithm of `ratio`, rounded up: the least double ε that the mechanism keeps."""
        return log_upper(self.ratio)

    @property
    def holds(self) -> bool:
        """Whether the claim is kept, decided in integers."""
        # Counts are at most 2^53 < e^37; the bound of a huge claim would have more digits than memory holds.
        return self.claimed > 0 and self.ratio <= exp_lower(min(self.claimed, 37.0))

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        return f"exact epsilon {self.epsilon!r} (ratio {self.ratio}); claimed {self.claimed!r}: {verdict}"


def audit(mechanism: Reporter | str | bytes) -> Audit:
    """Count the exact ε of anything that reports, or of a JSON spec without believing what it claims.

    Args:
        mechanism: A reporter, or a spec in any format.

    Returns:
        What counting found.

    Raises:
        SpecError: If a spec is malformed.
        ArgumentTypeError: If it is something else.

    >>> from sottovoce.designs.classic import ogpm
    >>> result = audit(ogpm(epsilon=1.0))
    >>> result.holds and 0.9999999 < result.epsilon <= 1.0
    True
    """
    if isinstance(mechanism, str | bytes):
        claimed, ratio = counted(mechanism)
        return Audit(ratio, claimed)
    if not hasattr(mechanism, "largest_ratio"):
        raise ArgumentTypeError(
            f"mechanism must be a mechanism or its JSON spec, got {type(mechanism).__name__}",
            argument="mechanism",
        )
    return Audit(mechanism.largest_ratio, mechanism.epsilon)
