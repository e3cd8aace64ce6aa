"""The figures of the documentation are those of the committed results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import collector_load

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/run-a-collector.md").read_text()


def test_the_load_tables_are_those_of_the_results() -> None:
    known = json.loads(collector_load.RESULTS.read_text())
    for table in collector_load.tables(known):
        assert table in PAGE
    for kind in collector_load.STORES:
        binary = known[kind]["rates"]["rows"][-1]
        assert (binary["batch"], binary["form"]) == (1000, "binary")
        assert binary["reports_per_second"] >= 0.4 * binary["bare"]
        assert known[kind]["ten_million"]["reports"] >= 10**7


@pytest.mark.parametrize("name", ["collector_fuzz", "collector_crash"])
def test_the_other_tables_are_those_of_the_results(name: str) -> None:
    text = (ROOT / f"benchmarks/results/{name}.md").read_text()
    lines = [line for line in text.splitlines() if line.startswith("|")]
    wanted = lines if name == "collector_crash" else [lines[0], lines[1], lines[2], lines[6], lines[11]]
    assert "\n".join(wanted) in PAGE
