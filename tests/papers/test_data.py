"""MotionSense from a folder, the stand-in, the weather; and the simulated collector."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from papers.data import motionsense, stand_in, weather
from papers.raw_reports import BINS, simulate_raw

import sottovoce as sv


def write(folder: Path, name: str, rows: list[tuple[float, float]], head: str = "") -> None:
    lines = [head or ",attitude.roll,gravity.x,userAcceleration.x"]
    lines += [f"{i},{roll},0.5,{acceleration}" for i, (acceleration, roll) in enumerate(rows)]
    (folder / name).write_text("\n".join(lines) + "\n")


def test_motionsense_is_read_by_column_name(tmp_path: Path) -> None:
    write(tmp_path, "sub_1.csv", [(-1.0, 0.5), (0.0, -0.5)])
    write(tmp_path, "sub_2.csv", [(3.0, math.pi)])
    write(tmp_path, "sub_3.csv", [(1.0, 1.0)])
    sample = motionsense(tmp_path, 1)
    np.testing.assert_allclose(sample.linear, [0.0, 0.25, 1.0, 0.5])
    np.testing.assert_allclose(sample.angles, [0.5, 2 * math.pi - 0.5, math.pi, 1.0])
    assert sample.name == "MotionSense, 4 rows (the paper's files have 6159)"


def test_missing_files_and_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"sub_1\.csv.*missing"):
        motionsense(tmp_path, 1)
    for name in ("sub_1.csv", "sub_2.csv", "sub_3.csv"):
        write(tmp_path, name, [(0.0, 0.0)], head=",attitude.yaw,gravity.x,userAcceleration.x")
    with pytest.raises(ValueError, match=r"sub_1\.csv must have the columns .*missing: \['attitude\.roll'\]"):
        motionsense(tmp_path, 2)


def test_the_stand_in_says_so() -> None:
    sample = motionsense(None, 5)
    assert sample.name.startswith("SYNTHETIC")
    assert len(sample.linear) == len(sample.angles) == 6159
    assert sample.linear.min() == 0
    assert sample.linear.max() == 1
    assert (sample.angles >= 0).all()
    assert (sample.angles < 2 * math.pi).all()
    np.testing.assert_array_equal(stand_in(5).linear, sample.linear)
    assert not np.array_equal(stand_in(6).linear, sample.linear)


def test_weather_is_real() -> None:
    sample = weather()
    assert sample is not None
    assert len(sample.linear) > 20_000
    assert 0.5 < sample.linear.mean() < 0.75  # New York's humidity
    assert (np.histogram(sample.angles, 50)[0] > 0).all()


def test_simulated_campaigns_against_the_plain_way() -> None:
    """The batched simulation and the definition, on the same reports."""
    m, values = sv.ogpm(2.0, loss="l1", cells=512), np.random.default_rng(1).beta(5, 2, 700)
    found = simulate_raw(m, values, 30, np.random.default_rng(7), circular=False)
    rng = np.random.default_rng(7)
    reports = np.concatenate([m.perturb(np.tile(values, n), rng=rng).reshape(n, -1) for n in (25, 5)])
    truth = np.histogram(values, BINS, (0, 1))[0]
    gaps = [np.histogram(row, BINS, (0, 1))[0] - truth for row in reports]
    assert found.distribution == pytest.approx(np.mean([np.abs(gap).sum() / 700 for gap in gaps]), rel=1e-9)
    assert found.mean == pytest.approx(np.abs(reports.mean(axis=1) - values.mean()).mean(), rel=1e-9)
    coarse = np.histogram(values, BINS - 1, (0, 1))[0]
    norms = [np.linalg.norm(np.histogram(row, BINS - 1, (0, 1))[0] - coarse) for row in reports]
    assert found.scripted == pytest.approx(np.mean(norms), rel=1e-9)


def test_circular_means_take_the_shorter_way() -> None:
    """Angles around 0 = 2π: an arithmetic mean would be off by π."""
    m = sv.ogpm(6.0, sv.Circle(), "l1", cells=2048)
    values = np.mod(np.random.default_rng(2).normal(0, 0.2, 2000), 2 * math.pi)
    found = simulate_raw(m, values, 20, np.random.default_rng(3), circular=True)
    assert found.mean < 0.02
