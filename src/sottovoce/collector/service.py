"""The service: what all requests share. Campaigns are remembered for a second, write tokens too."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request

from sottovoce.collector import campaigns, logs, tokens
from sottovoce.collector.campaigns import Campaign
from sottovoce.collector.estimates import Estimates
from sottovoce.collector.limits import RateLimit
from sottovoce.collector.metrics import Metrics
from sottovoce.collector.problems import Refusal
from sottovoce.collector.settings import Settings
from sottovoce.collector.store import Store, Unavailable
from sottovoce.collector.store.schema import day_number
from sottovoce.collector.writer import Writer

_REMEMBER = 1.0
_UPKEEP_EVERY = 3600.0
_FLUSH_EVERY = 1.0
_TIDY_EVERY = 60.0
_NAME = re.compile(campaigns.NAME)
_REPORTS = re.compile(r"^/v1/campaigns/([^/]{1,63})/reports$")
Result = TypeVar("Result")


class Service:
    """A store, its writer, and what is kept in memory for a short while."""

    def __init__(self, store: Store, settings: Settings, secret: bytes) -> None:
        self.data, self.settings, self.secret = store, settings, secret
        self.metrics = Metrics()
        self.limit = RateLimit(settings.rate, settings.burst)
        self.writer = Writer(store, settings.max_waiting, self.metrics.transaction)
        self.estimates = Estimates(store)
        self._threads = CapacityLimiter(8)
        self._campaigns: dict[str, tuple[float, Campaign]] = {}
        self._scopes: dict[bytes, tuple[float, tuple[int, str]]] = {}
        self._refusals: Counter[tuple[int, int, str]] = Counter()
        self._lock, self._flushing = threading.Lock(), threading.Lock()

    async def ask(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """A question to the store, asked from a thread."""
        try:
            return await to_thread.run_sync(function, *arguments, limiter=self._threads)
        except Unavailable:
            raise Refusal("store_unavailable", retry_after=5) from None

    # -- campaigns and tokens -----------------------------------------------------------------------------

    async def campaign(self, name: str) -> Campaign:
        known = self._campaigns.get(name)
        if known is not None and time.monotonic() - known[0] < _REMEMBER:
            return known[1]
        # A name that breaks the pattern never reaches the database.
        stored = await self.ask(self.data.campaign, name) if _NAME.match(name) else None
        if stored is None:
            self._campaigns.pop(name, None)
            raise Refusal("unknown_campaign")
        campaign = known[1] if known is not None and known[1].stored == stored else Campaign.of(stored)
        await self.ask(lambda: campaign.mechanism)
        self._campaigns[name] = (time.monotonic(), campaign)
        return campaign

    def forget(self, name: str) -> None:
        self._campaigns.pop(name, None)

    async def scope(self, request: Request) -> tuple[int, str] | None:
        """(campaign, kind) of the request's token; None without one."""
        token = tokens.from_header(request.headers.get("authorization"))
        if token is None:
            return None
        name = tokens.token_hash(token)
        known = self._scopes.get(name)
        if known is not None and time.monotonic() - known[0] < _REMEMBER:
            return known[1]
        found = await self.ask(tokens.scope, self.data, token)
        if len(self._scopes) > 10_000:
            self._scopes.clear()
        self._scopes[name] = (time.monotonic(), found)
        return found

    async def require_admin(self, request: Request) -> None:
        found = await self.scope(request)
        if found is None:
            raise Refusal("bad_token", field="Authorization")
        if found[1] != "admin":
            raise Refusal("wrong_scope", field="Authorization")

    async def require_reader(self, request: Request, campaign: Campaign) -> None:
        """Results: public ones for everybody, others for a read token of the campaign or an administrator."""
        if campaign.settings["results"] == "public":
            return
        found = await self.scope(request)
        if found is None:
            raise Refusal("bad_token", field="Authorization")
        if found[1] != "admin" and found != (campaign.id, "read"):
            raise Refusal("wrong_scope", field="Authorization")

    # -- refusals -----------------------------------------------------------------------------------------

    def refused(self, campaign: int | None, code: str) -> None:
        """Count a refusal; those of a campaign are written to the store soon after."""
        self.metrics.refusals.labels(code).inc()
        if campaign is not None:
            with self._lock:
                self._refusals[campaign, day_number(campaigns.now()), code] += 1

    def reported_to(self, path: str) -> int | None:
        """The campaign whose reports a path names, if it is in memory: an early refusal costs no query."""
        found = _REPORTS.match(path)
        known = self._campaigns.get(found[1]) if found else None
        return None if known is None else known[1].id

    def flush(self) -> None:
        """Write the refusals down; whoever reads them meanwhile waits, and misses none."""
        with self._flushing:
            with self._lock:
                taken, self._refusals = self._refusals, Counter()
            if taken:
                try:
                    self.data.add_refusals(taken)
                except Unavailable:
                    with self._lock:
                        self._refusals.update(taken)

    def refusals(self, campaign: int) -> dict[str, int]:
        self.flush()
        total = Counter(self.data.refusals(campaign))
        with self._lock:
            for (owner, _, code), number in self._refusals.items():
                if owner == campaign:
                    total[code] += number
        return dict(sorted(total.items()))

    # -- upkeep -------------------------------------------------------------------------------------------

    def upkeep(self) -> None:
        """Forget what has to be forgotten."""
        found = [Campaign.of(stored) for stored in self.data.campaigns()]
        kept = {c.id: c.settings["retention_days"] for c in found if c.settings["retention_days"] is not None}
        self.data.expire(day_number(campaigns.now()), kept)
        self.data.tidy()

    async def run(self) -> None:
        """Upkeep for as long as the service runs."""
        upkeep = tidied = float("-inf")
        while True:
            now = time.monotonic()
            try:
                await to_thread.run_sync(self.flush)
                if now - upkeep >= _UPKEEP_EVERY:
                    await to_thread.run_sync(self.upkeep)
                    upkeep = tidied = now
                elif now - tidied >= _TIDY_EVERY:
                    await to_thread.run_sync(self.data.tidy)
                    tidied = now
            except Unavailable:
                logs.event("store_unavailable", level=30)
            await asyncio.sleep(_FLUSH_EVERY)

    def close(self) -> None:
        self.writer.close()
        self.estimates.close()
        self.flush()
        try:
            self.data.tidy()
        except Unavailable:
            logs.event("store_unavailable", level=30)
        self.data.close()
