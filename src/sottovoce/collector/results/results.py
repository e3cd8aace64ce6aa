"""What is shown about a tally, as JSON: the answers of its summary, and what only a collector knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import sottovoce as sv
from sottovoce.collector import logs
from sottovoce.collector.campaigns.campaign_round import Round
from sottovoce.collector.results.over_time import over_days, over_groups
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.summary import QUANTILES, TABLE, Answer, summary
from sottovoce.reporters.question import Question
from sottovoce.shuffling.shuffled import for_readers
from sottovoce.surveys.rounds.range_rounds import RangeRounds

_DELTA = 1e-8

#: What is shown below a campaign's minimum.
NOTHING: dict[str, Any] = {"answers": [], "days": [], "groups": [], "central": None}


@dataclass(frozen=True)
class View:
    """What somebody wants to see: which quantiles, how many bins (None: the usual), which confidence.

    `sequential` is for whoever looks again and again: means and shares of a range then hold at every look.
    """

    confidence: float = 0.95
    quantiles: tuple[float, ...] = QUANTILES
    bins: int | None = None
    sequential: bool = False

    def options(self, law: sv.Reporter) -> dict[str, Any]:
        """Those that an answer takes; there are no more bins than different reports."""
        taken = frozenset().union(*(TABLE[question.name].options for question in law.questions))
        cells = [law.items[q.item or "value"].cells for q in law.questions if q.name == "distribution"]
        bins = None if self.bins is None else min([self.bins, *cells])
        given = {"bins": bins, "sequential": self.sequential}
        return {name: value for name, value in given.items() if value and name in taken}


def results(
    tally: sv.Tally,
    view: View,
    days: Mapping[str, sv.Tally],
    groups: Mapping[str, sv.Tally],
    earlier: Sequence[tuple[str, sv.Tally]] = (),
) -> dict[str, Any]:
    """What is known from the reports of a campaign, and what its counts reveal about one person.

    These are the fields of the same names that `api.result_schemas.ResultsShape` describes: also of every day
    of `days`, and of the campaigns of a family. Of a second round what it is for is answered by both.
    """
    options, level = view.options(tally.law), view.confidence
    known = summary(tally, quantiles=view.quantiles, confidence=level, failed=_failed, **options)
    answers = list(known)
    for text, first in earlier:
        answers = _of_both(Round.model_validate_json(text), first, tally, answers, level)
    return {
        "answers": [_shown(answer) for answer in answers],
        "days": over_days(days, level, _failed),
        "groups": over_groups(groups, level, _failed),
        "central": _central(tally.reporter.to_json(), _leading(tally.n)),
    }


def _failed(error: Exception) -> str:
    logs.logger.error("estimate_failed", exc_info=error)
    return "it could not be computed"


def _shown(answer: Answer) -> dict[str, Any]:
    try:
        return answer.to_dict()
    except Exception as error:  # advice is computed now
        return Answer(answer.question, answer.label, answer.n, problem=_failed(error)).to_dict()


def _of_both(
    this: Round, first: sv.Tally, second: sv.Tally, answers: list[Answer], confidence: float
) -> list[Answer]:
    """What both rounds say, before what the last says alone; of a range, what that leaves open."""
    plan = this.plan(first.reporter)
    if isinstance(plan, RangeRounds):
        return [_of_range(plan, answer, second) for answer in answers]
    question = Question(this.task, p=this.p)
    alone = Answer(question, TABLE[this.task].label(question, first.law), first.n + second.n)
    try:
        both = _with(alone, this.estimate(first, second, confidence), first)
    except ValueError as error:
        both = replace(alone, problem=str(error))
    return [both, *(answer for answer in answers if answer.question.name != this.task)]


def _of_range(plan: RangeRounds, answer: Answer, tally: sv.Tally) -> Answer:
    """An answer about values that were brought into a range: at its ends quantiles are open."""
    domain, e = tally.law.as_number().domain, answer.estimate
    if e is not None and answer.question.name == "quantile":
        return _with(answer, plan.quantile(e, domain), tally)
    if e is not None and answer.question.name == "mean":
        brought = f"of values brought into {domain.low:.6g} to {domain.high:.6g}"
        return _with(answer, replace(e, notes=(*e.notes, brought)), tally)
    return answer


def _with(answer: Answer, estimate: Estimate, tally: sv.Tally) -> Answer:
    """The same answer with another estimate."""
    entry = TABLE[answer.question.name]
    sentence = entry.said(estimate, answer.question, tally.law, answer.label)
    picture = entry.picture if answer.estimate is None else answer.picture
    numbers = {answer.label: estimate}
    return replace(answer, estimate=estimate, numbers=numbers, sentence=sentence, picture=picture)


def _leading(n: int) -> int:
    """The first two digits of a number: what so many people keep, more keep as well."""
    unit: int = 10 ** max(0, len(str(n)) - 2)
    return n // unit * unit


@lru_cache(maxsize=64)
def _central(spec: str, people: int) -> dict[str, Any] | None:
    """The central ε of the counts, for readers; computed once for each two leading digits of n."""
    try:
        curve = sv.shuffled(sv.from_json(spec), people, None)
        epsilon = curve.epsilon(_DELTA)
    except (ValueError, TypeError):  # of a kind whose counts are not understood
        return None
    sentence = for_readers(epsilon, _DELTA, people, curve.local)
    return {"epsilon": epsilon, "delta": _DELTA, "people": people, "sentence": sentence}
