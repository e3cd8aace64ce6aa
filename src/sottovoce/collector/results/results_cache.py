"""Results of campaigns, computed in another process and kept for a moment.

Whoever asks again within two seconds gets the same results, or for longer where computing them took so long
that it would take more than a fifth of a core from those who send reports; within a minute the last ones at
once while new ones are computed; while nothing new is published, nothing is computed at all. Many dashboards
cost as much as one, and polling does not wait for a solver. What waits to be computed is bounded, and dropped
when everybody who asked for it has gone; what dashboards show unless told otherwise always has a place.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from anyio import to_thread
from cachetools import LRUCache
from numpy.typing import NDArray

from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.campaigns.clock import day_text, now
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.results.over_time import MOST_DAYS
from sottovoce.collector.results.results import NOTHING, View
from sottovoce.collector.results.worker import Named, Worker
from sottovoce.collector.store import Store

_FRESH, _STALE, _MOST = 2.0, 60.0, 64
_REST = 4.0  # seconds without computing for each that it took, at most a sixth of `_STALE`
_Name = tuple[int, View]
_USUAL = View()


@dataclass(frozen=True)
class _Entry:
    computed: float
    days: list[list[tuple[int, int]]]  # of what was published then, by it and by its family
    content: dict[str, Any]
    used: float = 0.0  # seconds of computing


@dataclass
class _Job:
    task: asyncio.Task[_Entry] = field(init=False)
    waiting: int = 0
    begun: bool = False


class ResultsCache:
    """Results by campaign and view, from the counts of a store."""

    def __init__(self, store: Store, waiting: int, seconds: float) -> None:
        self._store, self._waiting = store, waiting
        self.worker = Worker(seconds)
        self._entries: LRUCache[_Name, _Entry] = LRUCache(_MOST)
        self._jobs: dict[_Name, _Job] = {}
        self._turn = asyncio.Lock()  # one estimate at a time: the other core stores reports

    async def get(self, campaign: Campaign, view: View) -> dict[str, Any]:
        """What `api.result_schemas.ResultsShape` describes, at most a minute old. Leaving cancels it."""
        name = (campaign.id, view)
        entry = self._entries.get(name)
        age = float("inf") if entry is None else time.monotonic() - entry.computed
        if entry is not None and age < min(max(_FRESH, _REST * entry.used), _STALE / 6):
            return entry.content
        job = self._job(campaign, view, entry)
        if entry is not None and age < _STALE:
            return entry.content
        job.waiting += 1
        try:
            return (await asyncio.shield(job.task)).content
        finally:
            job.waiting -= 1
            if job.waiting == 0 and not job.begun:
                self._forget_job(name, job.task)  # now: nobody who comes shall wait for it
                job.task.cancel()

    def _job(self, campaign: Campaign, view: View, entry: _Entry | None) -> _Job:
        name = (campaign.id, view)
        if name not in self._jobs:
            if len(self._jobs) >= self._waiting and view != _USUAL:
                raise Refusal("busy", "too many questions wait for their estimates", retry_after=5)
            job = self._jobs[name] = _Job()
            job.task = asyncio.create_task(self._refresh(job, campaign, view, entry))
            job.task.add_done_callback(lambda done: self._finished(name, done))
        return self._jobs[name]

    async def _refresh(self, job: _Job, campaign: Campaign, view: View, before: _Entry | None) -> _Entry:
        async with self._turn:
            job.begun = True
            entry = await to_thread.run_sync(self._compute, campaign, view, before)
        if self._jobs.get((campaign.id, view)) is job:  # else the campaign was forgotten meanwhile
            self._entries[campaign.id, view] = entry
        return entry

    def _forget_job(self, name: _Name, task: asyncio.Task[_Entry]) -> None:
        if name in self._jobs and self._jobs[name].task is task:
            del self._jobs[name]

    def _finished(self, name: _Name, task: asyncio.Task[_Entry]) -> None:
        self._forget_job(name, task)
        if not task.cancelled():
            task.exception()  # retrieved here even when nobody waits any more

    def _compute(self, campaign: Campaign, view: View, before: _Entry | None) -> _Entry:
        family = self._family(campaign)
        days = [self._store.days(one.id) for one in (campaign, *family)]
        if before is not None and before.days == days:
            return _Entry(time.monotonic(), days, {**before.content, "as_of": now()})
        latest = self._days(campaign, days[0][-MOST_DAYS:])
        if len(latest) == len(days[0]):
            counts = np.zeros(campaign.reporter.cells, dtype=np.int64)
            for *_, (cells, numbers) in latest:
                counts[cells] += numbers
        else:
            counts = self._store.counts(campaign.id, campaign.reporter.cells)
        content = self._content(campaign, counts, view, latest, family)
        return _Entry(time.monotonic(), days, content, self.worker.used if content["shown"] else 0.0)

    def _family(self, campaign: Campaign) -> list[Campaign]:
        """The public campaigns of its family, itself among them if it is one."""
        if not campaign.rules.family:
            return []
        every = sorted(map(Campaign.of, self._store.campaigns()), key=lambda one: one.name)
        return [c for c in every if (c.rules.family, c.rules.results) == (campaign.rules.family, "public")]

    def _days(self, campaign: Campaign, days: list[tuple[int, int]]) -> list[Named]:
        """What is published under each day."""
        counts = ((day, self._store.day_counts(campaign.id, day)) for day, _ in days)
        return [(day_text(day), campaign.stored.spec, np.stack(cells)) for day, cells in counts]

    def _groups(self, family: list[Campaign]) -> list[Named]:
        """What is published by each campaign of a family that shows its results."""
        groups = []
        for one in family:
            group = self._published(one, one.name)
            if int(group[2][1].sum()) >= one.rules.min_n * one.reporter.width:
                groups.append(group)
        return groups

    def _earlier(self, campaign: Campaign) -> list[Named]:
        """What the first round has published, if this is the second."""
        this = campaign.rules.rounds
        if this is None or this.number == 1:
            return []
        try:
            first = Campaign.of(self._store.campaign(this.first))
        except Refusal:  # deleted: then the second speaks for itself
            return []
        return [self._published(first, this.model_dump_json())]

    def _published(self, campaign: Campaign, name: str) -> Named:
        """What a campaign has published, under a name."""
        counts = self._store.counts(campaign.id, campaign.reporter.cells)
        cells = np.flatnonzero(counts)
        return name, campaign.stored.spec, np.stack((cells, counts[cells]))

    def _content(
        self,
        campaign: Campaign,
        counts: NDArray[np.int64],
        view: View,
        days: list[Named],
        family: list[Campaign],
    ) -> dict[str, Any]:
        reporter, least = campaign.reporter, campaign.rules.min_n
        n = int(counts.sum()) // reporter.width
        if n >= least:
            groups, earlier = self._groups(family), self._earlier(campaign)
            known = self.worker.ask(campaign.stored.spec, counts, view, days, groups, earlier)
        else:
            known = NOTHING
        return {
            "campaign": campaign.name,
            "n": n,
            "min_n": least,
            "shown": n >= least,
            "confidence": view.confidence,
            "epsilon": reporter.epsilon,
            "as_of": now(),
            **known,
        }

    def forget(self, campaign: int) -> None:
        """Keep nothing that was computed about a campaign."""
        kept: tuple[MutableMapping[_Name, Any], ...] = self._entries, self._jobs
        for things in kept:  # who waits for a job still hears of it
            for name in [name for name in things if name[0] == campaign]:
                del things[name]

    def close(self) -> None:
        """End the process that computes."""
        self.worker.close()
