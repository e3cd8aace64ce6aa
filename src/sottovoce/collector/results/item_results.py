"""Everything that is shown about a tally, as JSON; what cannot be estimated is null and says why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.collector import logs
from sottovoce.collector.campaigns.campaign_round import Round
from sottovoce.collector.results.over_time import over_days, over_groups
from sottovoce.errors import DataError
from sottovoce.estimates import polar_position
from sottovoce.estimates.answer.most_common_range import Sure, outward
from sottovoce.estimates.estimate import Estimate
from sottovoce.shuffling.shuffled import for_readers
from sottovoce.surveys.rounds.range_rounds import OPEN, RangeRounds

_DELTA = 1e-8
_FEW_CELLS = 4  # fewer different reports tell no distribution
_UNEVEN = 100  # times as far apart as others: then a table's inputs are a scale of their own

#: Nothing estimated about a question.
_NOTHING: dict[str, Any] = {
    "mean": None,
    "circular_mean": None,
    "quantiles": [],
    "distribution": None,
    "shares": [],
    "map": None,
    "position": [],
    "days": None,
    "honesty": None,
    "problems": {},
}


@dataclass(frozen=True)
class View:
    """What somebody wants to see: which quantiles, how many bins (None: `default_bins`), which confidence.

    `sequential` is for whoever looks again and again: the mean's interval then holds at every look.
    """

    confidence: float = 0.95
    quantiles: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 0.9)
    bins: int | None = None
    sequential: bool = False


def results(
    tally: sv.Tally,
    view: View,
    days: Mapping[str, sv.Tally],
    groups: Mapping[str, sv.Tally],
    earlier: Sequence[tuple[str, sv.Tally]] = (),
) -> dict[str, Any]:
    """What is known about the answers, by question, and what the counts reveal about one person.

    These are the fields of the same names that `api.result_schemas.ResultsShape` describes: also of every day
    of `days`, and of the campaigns of a family. Of a second round what it is for is answered by both.
    """
    questions = {
        name: _answers(tally[name], view, {day: part[name] for day, part in days.items()})
        if _is_value(tally.reporter, name)
        else _NOTHING
        for name in tally.reporter.items
    }
    for text, first in earlier:
        _answer_together(questions["value"], Round.model_validate_json(text), first, tally, view)
    return {
        "questions": questions,
        "groups": over_groups(groups, view.confidence),
        "relations": _relations(tally, view.confidence),
        "central": _central(tally.reporter.to_json(), _leading(tally.n)),
    }


def _answer_together(
    content: dict[str, Any], this: Round, first: sv.Tally, second: sv.Tally, view: View
) -> None:
    """Put what both rounds say in the place of what the last says alone; of a range, what it leaves open."""
    plan = this.plan(first.reporter)
    if isinstance(plan, RangeRounds):
        domain = second.law.as_number().domain
        for one in content["quantiles"] or ():
            ends = plan.opened(one["low"], one["high"], domain)
            one["notes"] += [OPEN] if ends != (one["low"], one["high"]) else []
            one["low"], one["high"] = ends
        if content["mean"] is not None:
            content["mean"]["notes"].append(f"of values brought into {domain.low:.6g} to {domain.high:.6g}")
        return
    name = {"mean": "mean", "quantile": "quantiles", "direction": "circular_mean"}[this.task]
    try:
        both = _interval(this.estimate(first, second, view.confidence))
        content[name] = [{"p": this.p, **both}] if this.task == "quantile" else both
    except ValueError as error:
        content["problems"][name] = str(error)


def _is_value(reporter: sv.Reporter, question: str) -> bool:
    """Whether a question is about what people gave, and not about a function of it (see `_relations`)."""
    functions = reporter.functions if isinstance(reporter, sv.Survey) else None
    return functions is None or functions.each[list(reporter.items).index(question)].name == "value"


def nothing(questions: Iterable[str]) -> dict[str, Any]:
    """The same fields below a campaign's minimum."""
    return {
        "questions": dict.fromkeys(questions, _NOTHING),
        "groups": [],
        "relations": [],
        "central": None,
    }


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


def _answers(tally: sv.Tally, view: View, days: Mapping[str, sv.Tally]) -> dict[str, Any]:
    """Mean or mean direction, quantiles, distribution and the honesty check, each with its uncertainty."""
    content: dict[str, Any] = {**_NOTHING, "problems": {}}
    level = view.confidence

    def attempt(name: str, estimate: Callable[[], Any]) -> None:
        try:
            content[name] = estimate()
        except ValueError as error:
            content["problems"][name] = str(error)
        except Exception:
            logs.logger.exception("estimate_failed")
            content["problems"][name] = "it could not be computed"

    if isinstance(tally.reporter.domain, sv.Options):
        attempt("shares", lambda: _shares(tally, level))
        attempt("honesty", lambda: _honesty(tally))
        if all(isinstance(option, int) for option in tally.reporter.domain.names):
            attempt("mean", lambda: _rating(tally, level))
        return content
    if isinstance(tally.reporter.domain, sv.Area | sv.Disc):
        mean_position = (
            polar_position.mean_position if isinstance(tally.reporter, sv.Polar) else sv.mean_position
        )
        attempt("position", lambda: [_interval(one) for one in mean_position(tally, confidence=level)])
        attempt("map", lambda: _map(tally))
        return content
    if isinstance(tally.reporter.domain, sv.Circle):
        attempt("circular_mean", lambda: _interval(sv.circular_mean(tally, confidence=level)))
    else:
        attempt("mean", lambda: _interval(sv.mean(tally, confidence=level, sequential=view.sequential)))
        attempt("quantiles", lambda: _quantiles(tally, view))
    attempt("distribution", lambda: _distribution(tally, view))
    attempt("days", lambda: over_days({day: part for day, part in days.items() if part.n}, level))
    attempt("honesty", lambda: _honesty(tally))
    return content


