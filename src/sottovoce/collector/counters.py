"""Prometheus metrics of one service: totals only, nothing per campaign or person."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

_TIMES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Counters:
    """What Prometheus reads; a registry for each service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"sottovoce_{name}", text, labels, registry=self.registry)

        self.reports = counter("reports", "Reports stored.")
        self.batches = counter("batches", "Batches stored.")
        self.replays = counter("replays", "Batches that were already stored.")
        self.refusals = counter("refusals", "Requests refused, by code.", "code")
        self.group = Histogram(
            "sottovoce_group_batches",
            "Batches that shared one transaction.",
            buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
            registry=self.registry,
        )
        self.commit = Histogram(
            "sottovoce_commit_seconds", "Time of a transaction.", buckets=_TIMES, registry=self.registry
        )
        self.requests = Histogram(
            "sottovoce_request_seconds",
            "Time of a request.",
            ("method", "status"),
            buckets=_TIMES,
            registry=self.registry,
        )

    def transaction(self, batches: int, seconds: float) -> None:
        """Note a group of batches that shared a transaction of so many seconds."""
        self.group.observe(batches)
        self.commit.observe(seconds)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)
