"""What a survey will tell: a plan of each of its answers, of as many people as give it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

from sottovoce.errors import ArgumentError, NoDataError, check_confidence, whole_number
from sottovoce.estimates.limits.weighted_counts import normal_quantile
from sottovoce.planning.candidates import KINDS
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.ways_to_ask import error_of
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.formats import law_of

#: What of an item is planned: the first of these that it says.
_FIRST = ("shares", "position", "mean", "direction", "probability")


class SurveyPlan(NamedTuple):
    """How well the answers of a survey will be known.

    Attributes:
        within: Half of the interval of each item: of the mean of a number (on a log scale of the mean
            logarithm), of a direction, of a share, of a mean position along x; of a correlation under
            "x and y", of means within groups under "number by group". None where there is none.
        problems: Why there is none.
    """

    within: dict[str, float | None]
    problems: dict[str, str]


def plan_survey(survey: Survey, people: int, confidence: float = 0.95) -> SurveyPlan:
    """Say how well the answers of a survey will be known: what `sottovoce.plan` says of each alone.

    Args:
        survey: The survey.
        people: How many answer.
        confidence: How often the intervals should hold.

    Returns:
        The plan. Numbers and directions are those of the reference shapes; of everything else people are
        anywhere alike.
    """
    z, n = normal_quantile((1 - check_confidence(confidence)) / 2), whole_number(people, "people", least=1)
    plan = SurveyPlan({}, {})

    def tell(name: str, half: Callable[[], float]) -> None:
        try:
            width = half()
        except NoDataError:
            width = math.inf
        except ArgumentError as error:
            width, plan.problems[name] = math.inf, str(error)
        if math.isinf(width):
            plan.problems.setdefault(name, f"{n:,} people are too few to tell it")
        plan.within[name] = None if math.isinf(width) else width

    @cache
    def of_item(law: ReporterBase, many: int) -> float:
        said = {one.name: one for one in law.questions}
        name = next((name for name in (*_FIRST, *said) if name in said), None)
        if name is None:
            raise ArgumentError("these reports answer no question", argument="survey")
        if name not in KINDS:
            return z * error_of(law, said[name], many)
        number = law.as_number()
        return Scenario(said[name], number.domain, confidence).expected(number, many).half_width

    own = {one.item for one in survey.questions}
    for (name, item), share in zip(survey.items.items(), survey.shares, strict=True):
        if survey.functions is None or name in own:
            tell(name, partial(of_item, law_of(item), max(1, round(n * share))))
    for one in survey.questions:
        if one.name in ("correlation", "groups"):
            together = " and ".join(one.about) if one.name == "correlation" else " by ".join(one.about[::-1])
            tell(together, lambda one=one: z * error_of(survey, one, n))  # type: ignore[misc]
    return plan
