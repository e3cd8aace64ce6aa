"""Estimates of a campaign as JSON, computed in a thread and kept for a moment.

Whoever asks again within two seconds gets the same answer; within ten seconds the last answer at once
while a new one is computed; while no report arrives, nothing is computed at all. Many dashboards cost as much
as one, and polling never waits for a solver.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from anyio import CapacityLimiter, to_thread

import sottovoce as sv
from sottovoce.collector.campaigns import Campaign, moment_text, now
from sottovoce.collector.store import Store
from sottovoce.tally import Tally

_FRESH, _STALE, _MOST = 2.0, 10.0, 64


@dataclass(frozen=True)
class Question:
    """What is asked about a campaign."""

    confidence: float = 0.95
    quantiles: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 0.9)
    bins: int = 64


class Estimates:
    """Answers by (campaign, question)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._answers: OrderedDict[tuple[int, Question], tuple[float, dict[str, Any]]] = OrderedDict()
        self._counted: dict[tuple[int, Question], Tally] = {}
        self._running: dict[tuple[int, Question], asyncio.Task[dict[str, Any]]] = {}
        self._thread = CapacityLimiter(1)  # one estimate at a time: the other core stores reports

    async def answer(self, campaign: Campaign, question: Question) -> dict[str, Any]:
        name = (campaign.id, question)
        made, content = self._answers.get(name, (float("-inf"), None))
        age = time.monotonic() - made
        if content is not None and age < _FRESH:
            return content
        task = self._running.get(name)
        if task is None:
            task = self._running[name] = asyncio.create_task(self._refresh(campaign, question))
            task.add_done_callback(lambda done: self._finished(name, done))
        return content if content is not None and age < _STALE else await asyncio.shield(task)

    async def _refresh(self, campaign: Campaign, question: Question) -> dict[str, Any]:
        content = await to_thread.run_sync(self._compute, campaign, question, limiter=self._thread)
        self._answers[campaign.id, question] = (time.monotonic(), content)
        while len(self._answers) > _MOST:
            self._counted.pop(self._answers.popitem(last=False)[0], None)
        return content

    def _finished(self, name: tuple[int, Question], task: asyncio.Task[dict[str, Any]]) -> None:
        self._running.pop(name, None)
        if not task.cancelled():
            task.exception()  # retrieved here even when nobody waits any more

    def _compute(self, campaign: Campaign, question: Question) -> dict[str, Any]:
        mechanism = campaign.mechanism
        tally = Tally.from_counts(mechanism, self._store.counts(campaign.id, mechanism.cells))
        name = (campaign.id, question)
        if name in self._answers and self._counted.get(name) == tally:
            return {**self._answers[name][1], "as_of": moment_text(now())}
        content = estimate(campaign, tally, question)
        self._counted[name] = tally
        return content


def estimate(campaign: Campaign, tally: Tally, question: Question) -> dict[str, Any]:
    """Everything that is shown about a tally; what cannot be estimated is null and says why."""
    shown = tally.n >= campaign.settings["min_n"]
    content: dict[str, Any] = {
        "campaign": campaign.stored.name,
        "n": tally.n,
        "min_n": campaign.settings["min_n"],
        "shown": shown,
        "confidence": question.confidence,
        "epsilon": campaign.mechanism.epsilon,
        "as_of": moment_text(now()),
        "mean": None,
        "circular_mean": None,
        "quantiles": [],
        "distribution": None,
        "honesty": None,
        "problems": {},
    }
    if shown:
        _fill(content, tally, question, campaign.mechanism.domain.is_circle)
    return content


def _fill(content: dict[str, Any], tally: Tally, question: Question, circle: bool) -> None:
    level = question.confidence

    def attempt(name: str, make: Callable[[], Any]) -> None:
        try:
            content[name] = make()
        except ValueError as error:
            content["problems"][name] = str(error)

    if circle:
        attempt("circular_mean", lambda: _interval(sv.circular_mean(tally, confidence=level)))
    else:
        attempt("mean", lambda: _interval(sv.mean(tally, confidence=level)))
        attempt("quantiles", lambda: _quantiles(tally, question.quantiles, level))
    attempt("distribution", lambda: _distribution(tally, question))
    attempt("honesty", lambda: _honesty(tally))


def _quantiles(tally: Tally, wanted: tuple[float, ...], level: float) -> list[dict[str, Any]]:
    if not wanted:
        return []
    found = sv.quantile(tally, wanted, confidence=level)
    return [{"q": q, **_interval(estimate)} for q, estimate in zip(wanted, found, strict=True)]


def _interval(result: Any) -> dict[str, Any]:
    return {name: _number(getattr(result, name)) for name in ("value", "low", "high")}


def _number(value: Any) -> float | None:
    """JSON has no infinity: an open end is null."""
    number = float(value)
    return number if np.isfinite(number) else None


def _distribution(tally: Tally, question: Question) -> dict[str, Any]:
    found = sv.distribution(tally, bins=question.bins, confidence=question.confidence)
    names = ("edges", "probabilities", "low", "high")
    return {name: np.asarray(getattr(found, name), dtype=float).tolist() for name in names}


def _honesty(tally: Tally) -> dict[str, Any]:
    found = sv.honesty(tally)
    return {"alarm": bool(found.alarm), "p_value": _number(found.p_value), "message": str(found)}
