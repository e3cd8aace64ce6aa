"""What a plan says of anything but one number: ways to ask, with the errors to expect of each.

    sottovoce.plan("choice", epsilon=1.0, people=10_000, domain=["car", "bike", "walk"])
    sottovoce.plan("choices", epsilon=1.0, people=100_000, domain=["news", "games", "music"])
    sottovoce.plan("pair", epsilon=1.0, people=100_000, domain={"age": (0, 120), "commute": (0, 3)})
    sottovoce.plan("group", epsilon=1.0, people=100_000, domain=(["car", "bike"], (0, 3)))
    sottovoce.plan("place", epsilon=2.0, people=10_000, domain=sottovoce.Disc(10))

People are taken to be anywhere alike. The counts to expect of them are those of the exact law, so an error is
the one that the estimate itself will say. Reports that name blocks of options are best for shares; a window
on the numbers is better for the mean of ratings at small ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray
from sottovoce.designs.optimal import most_epsilon, optimal
from sottovoce.designs.place import expected_distance
from sottovoce.errors import ArgumentError, check_epsilon, whole_number
from sottovoce.estimates.groups import groups
from sottovoce.estimates.limits.weighted_counts import normal_quantile
from sottovoce.estimates.position import position_variance
from sottovoce.estimates.summary import number
from sottovoce.estimates.tally import Tally
from sottovoce.plots.data_table import Row, Tabular
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.formats import law_of
from sottovoce.reporters.law.moments import resultant
from sottovoce.reporters.question import Question
from sottovoce.surveys.design import design
from sottovoce.surveys.polar import polar
from sottovoce.surveys.rounds.pair_rounds import PairRounds, pair_rounds
from sottovoce.values.checked_arrays import as_numbers
from sottovoce.values.space import Space

_MOST_RATINGS = 64  # ratings up to which a window is looked at
_SPREAD = 64  # positions that a distance is averaged over
_EVENLY = 1024  # people who stand for all
_MOST = 4000  # people of a sample whose laws are looked at
_FEW = 64  # fewer tell nothing of several functions
_GOLDEN = 0x9E3779B97F4A7C15  # its multiples spread evenly
_LABELS = {"shares": "share", "mean": "mean", "position": "mean position", "groups": "mean of a group"}


@dataclass(frozen=True)
class Way:
    """One way to ask.

    Attributes:
        name: What it is called.
        design: What people would run: a reporter, or rounds.
        errors: The error of each answer, by what it is of; infinite where it is not resolved. A
            single report about a place has the distance to the person, on average.
        reason: What it is good for, where errors do not say it.
    """

    name: str
    design: Reporter | PairRounds
    errors: Mapping[str, float]
    reason: str = ""

    @property
    def error(self) -> float:
        """The first of the errors, that of what is asked for."""
        return next(iter(self.errors.values()))


@dataclass(frozen=True, repr=False)
class WaysPlan(Tabular):
    """Ways to ask, the one to take first.

    Attributes:
        epsilon: The privacy parameter.
        people: How many report.
        options: The ways.
    """

    epsilon: float
    people: int
    options: tuple[Way, ...]

    @property
    def best(self) -> Way:
        """The one to take."""
        return self.options[0]

    def best_for(self, of: str) -> Way | None:
        """Find the way with the least error of an answer.

        Args:
            of: What the answer is of, such as "mean".

        Returns:
            The way; None if no way answers that.
        """
        answering = [one for one in self.options if of in one.errors]
        return min(answering, key=lambda one: one.errors[of]) if answering else None

    @property
    def rows(self) -> list[Row]:
        """A row for each way, with its errors."""
        rows: list[Row] = []
        for one in self.options:
            rows.append({"name": one.name, **{f"error of the {of}": e for of, e in one.errors.items()}})
            rows[-1].update({"reason": one.reason} if one.reason else {})
        return rows

    def __str__(self) -> str:
        lines = [f"{self.people:,} people, ε = {self.epsilon:g}"]
        for one in self.options:
            errors = ", ".join(f"{of} ± {error:.2g}" for of, error in one.errors.items())
            lines.append(f"  {one.name}: {errors}{one.reason and '; '}{one.reason}")
        best = {of: self.best_for(of) or self.best for of in self.best.errors}
        if any(one is not self.best for one in best.values()):
            lines.append(f"  best: {', '.join(f'{one.name} for the {of}' for of, one in best.items())}")
        return "\n".join(lines)


def plan_ways(
    question: str, epsilon: float | None, people: int | None, domain: Any, sample: ArrayLike | None = None
) -> WaysPlan:
    """Say what error to expect of answers that are not about one number.

    Args:
        question: "choice", "choices", "place", "pair" or "group".
        epsilon: The privacy parameter.
        people: How many people report.
        domain: What `design` takes.
        sample: Of a pair values that stand for the people to come, a row of two for each.

    Returns:
        What `design` gives; of a few ratings a window too, of a disc polar coordinates, of a pair two rounds
        with the better one first.

    Raises:
        ArgumentError: If ε, people, the domain or the sample are none.
    """
    if epsilon is None or people is None:
        missing = "epsilon" if epsilon is None else "people"
        raise ArgumentError(f"question={question!r} needs epsilon and people", argument=missing)
    e = check_epsilon(epsilon)
    ours: Any = design(question, e, domain)
    n = whole_number(people, "people", least=1 if ours.functions is None else _FEW)
    if question == "pair":
        return WaysPlan(e, n, _rounds(ours, n, domain, sample))
    ways = [_way(ours, n, "for maps, the mean position and shares of regions" if question == "place" else "")]
    if ours.ratings is not None and len(ours.ratings) <= _MOST_RATINGS and e <= most_epsilon():
        ways.append(_window(e, n, ours.ratings))
    elif question == "place" and ours.domain.round:
        by_distance = polar(e, domain.radius, design="unbiased")
        ways.append(_way(by_distance, n, "the paper's distance and angle; its maps are coarser"))
    return WaysPlan(e, n, tuple(ways))


def _way(m: Any, people: int, reason: str) -> Way:
    """A reporter with the errors of what it says; of places also how far a report is from the person."""
    errors = {_LABELS[one.name]: error_of(m, one, people) for one in m.questions if one.name in _LABELS}
    if "mean position" in errors:
        at = _anywhere({"place": m.domain}, _SPREAD)["place"]
        errors["single report"] = float(expected_distance(m, at).mean())
    return Way(m.name, m, errors, reason)


def error_of(law: Any, question: Question, people: float) -> float:
    """The standard error of an answer, of people who are anywhere alike.

    Args:
        law: What people report with: options, places, or a survey of functions.
        question: One of its `questions`.
        people: How many answer.

    Returns:
        In the units of the answer; infinite if nothing is resolved.

    Raises:
        ArgumentError: If none is predicted.
        NoDataError: If they are too few.
    """
    if question.name not in PREDICTED:
        raise ArgumentError(f"the error of {question.name} is not predicted", argument="question")
    return float(np.nan_to_num(PREDICTED[question.name](law, question, people), nan=np.inf))


def _of_options(law: Any, question: Question, people: float) -> float:
    """Of one share, or of the mean of ratings: it falls with √n."""
    if law.composition is not None:  # any of several options: each is an item with no and yes
        return error_of(law_of(law.composition.reporters[0]), question, people * law.composition.shares[0])
    options = law.as_choice().domain.names
    held = np.repeat([len(one) for one in law.sets], len(options)) / len(options)
    all_draws = Tally.from_counts(law, np.rint(law.backgrounds + law.extra * held).astype(np.int64))
    one = Question("share", option=options[0]) if question.name == "shares" else question
    return number(all_draws, one).error * math.sqrt(all_draws.n / people)


def _of_position(law: Any, question: Question, people: float) -> float:
    """Of the mean position along x."""
    if law.distance_and_angle is None:
        return math.sqrt(position_variance(law.as_places()) / people)
    distance, angle = law.distance_and_angle
    r = law.domain.radius * np.sqrt((np.arange(256) + 0.5) / 256)
    moment = float(np.mean(r**2 + distance.variance(r)))
    return math.sqrt(moment / (2 * resultant(angle) ** 2) / people)


def _of_two(law: Any, question: Question, people: float) -> float:
    return number(evenly_spread(law, people), question).error


def _of_groups(law: Any, question: Question, people: float) -> float:
    """Of the mean of the first of groups that are alike; on a log scale of the mean logarithm."""
    mean = next(iter(groups(evenly_spread(law, people)).values())).mean
    line = law.domain[question.about[1]]
    if not line.is_log:
        return mean.error
    wide = float(np.ptp(line.line([mean.low, mean.high])))
    return math.inf if wide >= line.width else wide / 2 / normal_quantile((1 - mean.confidence) / 2)


#: How errors are predicted where the question is not of one number, by its name in the table of questions.
PREDICTED: dict[str, Callable[[Any, Question, float], float]] = {
    "shares": _of_options, "mean": _of_options, "position": _of_position, "groups": _of_groups,
    "correlation": _of_two, "slope": _of_two, "covariance": _of_two,
}  # fmt: skip


@lru_cache(maxsize=4)
def evenly_spread(survey: Survey, people: float) -> Tally:
    """The counts to expect of so many people who are anywhere alike, each value whatever the others are."""
    return _counts(survey, people, _anywhere(survey.domain))


def _counts(survey: Survey, people: float, values: Mapping[str, Any]) -> Tally:
    """Those of people like the given ones."""
    each = zip(survey.items, survey.shares, strict=True)
    chances = [share * survey.item_law(name, values).mean(axis=0) for name, share in each]
    return Tally.from_counts(survey, np.rint(people * np.concatenate(chances)).astype(np.int64))


def _anywhere(spaces: Mapping[str, Space], count: int = _EVENLY) -> dict[str, NDArray[Any]]:
    steps = np.arange(1, count + 1, dtype=np.uint64)
    return {
        name: space.named(space.spread(steps * np.uint64(pow(_GOLDEN, k, 1 << 64))))
        for k, (name, space) in enumerate(spaces.items(), 1)
    }


def _window(epsilon: float, people: int, ratings: FloatArray) -> Way:
    """Ratings asked as a number.

    The least variance of unbiased estimates from a law P, at the even truth, is that of weighted least
    squares, (P·D⁻¹·Pᵀ)⁻¹ with D the chances of the reports; what is estimated is multinomial itself, so its
    own covariance is in that already, less p·pᵀ.
    """
    window, k = optimal(epsilon, (float(ratings.min()), float(ratings.max()))), len(ratings)
    law = window.probabilities(ratings)
    shares = np.linalg.pinv((law / law.mean(axis=0).clip(1e-300)) @ law.T, rcond=1e-12) - 1 / k**2
    noise = float(np.mean(window.variance(ratings)) + np.var(ratings))
    errors = {"share": math.sqrt(np.trace(shares) / k / people), "mean": math.sqrt(noise / people)}
    return Way("window", window, errors)


def _rounds(one: Survey, people: int, domains: Any, sample: ArrayLike | None) -> tuple[Way, ...]:
    """A pair in one round and in two, the one with the smaller error first."""
    rounds = pair_rounds(one.epsilon, domains)
    values = _anywhere(one.domain)
    if sample is not None:
        table = np.asarray(as_numbers(sample, "sample"), dtype=np.float64)[:_MOST]
        if table.ndim != 2 or table.shape[1] != 2 or not len(table):
            raise ArgumentError("sample must have a row of two numbers for each person", argument="sample")
        values = dict(zip(values, table.T, strict=True))
    question = Question("correlation", about=tuple(values))
    first = round(rounds.asked_first * people)
    second = rounds.second(_counts(rounds.first, first, values))
    cut = {name: np.clip(column, *second.domain[name].ends) for name, column in values.items()}  # type: ignore[attr-defined]

    def error(tally: Tally) -> dict[str, float]:
        return {"correlation": float(np.nan_to_num(number(tally, question).error, nan=np.inf))}

    ways = (
        Way("one round", one, error(_counts(one, people, values))),
        Way("two rounds", rounds, error(_counts(second, people - first, cut))),
    )
    return tuple(sorted(ways, key=lambda way: way.error))
