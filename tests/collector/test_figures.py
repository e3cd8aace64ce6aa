"""The figures of the documentation are those of the committed results, and they are good enough."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks._tables import table_in

from benchmarks import (
    collector_attacks,
    collector_crash,
    collector_disk,
    collector_fuzz,
    collector_load,
    collector_rates,
)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/measurements/collector.md").read_text()


def test_the_load_tables_are_those_of_the_results() -> None:
    known = json.loads(collector_load.RESULTS.read_text())
    for table in collector_load.tables(known):
        assert table in PAGE
    for kind in collector_load.STORES:
        for version in ("0.1.0", "now"):
            parts = known[version].get(kind, {})
            if "rates" in parts:
                binary = parts["rates"]["rows"][-1]
                assert (binary["batch"], binary["form"]) == (1000, "binary")
                assert binary["reports_per_second"] >= 0.4 * binary["bare"]
        surveys = known["now"][kind]["survey"]["rows"]
        assert min(row["answers_ratio"] for row in surveys) >= 0.7
        assert known["0.1.0"][kind]["ten_million"]["reports"] >= 10**7


def test_no_rate_is_below_that_of_the_version_before() -> None:
    known = json.loads(collector_rates.RESULTS.read_text())
    assert collector_rates.table(known) in PAGE
    assert collector_rates.capacity(known) == table_in(ROOT / "docs/operations/capacity.md", "capacity")
    rows = [row for kind in collector_load.STORES for row in known[kind]]
    assert len(rows) == 2 * len(collector_rates.CASES)
    polled = [row for kind in collector_load.STORES for row in known["polled"][kind]]
    assert min(row["ratio"] for row in rows + polled) >= 0.95


def test_memory_is_flat_under_attack() -> None:
    assert collector_attacks.table() in PAGE
    now = json.loads(collector_attacks.RESULTS.read_text())["now"]
    assert len(now) == len(collector_attacks.ATTACKS)
    assert all(after <= before + 4 for before, after, _ in now.values())


def test_a_full_disk() -> None:
    known = json.loads(collector_disk.RESULTS.read_text())
    assert collector_disk.table(known) in PAGE
    for kind in collector_load.STORES:
        for row in known[kind].values():
            assert row["other"] == 0
            assert row["stored"] == collector_disk.BATCH * row["acknowledged"]


def test_kills_and_broken_requests() -> None:
    assert collector_crash.table() in PAGE
    for kind in collector_load.STORES:
        total = collector_crash.RESULTS.total(kind)
        assert total["kills"] >= 300
        assert total["of_the_server"] == (60 if kind == "postgresql" else 0)
        faults = "lost", "partial", "twice", "of_another_campaign", "wrong_days"
        assert [total[fault] for fault in faults] == [0] * len(faults)
    assert collector_fuzz.table() in PAGE
    assert collector_fuzz.RESULTS.total("parts")["requests"] >= 10**6
    for part in collector_fuzz.RESULTS.read("parts"):
        assert max(part["memory_mb"]) <= part["memory_mb"][0] + 4
