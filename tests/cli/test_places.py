"""Places on the command line: from a file of positions to a map."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("choice --options car,bike,train", "choice: share ±"),
        ("choice --options 1,2,3,4,5", ", mean ±"),
        ("pair --pair age=0:120 --pair hours=0:3", "one round: correlation ±"),
        ("place --place 0 4 0 2", "mean position ±"),
        ("choices --options news,games,music", "share ±"),
        ("group --options car,bike --domain 0 3", "mean of a group ±"),
    ],
)
def test_plans(arguments: str, says: str, typed: Run) -> None:
    code, out, _ = typed(f"plan {arguments} --epsilon 2 --people 5000")
    assert code == 0
    assert says in out
    code, out, _ = typed(f"plan {arguments} --epsilon 2 --people 5000 --json")
    assert json.loads(out)["options"]
    code, _, error = typed(f"plan {arguments.split()[0]} --epsilon 2 --people 5000")
    assert code != 0
    assert "say of what: --" in error


def test_from_a_file_to_a_map(tmp_path: Path, typed: Run) -> None:
    x = np.clip(np.random.default_rng(1).normal([2.0, 1.0], 0.3, (4000, 2)), 0, [4, 2])
    where = pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1)), 2)
    pq.write_table(pa.table({"where": where}), tmp_path / "people.parquet")
    reports = tmp_path / "reports.parquet"
    data = tmp_path / "people.parquet"
    done = typed(f"perturb {data} --column where --epsilon 4 --place 0 4 0 2 --output {reports}")
    assert done[0] == 0, done
    target = tmp_path / "map.geojson"
    code, out, _ = typed(f"estimate {reports} --json --confidence 0.999999 --output {target}")
    assert code == 0
    answer = json.loads(out)
    position, heatmap = answer["answers"]
    assert (position["question"], heatmap["picture"]) == ("position", "map")
    for estimate, truth in zip(position["numbers"], (2.0, 1.0), strict=True):
        assert estimate["low"] < truth < estimate["high"]
    assert json.loads(target.read_text())["type"] == "FeatureCollection"
