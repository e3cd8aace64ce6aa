"""The service: what all requests share. Campaigns are remembered for a second, tokens too."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar, TypeVarTuple

from anyio import CapacityLimiter, to_thread
from cachetools import LRUCache, TTLCache

from sottovoce.collector import logs
from sottovoce.collector.campaigns import tokens
from sottovoce.collector.campaigns.campaign import Campaign, read_reporter
from sottovoce.collector.campaigns.clock import beginning, day_number, day_text, now
from sottovoce.collector.campaigns.declaration import NAME
from sottovoce.collector.campaigns.tokens import Scope
from sottovoce.collector.http.address_limits import Group, RateLimit
from sottovoce.collector.metrics_endpoint import Counters
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.results.counts_export import Day
from sottovoce.collector.results.results_cache import ResultsCache
from sottovoce.collector.settings import Settings
from sottovoce.collector.store import Store, Unavailable
from sottovoce.collector.store.last_day import Unconfirmed
from sottovoce.collector.store.pool import KEEP
from sottovoce.collector.store.writer import Writer
from sottovoce.collector.upkeep.balanced_counts import wrong_days

_REMEMBER, _MOST = 1.0, 10_000
_UPKEEP_EVERY = 3600.0
_FLUSH_EVERY = 1.0
_TIDY_EVERY = 60.0
_PROBE_EVERY = 5.0
_EXPORT_ROOM = 1 << 25
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
        self.stopping = asyncio.Event()
        self._threads = CapacityLimiter(8)
        self._day_counts: LRUCache[tuple[int, int, int], Day] = LRUCache(
            _EXPORT_ROOM, lambda day: day[1].nbytes + day[2].nbytes
        )
        self.wrong_days: int | None = None
        self._right: dict[tuple[int, int], int] = {}
        self._probing, self._probed = asyncio.Lock(), float("-inf")
        self._groups: dict[int, Group] = {}
        self._campaigns: TTLCache[str, Campaign] = TTLCache(_MOST, _REMEMBER)
        self._scopes: TTLCache[bytes, Scope] = TTLCache(_MOST, _REMEMBER)
        self._numbers: dict[str, int] = {}
        self._refusals: Counter[tuple[int, int, str]] = Counter()
        self._lock, self._flushing = threading.Lock(), threading.Lock()
        self._day = 0
        self.today(now())

    async def ask(self, function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
        """A question to the store, asked from a thread."""
        return await to_thread.run_sync(function, *arguments, limiter=self._threads)

    async def healthy(self) -> None:
        """Raises unless the store can write, and goes by the clock.

        A few seconds' old success is enough, whoever asks.
        """
        async with self._probing:
            if time.monotonic() - self._probed >= _PROBE_EVERY:
                await self.ask(self.store.check)
                await self.ask(self.store.probe)
                await self.ask(self.store.today, day_number(now()))
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

    async def group(self, campaign: Campaign) -> Group | None:
        """The group of an open campaign to which what is stored from now on belongs; others have none."""
        if campaign.rules.collection == "open" and campaign.id not in self._groups:
            self._groups.setdefault(campaign.id, await self.ask(self._begun, campaign.id))
        return self._groups.get(campaign.id)

    def _begun(self, campaign: int) -> Group:
        return Group(sum(number for _, number in self.store.days(campaign)), self._day)

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
                self._refusals[campaign, self._day, code] += 1

    def flush(self) -> None:
        """Write the refusals down."""
        with self._flushing:
            with self._lock:
                numbers, self._refusals = self._refusals, Counter()
            if numbers:
                try:
                    self.store.add_refusals(numbers)
                except Exception:
                    with self._lock:
                        self._refusals.update(numbers)
                    raise

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

    def today(self, moment: dt.datetime) -> int | None:
        """The store's day; None if the clock is in doubt. Asked every minute: days pass without reports."""
        before, clock = self._day, day_number(moment)
        try:
            self._day = self.store.today(clock)
        except Unconfirmed as doubt:
            self._day = doubt.last
            logs.event(doubt.code, {"reason": str(doubt)}, level=logging.ERROR)
            return None
        if self._day < before:  # it was taken back: other counts may now come under a day that was known
            self._day_counts.clear()
        if clock < self._day - 1:
            days = {"clock": day_text(clock), "last_day": day_text(self._day)}
            logs.event("clock_behind", days, level=logging.ERROR)
        return self._day

    def not_before(self, moment: dt.datetime) -> dt.datetime:
        """A moment, or the beginning of the store's day if the clock is behind that."""
        return max(moment, beginning(self._day))

    def upkeep(self) -> None:
        """Forget what has to be forgotten, unless the clock is in doubt."""
        every = map(Campaign.of, self.store.campaigns())
        retention = {c.id: c.rules.retention_days for c in every if c.rules.retention_days is not None}
        clock = now()
        if self.today(clock) is not None:
            self.store.expire(day_number(clock), retention)

    def tidy(self) -> None:
        """Publish the rest of closed campaigns and groups of open ones; remove traces of who came when.

        At least `KEEP` reports are published at once; a smaller campaign's on the day after.
        """
        clock = now()  # asked once: it may jump before it is asked again
        today, moment = self.today(clock), self.not_before(clock)
        for campaign in map(Campaign.of, self.store.campaigns() if today is not None else ()):
            closes = campaign.rules.closes
            if closes is not None and closes <= moment:
                over = day_number(closes) < day_number(moment)
                self.store.settle(campaign.id, 1 if over else KEEP)
            elif campaign.rules.collection == "open":
                self._publish(campaign)
        self.store.tidy()

    def _publish(self, campaign: Campaign) -> None:
        """Publish the group of an open campaign if it is due.

        A new one begins then, when another collector has published, or reports of it may be deleted.
        """
        group = self._groups.get(campaign.id)
        if group is None:  # nobody has reported anything
            return
        retention = campaign.rules.retention_days
        kept = retention is None or group.day > self._day - retention
        if kept and group.due:
            self.store.settle(campaign.id, KEEP, group.published)
        now = self._begun(campaign.id)
        if not kept or group.published != now.published:
            self._groups[campaign.id] = now

    def add_up(self) -> None:
        """See whether the counts of every day add up; of those that did, only if they have changed."""
        wrong = wrong_days(self.store, self._right, self.stopping.is_set)
        self.wrong_days = len(wrong)
        self.counters.wrong_days.set(len(wrong))
        if wrong:
            logs.event("counts_wrong", {"days": len(wrong)}, level=logging.ERROR)

    async def run(self) -> None:
        """Upkeep until the service is told to stop; adding up may take long, and holds up nothing else."""
        upkeep = {self.flush: _FLUSH_EVERY, self.upkeep: _UPKEEP_EVERY, self.tidy: _TIDY_EVERY}
        await asyncio.gather(self._repeat(upkeep), self._repeat({self.add_up: _UPKEEP_EVERY}))

    async def _repeat(self, jobs: Mapping[Callable[[], None], float]) -> None:
        """Do each job every so many seconds; a failure of one stops no other."""
        done = dict.fromkeys(jobs, float("-inf"))
        while not self.stopping.is_set():
            clock = time.monotonic()
            for job in [job for job, every in jobs.items() if clock - done[job] >= every]:
                try:
                    await to_thread.run_sync(job)
                    done[job] = clock
                except Refusal as refusal:  # the store is away, or the clock has just jumped
                    logs.event(refusal.code, level=logging.WARNING)
                except Exception:
                    done[job] = clock
                    logs.logger.exception("upkeep_failed", extra={"fields": {"job": job.__name__}})
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), _FLUSH_EVERY)

    def close(self) -> None:
        """Store what waits, stop what runs, close the store."""
        self.writer.close()
        self.results.close()
        try:
            self.flush()
            self.store.tidy()
        except Unavailable:
            logs.event("store_unavailable", level=logging.WARNING)
        finally:
            self.store.close()
