"""Kill −9 under load, a few times on each store; benchmarks/collector_crash.py does it hundreds of times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.collector.cluster import Cluster
from tests.collector.crash import CELLS, EACH, MECHANISM, SURVEY, Load, crash, judge

from sottovoce.core.reporter import Reporter


@pytest.mark.parametrize("reporter", [MECHANISM, SURVEY], ids=["number", "survey"])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nothing_acknowledged_is_lost_halved_or_doubled(
    kind: str, reporter: Reporter, tmp_path: Path, cluster: Cluster
) -> None:
    store = str(tmp_path / "store.db") if kind == "sqlite" else cluster.database()
    server = cluster if kind == "postgresql" else None
    result = crash(store, tmp_path, kills=5, clients=4, cluster=server, reporter=reporter)
    assert result.kills == 5
    assert result.acknowledged > 15
    assert result.faults == 0


@pytest.mark.parametrize(("change", "fault"), [(-1, "partial"), (-EACH, "partial"), (EACH, "twice")])
def test_the_judge_sees_each_fault(change: int, fault: str) -> None:
    counts = np.zeros((CELLS // 2, 2), dtype=np.int64)
    counts[:3] = EACH
    load = Load(0, next=4, acknowledged={0, 1})
    clean = judge(load, counts, 0)
    assert (clean.faults, clean.stored_unacknowledged) == (0, 1)
    counts[1, 0] += change
    result = judge(load, counts, 0)
    assert getattr(result, fault) == 1
    assert result.lost == 1
