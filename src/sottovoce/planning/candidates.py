"""The mechanisms that suit a task, each with the reason in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

from sottovoce.core.domains import Circle, Domain, Interval
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.mixture import Mixture
from sottovoce.designs import classic
from sottovoce.designs.optimal import optimal
from sottovoce.designs.two_scale import two_scale

TASKS = ("mean", "distribution", "quantile")
UNIT_INTERVAL, UNIT_CIRCLE = Interval(0, 1), Circle(1)


@dataclass(frozen=True)
class Candidate:
    """A design that suits a task.

    Attributes:
        name: The name that the design has in `sottovoce`.
        build: Makes the mechanism from ε and a domain.
        reason: What it is good for.
    """

    name: str
    build: Callable[[float, Domain], Mechanism | Mixture]
    reason: str

    def on_unit(self, epsilon: float, circle: bool) -> Mechanism | Mixture:
        """The mechanism on the unit interval or circle, where errors are computed; built once."""
        return _built(self, epsilon, circle)


@lru_cache(maxsize=256)
def _built(candidate: Candidate, epsilon: float, circle: bool) -> Mechanism | Mixture:
    return candidate.build(epsilon, UNIT_CIRCLE if circle else UNIT_INTERVAL)


_OGPM_L1, _OGPM_L2 = (partial(classic.ogpm, loss=loss) for loss in ("l1", "l2"))
_MEAN = (
    Candidate("optimal", optimal, "unbiased, the least worst-case variance there is"),
    Candidate("ptt", classic.ptt, "unbiased, the best with a uniform background"),
    Candidate("pm", classic.pm, "unbiased, three pieces; the usual choice"),
    Candidate("duchi", classic.duchi, "unbiased, two reports only; good for small ε, flat for large"),
    Candidate("ogpm_unbiased", classic.ogpm_unbiased, "unbiased as printed, dominated by pm"),
)
_DIRECTION = (
    Candidate(
        "ogpm, loss='l1'", _OGPM_L1, "on a circle no ε-LDP mechanism has a smaller error for one person"
    ),
    Candidate("ogpm, loss='l2'", _OGPM_L2, "the same with the window of squared error"),
)
_SHAPE = (
    Candidate("two_scale", two_scale, "two window widths, together no frequency is lost"),
    Candidate("sw", classic.sw, "the square wave, made for distributions"),
    Candidate("pm", classic.pm, "made for means; its wide reports cost detail"),
    Candidate("ogpm, loss='l1'", _OGPM_L1, "windows stop at the ends, where inputs look alike"),
)
_CIRCLE_SHAPE = (
    Candidate("two_scale", two_scale, "two window widths, together no frequency is lost"),
    Candidate("ogpm, loss='l1'", _OGPM_L1, "its one window nearly loses some frequencies"),
)


def candidates(task: str, domain: Domain) -> tuple[Candidate, ...]:
    """The designs that suit a task on a domain."""
    if task == "mean":
        return _DIRECTION if domain.is_circle else _MEAN
    return _CIRCLE_SHAPE if domain.is_circle else _SHAPE
