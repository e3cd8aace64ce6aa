"""Results of campaigns, computed in another process and kept for a moment.

Whoever asks again within two seconds gets the same results; within a minute the last ones at once while new
ones are computed; while no report arrives, nothing is computed at all. Many dashboards cost as much as one,
and polling does not wait for a solver.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from anyio import CapacityLimiter, to_thread
from cachetools import LRUCache
from numpy.typing import NDArray

from sottovoce.collector.campaigns import Campaign
from sottovoce.collector.moments import now
from sottovoce.collector.results import NOTHING, View
from sottovoce.collector.store import Store
from sottovoce.collector.worker import Worker

_FRESH, _STALE, _MOST = 2.0, 60.0, 64
_Name = tuple[int, View]


@dataclass(frozen=True)
class _Entry:
    computed: float
    counts: NDArray[np.int64]
    content: dict[str, Any]


class ResultsCache:
    """Results by campaign and view, from the counts of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.worker = Worker()
        self._entries: LRUCache[_Name, _Entry] = LRUCache(_MOST)
        self._running: dict[_Name, asyncio.Task[_Entry]] = {}
        self._thread = CapacityLimiter(1)  # one estimate at a time: the other core stores reports

    async def get(self, campaign: Campaign, view: View) -> dict[str, Any]:
        """What `api.shapes.ResultsShape` describes, at most a minute old."""
        name = (campaign.id, view)
        entry = self._entries.get(name)
        age = float("inf") if entry is None else time.monotonic() - entry.computed
        if entry is not None and age < _FRESH:
            return entry.content
        task = self._running.get(name)
        if task is None:
            task = self._running[name] = asyncio.create_task(self._refresh(campaign, view, entry))
            task.add_done_callback(lambda done: self._finished(name, done))
        if entry is None or age >= _STALE:
            entry = await asyncio.shield(task)
        return entry.content

    async def _refresh(self, campaign: Campaign, view: View, before: _Entry | None) -> _Entry:
        entry = await to_thread.run_sync(self._compute, campaign, view, before, limiter=self._thread)
        self._entries[campaign.id, view] = entry
        return entry

    def _finished(self, name: _Name, task: asyncio.Task[_Entry]) -> None:
        self._running.pop(name, None)
        if not task.cancelled():
            task.exception()  # retrieved here even when nobody waits any more

    def _compute(self, campaign: Campaign, view: View, before: _Entry | None) -> _Entry:
        counts = self._store.counts(campaign.id, campaign.reporter.cells)
        if before is not None and np.array_equal(before.counts, counts):
            content = {**before.content, "as_of": now()}
        else:
            content = self._content(campaign, counts, view)
        return _Entry(time.monotonic(), counts, content)

    def _content(self, campaign: Campaign, counts: NDArray[np.int64], view: View) -> dict[str, Any]:
        reporter, least = campaign.reporter, campaign.rules.min_n
        n = int(counts.sum()) // reporter.width
        return {
            "campaign": campaign.name,
            "n": n,
            "min_n": least,
            "shown": n >= least,
            "confidence": view.confidence,
            "epsilon": reporter.epsilon,
            "as_of": now(),
            "questions": self.worker.ask(campaign.stored.spec, counts, view)
            if n >= least
            else dict.fromkeys(reporter.questions, NOTHING),
        }

    def forget(self, campaign: int) -> None:
        """Keep nothing that was computed about a campaign."""
        for name in [name for name in self._entries if name[0] == campaign]:
            del self._entries[name]

    def close(self) -> None:
        """End the process that computes."""
        self.worker.close()
