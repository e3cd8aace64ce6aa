"""Estimates of a campaign as JSON, computed in another process and kept for a moment.

Whoever asks again within two seconds gets the same answer; within a minute the last answer at once while a
new one is computed; while no report arrives, nothing is computed at all. Many dashboards cost as much as one,
and polling does not wait for a solver.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import Any

import numpy as np
from anyio import CapacityLimiter, to_thread
from numpy.typing import NDArray

from sottovoce.collector.answers import NOTHING, Question
from sottovoce.collector.campaigns import Campaign, moment_text, now
from sottovoce.collector.estimator import Estimator
from sottovoce.collector.store import Store

_FRESH, _STALE, _MOST = 2.0, 60.0, 64
Name = tuple[int, Question]


class Estimates:
    """Answers by (campaign, question)."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.estimator = Estimator()
        self._answers: OrderedDict[Name, tuple[float, dict[str, Any]]] = OrderedDict()
        self._counted: dict[Name, NDArray[np.int64]] = {}
        self._running: dict[Name, asyncio.Task[dict[str, Any]]] = {}
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

    def _finished(self, name: Name, task: asyncio.Task[dict[str, Any]]) -> None:
        self._running.pop(name, None)
        if not task.cancelled():
            task.exception()  # retrieved here even when nobody waits any more

    def _compute(self, campaign: Campaign, question: Question) -> dict[str, Any]:
        counts = self._store.counts(campaign.id, campaign.mechanism.cells)
        name = (campaign.id, question)
        if name in self._answers and np.array_equal(self._counted.get(name, ()), counts):
            return {**self._answers[name][1], "as_of": moment_text(now())}
        content = self._content(campaign, counts, question)
        self._counted[name] = counts
        return content

    def _content(self, campaign: Campaign, counts: NDArray[np.int64], question: Question) -> dict[str, Any]:
        n, least = int(counts.sum()), campaign.settings["min_n"]
        shown = n >= least
        return {
            "campaign": campaign.stored.name,
            "n": n,
            "min_n": least,
            "shown": shown,
            "confidence": question.confidence,
            "epsilon": campaign.mechanism.epsilon,
            "as_of": moment_text(now()),
            **(self.estimator.ask(campaign.stored.spec, counts, question) if shown else NOTHING),
        }

    def forget(self, campaign: int) -> None:
        """Nothing that was computed about a campaign is kept."""
        for name in [name for name in self._answers if name[0] == campaign]:
            self._counted.pop(name, None)
            del self._answers[name]

    def close(self) -> None:
        self.estimator.close()
