"""What an answer says in words: the sentence of each question, and numbers as people write them.

A number is rounded by the width of its interval: limits outward, so that what is printed is never narrower
than what was computed. A limit at an end of what is possible is not named: it says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.groups import Groups
from sottovoce.estimates.shares import Shares
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.question import Question
from sottovoce.values.domain import Domain

_STEPS = 10  # at least so many steps of the last digit are in an interval
_MINUTES = (30, 15, 5, 1)
_DIGITS = 12
_USELESS = 0.5  # of what is possible: no value is named in an interval that is wider

Write = Callable[[float, float, float], list[str]]


@dataclass(frozen=True)
class Said:
    """How the answer to a question is said, if it is one number.

    Attributes:
        value: The words with the value in them.
        what: What the answer tells, for people who are too few to tell it.
        it: What the limits are of.
        kind: What the number is: a "value" of the domain, a "length" or a "square" in it, a "share", a
            "ratio" between 0 and 1, a "correlation", or "any" number.
    """

    value: str
    what: str
    it: str = "it"
    kind: str = "value"

    def __call__(self, e: Estimate, question: Question, law: ReporterBase, label: str) -> str:
        """The sentence of an estimate.

        Args:
            e: The estimate.
            question: What was asked.
            law: What people reported with.
            label: What the answer is called.

        Returns:
            One sentence; without a value where the interval is too wide for one.
        """
        ends, write = self._scale(law)
        words = {**_words(question), "label": label[:1].lower() + label[1:]}
        value, low, high = write(e.value, e.low, e.high)
        where, level = limits((e.low, e.high), ends, low, high), f"{100 * e.confidence:.10g} % sure"
        what = self.what.format(**words)
        if not where:
            return f"These {e.n:,} reports say nothing about {what}."
        if self.part(e, law) > _USELESS:
            return (
                f"{e.n:,} people are too few to tell {what}; we are {level} only that {self.it} is {where}."
            )
        said = self.value.format(value=value, **words)
        return f"{said[:1].upper()}{said[1:]}; we are {level} that {self.it} is {where}."

    def texts(self, e: Estimate, law: ReporterBase) -> list[str]:
        """The value and its limits as people write them; no value where the interval is too wide for one."""
        value, low, high = self._scale(law)[1](e.value, e.low, e.high)
        return ["not known" if self.part(e, law) > _USELESS else value, low, high]

    def part(self, e: Estimate, law: ReporterBase) -> float:
        """How much of what is possible an interval is; 0 where everything is."""
        if self.kind == "value" and law.ratings is None:
            domain = law.as_number().domain
            return float(np.ptp(domain.line(np.array([e.low, e.high])) / domain.width))
        (low, high), _ = self._scale(law)
        return (e.high - e.low) / (high - low) if 0 < high - low < math.inf else 0.0

    def _scale(self, law: ReporterBase) -> tuple[tuple[float, float], Write]:
        """What the number can be, and how it is written."""
        if self.kind in _ENDS:
            return _ENDS[self.kind], shares_in_words if self.kind == "share" else numbers
        if law.ratings is not None:
            return (float(law.ratings.min()), float(law.ratings.max())), numbers
        domain = law.as_number().domain
        if self.kind != "value":
            power = 1 + (self.kind == "square")
            return (0.0, float(domain.stretched(0.5**power, power))), numbers
        return (domain.low, domain.high), writer(domain)


_ENDS = {
    "share": (0.0, 1.0), "ratio": (0.0, 1.0), "correlation": (-1.0, 1.0), "any": (-math.inf, math.inf),
}  # fmt: skip


def _words(question: Question) -> dict[str, Any]:
    """What of a question stands in its sentence."""
    p = 0.5 if question.p is None else question.p
    low, high = question.between or (math.nan, math.nan)
    x, y = (*question.about, "", "")[:2]
    share = "half" if p == 0.5 else f"{100 * p:.10g} of 100"
    return {
        "share": share,
        "option": question.option,
        "low": f"{low:.12g}",
        "high": f"{high:.12g}",
        "x": x,
        "y": y,
    }


def of_shares(s: Shares, question: Question, law: ReporterBase, label: str) -> str:
    """Which option is named most often, if the limits that hold all together say so."""
    first = max(s, key=lambda option: s[option].value)
    rivals = [
        option for option in s if option != first and s.simultaneous[option].high >= s.simultaneous[first].low
    ]
    if rivals:
        return f"We cannot tell from these {s.n:,} people which option is named most often."
    e = s[first]
    value, low, high = shares_in_words(e.value, e.low, e.high)
    return (
        f"{first} is named most often, by {value}; we are {100 * s.confidence:.10g} % sure that its share is "
        f"{limits((e.low, e.high), (0.0, 1.0), low, high)} and that no other option is named as often."
    )


def of_groups(g: Groups, question: Question, law: ReporterBase, label: str) -> str:
    """The mean of each group, where the interval says something."""
    told = []
    for option, group in g.items():
        e = group.mean
        value, low, high = numbers(e.value, e.low, e.high)
        told.append(f"{option} {value}, between {low} and {high}")
    kind = "Geometric means" if all(math.isnan(group.mean.error) for group in g.values()) else "Means"
    return f"{kind} by group, each with {100 * g.confidence:.10g} % confidence: {'; '.join(told)}."


def of_place(both: tuple[Estimate, Estimate], question: Question, law: ReporterBase, label: str) -> str:
    """Where the mean place is, along x and along y."""
    texts = [numbers(e.value, e.low, e.high) for e in both]
    (x, *_), (y, *_) = texts
    where = " and ".join(
        f"{axis} between {low} and {high}" for axis, (_, low, high) in zip("xy", texts, strict=True)
    )
    return f"The mean place is {x}, {y}; we are {100 * both[0].confidence:.10g} % sure of each of {where}."


def limits(interval: tuple[float, float], ends: tuple[float, float], low: str, high: str) -> str:
    """Where the truth is, such as "between 11:35 and 13:45" or "at most 21 %"; empty if anywhere."""
    bottom, top = interval[0] <= ends[0], interval[1] >= ends[1]
    if bottom and top:
        return ""
    return f"at most {high}" if bottom else f"at least {low}" if top else f"between {low} and {high}"


def numbers(value: float, low: float, high: float) -> list[str]:
    """Three numbers on one step, the limits outward."""
    if not high > low:
        return [_number(x, 4) for x in (value, low, high)]
    if math.isinf(high - low):
        return [f"{x:,.3g}".replace("-", "−") for x in (value, low, high)]
    power = math.floor(math.log10((high - low) / _STEPS))
    step = 10.0**power
    rounded = round(value / step), math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [_number(float(f"{whole * step:.{_DIGITS}g}"), max(0, -power)) for whole in rounded]


def shares_in_words(value: float, low: float, high: float) -> list[str]:
    """Three shares in per cent."""
    return [f"{text} %" for text in numbers(100 * value, 100 * low, 100 * high)]


def hours(value: float, low: float, high: float) -> list[str]:
    """Three times of the day."""
    width = 60 * (high - low)
    step = next((minutes for minutes in _MINUTES if 2 * _STEPS * minutes <= width), 1)
    ways: tuple[Callable[[float], int], ...] = (round, math.floor, math.ceil)
    return [_time(step * way(60 * x / step)) for way, x in zip(ways, (value, low, high), strict=True)]


def factors(value: float, low: float, high: float) -> list[str]:
    """Three numbers on a log scale, each with a step of its own size."""
    share = math.log(high / low) / _STEPS if high > low > 0 else 0.01
    ways: tuple[Callable[[float], int], ...] = (round, math.floor, math.ceil)
    texts = []
    for way, x in zip(ways, (value, low, high), strict=True):
        power = math.floor(math.log10(x * share))
        texts.append(_number(float(f"{way(x / 10.0**power) * 10.0**power:.{_DIGITS}g}"), max(0, -power)))
    return texts


def writer(domain: Domain) -> Write:
    """How values of a domain are written."""
    return hours if domain.is_clock else factors if domain.is_log else numbers


def _number(x: float, decimals: int) -> str:
    text = f"{x:,.{min(decimals, _DIGITS)}f}" if abs(x) < 1e15 else f"{x:.3g}"
    return text.replace("-", "−") if float(text.replace(",", "")) else text.replace("-", "")


def _time(minutes: int) -> str:
    return f"{minutes // 60 % 24}:{minutes % 60:02d}"
