"""sottovoce estimate --by … --compare, --pairs, --trend: what the library says, from files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.cli.conftest import Run

import sottovoce as sv
from sottovoce import bulk
from sottovoce.bulk.tables.labels import label


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Run) -> Run:
    monkeypatch.chdir(tmp_path)
    m, rng = sv.optimal(4.0, (0, 24)), np.random.default_rng(2)
    week = np.repeat(np.arange(6), 500)
    region = np.tile(["north", "south", "west"], 1000)
    hours = rng.beta(2, 5, 3000) * 18 + week / 2 + 3 * (region == "south")
    names = [f"2026-W{10 + w}" for w in week]
    table = pa.table({"region": region, "week": names, "hours": m.report(hours, rng=1)})
    field = table.schema.field("hours").with_metadata(label(m))
    parquet.write_table(table.cast(table.schema.set(2, field)), "reports.parquet")

    return typed


def test_groups_are_compared_as_in_the_library(run: Run) -> None:
    code, said, _ = run("estimate reports.parquet --by region --compare --output forest.png")
    assert code == 0
    assert Path("forest.png").stat().st_size > 5000
    groups = bulk.tally("reports.parquet", by="region")
    assert said == f"{sv.compare(groups)}\nwrote forest.png\n"
    assert "south: " in said
    assert "rank 1\n" in said
    code, said, _ = run("estimate reports.parquet --by region --pairs --json --output pairs.csv")
    assert code == 0
    content = json.loads(said)
    assert content == {"item": "", **sv.compare(groups, over="pairs").to_dict(), "treated": ""}
    assert len(Path("pairs.csv").read_text().splitlines()) == 4
    code, said, _ = run("estimate reports.parquet --by region --compare --range 0 12 --json")
    assert json.loads(said)["what"] == "probability of 0 to 12"


def test_a_trend_over_a_column(run: Run) -> None:
    code, said, _ = run("estimate reports.parquet --trend week --json --output trend.svg")
    assert code == 0
    assert "<svg" in Path("trend.svg").read_text()
    content = json.loads(said)
    assert content["per"] == "week"
    assert content["slope"]["low"] < 0.5 < content["slope"]["high"]
    assert [point["time"] for point in content["points"]] == [f"2026-W{10 + w}" for w in range(6)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--compare", "--by"),
        ("--by region --trend week", "--trend NAME alone"),
        ("--by region --compare --pairs", "--compare or --pairs"),
        ("--by region --compare --quantile 0.5 --range 0 12", "one number"),
        ("--trend region", "moment"),
        ("--trend week --sequential", "--sequential does not go with --trend"),
        ("--by region --compare --interval finite", "--interval does not go with --compare"),
        ("--by region --pairs --quick", "--quick does not go with --pairs"),
        ("--by region --compare --option north", "--option needs a choice: these reports are about numbers"),
        ("--by region --compare --output page.html", "--output must end in"),
        ("--option north", "--option goes with --compare"),
    ],
)
def test_mistakes(run: Run, line: str, words: str) -> None:
    code, _, said = run(f"estimate reports.parquet {line}")
    assert code != 0
    assert words in said
