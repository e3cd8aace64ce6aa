"""The service: what all requests share. Campaigns are remembered for a second, tokens too."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, TypeVarTuple

from anyio import CapacityLimiter, to_thread
from cachetools import LRUCache, TTLCache

from sottovoce.collector import logs, tokens
from sottovoce.collector.campaigns import NAME, Campaign, read_reporter
from sottovoce.collector.counters import Counters
from sottovoce.collector.exports import Day
from sottovoce.collector.moments import day_number, now
from sottovoce.collector.rates import RateLimit
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.results_cache import ResultsCache
from sottovoce.collector.settings import Settings
from sottovoce.collector.store import Store, Unavailable
from sottovoce.collector.store.pool import KEEP
from sottovoce.collector.tokens import Scope
from sottovoce.collector.writer import Writer

_REMEMBER, _MOST = 1.0, 10_000
_UPKEEP_EVERY = 3600.0
_FLUSH_EVERY = 1.0
_TIDY_EVERY = 60.0
_PROBE_EVERY = 5.0
_EXPORT_ROOM = 1 << 25
#: How long a clock that has jumped must stand, in seconds of this process, before anything is deleted by it.
_PATIENCE = 86_400.0
_NAME = re.compile(NAME)
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


class Service:
    """A store, its writer, and what is kept in memory for a short while."""

    def __init__(self, store: Store, settings: Settings, secret: bytes) -> None:
        self.store, self.settings, self.secret = store.unlock(secret), settings, secret
        self.counters = Counters()
        self.limit = RateLimit(settings.rate, settings.burst)
        self.writer = Writer(store, settings.max_waiting, self.counters.transaction)
        self.results = ResultsCache(store, settings.max_estimates, settings.estimate_seconds)
        self.exporting = asyncio.Lock()
        self.connections: Counter[str] = Counter()
        self.stopping = asyncio.Event()
        self._threads = CapacityLimiter(8)
        self._day_counts: LRUCache[tuple[int, int, int], Day] = LRUCache(
            _EXPORT_ROOM, lambda day: day[1].nbytes + day[2].nbytes
        )
        self._probing, self._probed = asyncio.Lock(), float("-inf")
        self._jumped: float | None = None
        self._campaigns: TTLCache[str, Campaign] = TTLCache(_MOST, _REMEMBER)
        self._scopes: TTLCache[bytes, Scope] = TTLCache(_MOST, _REMEMBER)
        self._numbers: dict[str, int] = {}
        self._refusals: Counter[tuple[int, int, str]] = Counter()
        self._lock, self._flushing = threading.Lock(), threading.Lock()

    async def ask(self, function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """A question to the store, asked from a thread."""
        return await to_thread.run_sync(function, *arguments, limiter=self._threads)

    async def healthy(self) -> None:
        """Raises unless the store can write; a few seconds' old success is enough, whoever asks."""
        async with self._probing:
            if time.monotonic() - self._probed >= _PROBE_EVERY:
                await self.ask(self.store.check)
                await self.ask(self.store.probe)
                self._probed = time.monotonic()

    def day_counts(self, campaign: int, day: int, reports: int) -> Day:
        """The counts of a day; read again only when the number of its reports has changed."""
        name = (campaign, day, reports)
        counts = self._day_counts.get(name)
        if counts is None:
            counts = (day, *self.store.day_counts(campaign, day))
            with suppress(ValueError):  # a day that is larger than all the room is not kept
                self._day_counts[name] = counts
        return counts

    # -- campaigns and tokens -----------------------------------------------------------------------------

    async def campaign(self, name: str) -> Campaign:
        """The campaign of a name, not older than a second; refused if there is none."""
        campaign = self._campaigns.get(name)
        if campaign is None:
            if not _NAME.fullmatch(name):  # such a name never reaches the database
                raise Refusal("unknown_campaign")
            campaign = self._campaigns[name] = await self.ask(self._read, name)
            self._numbers[name] = campaign.id
        return campaign

    def _read(self, name: str) -> Campaign:
        campaign = Campaign.of(self.store.campaign(name))
        read_reporter(campaign.stored.spec)  # here, in a thread: it may take a while
        return campaign

    def number(self, name: str) -> int | None:
        """The number of a campaign that was asked for before: an early refusal costs no query."""
        return self._numbers.get(name)

    def forget(self, campaign: Campaign) -> None:
        """Keep nothing in memory about a campaign that has changed or is gone."""
        self._campaigns.pop(campaign.name, None)
        self._numbers.pop(campaign.name, None)
        self.results.forget(campaign.id)

    async def scope(self, token: str) -> Scope:
        """What a token is good for; refused if it is unknown."""
        name = tokens.token_hash(token)
        scope = self._scopes.get(name)
        if scope is None:
            scope = self._scopes[name] = await self.ask(tokens.scope, self.store, token)
        return scope

    def forget_tokens(self) -> None:
        """Look every token up again."""
        self._scopes.clear()

    # -- refusals -----------------------------------------------------------------------------------------

    def refused(self, campaign: int | None, code: str) -> None:
        """Count a refusal; those of a campaign are written to the store soon after."""
        self.counters.refusals.labels(code).inc()
        if campaign is not None:
            with self._lock:
                self._refusals[campaign, day_number(now()), code] += 1

    def flush(self) -> None:
        """Write the refusals down."""
        with self._flushing:
            with self._lock:
                numbers, self._refusals = self._refusals, Counter()
            if numbers:
                try:
                    self.store.add_refusals(numbers)
                except Unavailable:
                    with self._lock:
                        self._refusals.update(numbers)

    def refusals(self, campaign: int) -> dict[str, int]:
        """How often each code was the reason of a refusal, up to now."""
        with self._flushing:  # what is being written is in neither place
            total = Counter(self.store.refusals(campaign))
            with self._lock:
                for (owner, _, code), number in self._refusals.items():
                    if owner == campaign:
                        total[code] += number
        return dict(sorted(total.items()))

    # -- upkeep -------------------------------------------------------------------------------------------

    def upkeep(self) -> None:
        """Forget what has to be forgotten, unless the clock is in doubt."""
        today = day_number(now())
        if not self._trusted(today):
            logs.event("clock_jumped", level=logging.ERROR)
            return
        self.store.note("day", str(today))
        every = map(Campaign.of, self.store.campaigns())
        retention = {c.id: c.rules.retention_days for c in every if c.rules.retention_days is not None}
        self.store.expire(today, retention)

    def _trusted(self, today: int) -> bool:
        """Whether the store saw yesterday; after a pause, or a jump of the clock, a day has to pass first."""
        if today <= int(self.store.fact("day", str(today))) + 1:
            self._jumped = None
            return True
        if self._jumped is None:
            self._jumped = time.monotonic()
        return time.monotonic() - self._jumped >= _PATIENCE

    def tidy(self) -> None:
        """Publish the rest of campaigns that are closed, and remove traces of the order in which things came.

        At least `KEEP` reports are published at once; a smaller campaign's on the day after.
        """
        moment = now()
        for campaign in map(Campaign.of, self.store.campaigns()):
            closes = campaign.rules.closes
            if closes is not None and closes <= moment:
                over = day_number(closes) < day_number(moment)
                self.store.settle(campaign.id, 1 if over else KEEP)
        self.store.tidy()

    async def run(self) -> None:
        """Upkeep until the service is told to stop."""
        upkeep = tidied = float("-inf")
        while not self.stopping.is_set():
            clock = time.monotonic()
            try:
                await to_thread.run_sync(self.flush)
                if clock - upkeep >= _UPKEEP_EVERY:
                    await to_thread.run_sync(self.upkeep)
                    upkeep = clock
                if clock - tidied >= _TIDY_EVERY:
                    await to_thread.run_sync(self.tidy)
                    tidied = clock
            except Unavailable:
                logs.event("store_unavailable", level=logging.WARNING)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), _FLUSH_EVERY)

    def close(self) -> None:
        """Store what waits, stop what runs, close the store."""
        self.writer.close()
        self.results.close()
        self.flush()
        try:
            self.store.tidy()
        except Unavailable:
            logs.event("store_unavailable", level=logging.WARNING)
        self.store.close()
