"""Kill −9 under load, a few times on each store; benchmarks/collector_crash.py does it hundreds of times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.collector.cluster import Cluster
from tests.collector.crash import KINDS, Sent, crash, judge


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nothing_acknowledged_is_lost_halved_doubled_or_counted_elsewhere(
    kind: str, tmp_path: Path, cluster: Cluster
) -> None:
    store = str(tmp_path / "store.db") if kind == "sqlite" else cluster.database()
    server = cluster if kind == "postgresql" else None
    result = crash(store, tmp_path, kills=10, cluster=server)
    assert (result.kills, result.of_the_server) == (10, 2 if server else 0)
    assert result.acknowledged > 30
    assert result.days == 2
    assert result.faults == 0, result


def counted(numbers: dict[str, set[int]]) -> list[np.ndarray]:
    """Counters after some batches of each campaign."""
    every = []
    for kind in KINDS:
        counts = np.zeros(1 << 20, dtype=np.int64)
        for number in numbers[kind.name]:
            counts[kind.reports(number)] += 1
        every.append(counts)
    return every


@pytest.mark.parametrize(
    ("name", "place", "change", "fault"),
    [
        ("number", "own", -1, "partial"),
        ("survey", "own", 1, "twice"),
        ("shared", "own", -1, "lost"),
        ("alike", "own", 1, "twice"),
        ("choice", "other", 1, "of_another_campaign"),
        ("open", "own", -1, "lost"),
        ("shared", "other", 1, "of_another_campaign"),
    ],
)
def test_the_judge_sees_each_fault(name: str, place: str, change: int, fault: str) -> None:
    acknowledged = {kind.name: {0, 1} for kind in KINDS}
    stored = {kind.name: {0, 1} if kind.shares else {0, 1, 2} for kind in KINDS}
    sent = {kind.name: Sent(2 if kind.shares else 4, acknowledged[kind.name]) for kind in KINDS}
    counts = counted(stored)
    clean = judge(sent, counts)
    assert clean.faults == 0
    assert clean.stored_unacknowledged == sum(not kind.shares for kind in KINDS)
    which = [kind.name for kind in KINDS].index(name)
    cell = KINDS[which].reports(1).ravel()[0] if place == "own" else (1 << 20) - 1
    counts[which][cell] += change
    result = judge(sent, counts)
    assert getattr(result, fault) == result.faults == 1
