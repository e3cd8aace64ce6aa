"""Prometheus metrics of one service: totals only, nothing per campaign or person.

What tells how many reports were stored is shown in steps: it changes when at least `STEP` more are there, so
that nobody who polls sees a single report arrive.
"""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_TIMES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


#: By how many reports at least the numbers about stored reports change.
STEP = 64


class Counters:
    """What Prometheus reads; registries for each service."""

    def __init__(self) -> None:
        self._live, self._stepwise = CollectorRegistry(), CollectorRegistry()

        def counter(name: str, text: str) -> Counter:
            return Counter(f"sottovoce_{name}", text, registry=self._stepwise)

        def histogram(name: str, text: str, buckets: Sequence[float]) -> Histogram:
            return Histogram(f"sottovoce_{name}", text, buckets=buckets, registry=self._stepwise)

        self.reports = counter("reports", "Reports stored.")
        self.batches = counter("batches", "Batches stored.")
        self.replays = counter("replays", "Batches that were already stored.")
        self.group = histogram("group_batches", "Batches that shared one transaction.", _SIZES)
        self.commit = histogram("commit_seconds", "Time of a transaction.", _TIMES)
        self.stored = histogram("stored_seconds", "Time of a request with reports that are stored.", _TIMES)
        self.refusals = Counter(
            "sottovoce_refusals", "Requests refused, by code.", ("code",), registry=self._live
        )
        self.requests = Histogram(
            "sottovoce_request_seconds",
            "Time of every other request.",
            ("method", "status"),
            buckets=_TIMES,
            registry=self._live,
        )
        self.wrong_days = Gauge(
            "sottovoce_wrong_days", "Days of campaigns whose counts do not add up.", registry=self._live
        )
        self.wrong_days.set(float("nan"))  # until they were added up
        self._total = self._shown = 0
        self._text = generate_latest(self._stepwise)

    def accepted(self, reports: int, *, replay: bool) -> None:
        """Note a batch that is stored, now or before."""
        if replay:
            self.replays.inc()
            return
        self.batches.inc()
        self.reports.inc(reports)
        self._total += reports

    def transaction(self, batches: int, seconds: float) -> None:
        """Note a group of batches that shared a transaction of so many seconds."""
        self.group.observe(batches)
        self.commit.observe(seconds)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        if self._total - self._shown >= STEP:
            self._shown, self._text = self._total, generate_latest(self._stepwise)
        return self._text + generate_latest(self._live)