def _shares(tally: sv.Tally, confidence: float) -> list[dict[str, Any]]:
    shares = sv.shares(tally, confidence=confidence)
    return [{"option": option, **_interval(one)} for option, one in shares.items()]


def _map(tally: sv.Tally) -> dict[str, Any]:
    """Shares by place, null outside; on degrees a step across is shorter than one along."""
    h = sv.heatmap(tally)
    shares = [[_number(share) for share in row] for row in np.where(h.areas > 0, h.shares, np.nan)]
    across, along = h.area.scale
    x, y = h.positions[0, :, 0].tolist(), h.positions[:, 0, 1].tolist()
    return {"x": x, "y": y, "shares": shares, "aspect": along / across, "degrees": h.area.degrees}


def _relations(tally: sv.Tally, confidence: float) -> list[dict[str, Any]]:
    """How numbers vary together, of which that was asked."""
    survey, relations = tally.reporter, []
    if not isinstance(survey, sv.Survey) or survey.functions is None:
        return []
    for x, y in (function.of for function in survey.functions.each if function.name == "sum"):
        try:
            both = [of(tally, x, y, confidence=confidence) for of in (sv.correlation, sv.slope)]
        except ValueError:  # nobody has answered one of the functions yet
            continue
        relations.append({"x": x, "y": y, "correlation": _interval(both[0]), "slope": _interval(both[1])})
    return relations


def _rating(tally: sv.Tally, confidence: float) -> dict[str, Any] | None:
    mean = sv.shares(tally, confidence=confidence).mean
    return None if mean is None else _interval(mean)


def _quantiles(tally: sv.Tally, view: View) -> list[dict[str, Any]]:
    if not view.quantiles:
        return []
    estimates = sv.quantile(tally, view.quantiles, confidence=view.confidence)
    return [{"p": p, **_interval(one)} for p, one in zip(view.quantiles, estimates, strict=True)]


def _interval(estimate: Estimate) -> dict[str, Any]:
    numbers = {name: _number(getattr(estimate, name)) for name in ("value", "low", "high")}
    return {**numbers, "notes": [*estimate.advice(), *estimate.notes]}


def _number(value: float) -> float | None:
    """JSON has no infinity: an open end is null."""
    return float(value) if math.isfinite(value) else None


def _distribution(tally: sv.Tally, view: View) -> dict[str, Any]:
    domain, cells = tally.law.as_number().domain, tally.law.as_number().cells
    if cells < _FEW_CELLS:
        raise DataError(f"a report of this mechanism is one of {cells}: they do not tell a distribution")
    even = _evened(tally)
    bins = None if view.bins is None else min(view.bins, cells)
    estimate = sv.distribution(even, bins, confidence=view.confidence)

    def placed(*x: float) -> list[float]:
        """Values of the even scale on the campaign's: the nearest input changes at the same places."""
        if even is tally:
            return list(x)
        scaled, values = (one.law.as_number().bends(np.arange(cells)) for one in (even, tally))
        return [float(value) for value in np.interp(x, scaled, values)]

    columns, sure = estimate.to_dict(), estimate.sure
    names = {"probability": "probabilities", "ribbon_low": "ribbon_low", "ribbon_high": "ribbon_high"}
    return {
        "n": estimate.n,
        "edges": placed(*estimate.edges.tolist()),
        **{shown: columns[name] for name, shown in names.items()},
        **{name: np.asarray(getattr(estimate, name)).tolist() for name in ("cdf_low", "cdf_high")},
        "shaped": estimate.shaped,
        "most_common": [outward(domain, *placed(*ends)) for ends in estimate.most_common or ()],
        "sure": sure and Sure(sure.share, *outward(domain, *placed(sure.low, sure.high)))._asdict(),
    }


def _evened(tally: sv.Tally) -> sv.Tally:
    """The same reports on a scale on which a table's inputs are even, if they are far from it.

    A truth goes to the nearest input, so a table tells people apart on that scale and on no other: that of a
    range of either sign is logarithmic, and in equal bins of all values everybody may be in one.
    """
    m = tally.law.as_number()
    if not isinstance(m, sv.Rows) or len(m.inputs) < 2 or m.domain.is_circle:
        return tally
    gaps = np.diff(m.inputs)
    if gaps.max() <= _UNEVEN * gaps.min():
        return tally
    return sv.Tally.from_counts(replace(m, inputs=np.linspace(0.0, 1.0, len(m.inputs))), tally.counts)


def _honesty(tally: sv.Tally) -> dict[str, Any]:
    verdict = sv.honesty(tally)
    return {"alarm": bool(verdict.alarm), "p_value": _number(verdict.p_value), "message": str(verdict)}
