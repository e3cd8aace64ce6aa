"""The folder that a run leaves: complete, resumable, the same bytes for the same seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from papers.findings import Finding, Result, Verdict
from papers.registry import Entry

from papers import Run, entries, reproduce, runner
from sottovoce.errors import MissingExtra

CHEAP = ("ogpm-figure-4", "ogpm-example-6-1")
QUICK = Run(quick=True)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    only = (*CHEAP, "hourglass-figure-4")
    for name in ("one", "two"):
        reproduce(tmp_path / name, QUICK, only=only)
    one, two = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert one == two
    assert {"ogpm-figure-4.png", "ogpm-figure-4.csv", "ogpm-figure-4.json", "report.html"} <= set(one)
    assert one["ogpm-figure-4.csv"].startswith(b"x,x = 0,x = 0.5\n0,1.648")
    report = one["report.html"].decode()
    assert "data:image/png;base64," in report
    assert "example 6.1: OGPM for data near" in report
    assert "synthetic stand-in for MotionSense" in report
    reproduce(tmp_path / "three", Run(quick=True, seed=1), only=("hourglass-figure-4",))
    assert contents(tmp_path / "three")["hourglass-figure-4.csv"] != one["hourglass-figure-4.csv"]


def test_finished_entries_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def fake(key: str, *, fails: bool = False) -> Entry:
        def make(run: Run) -> Result:
            made.append(key)
            if fails and made.count(key) == 1:
                raise RuntimeError("interrupted")
            return Result([Finding(key, "–", str(run.seed), Verdict.OURS)], {"": {"x": [1, 2]}})

        return Entry("ogpm", key, key, make)

    monkeypatch.setattr(runner, "entries", lambda: [fake("a"), fake("b", fails=True)])
    with pytest.raises(RuntimeError):
        reproduce(tmp_path, QUICK)
    assert not (tmp_path / "ogpm-b.json").exists()
    reproduce(tmp_path, QUICK)
    assert made == ["a", "b", "b"]  # a was kept, b begun again
    found = reproduce(tmp_path, QUICK)
    assert made == ["a", "b", "b"]
    assert [f.ours for _, findings in found for f in findings] == ["20250", "20250"]
    (tmp_path / "ogpm-a.csv").unlink()
    reproduce(tmp_path, QUICK)
    assert made[3:] == ["a"]  # a lost file is made again
    reproduce(tmp_path, Run(quick=True, seed=9))
    assert made[4:] == ["a", "b"]  # another seed is another run
    reproduce(tmp_path, Run(quick=True, seed=9), force=True)
    assert made[6:] == ["a", "b"]
    monkeypatch.setattr(runner, "_source", lambda: "changed")
    reproduce(tmp_path, Run(quick=True, seed=9))
    assert made[8:] == ["a", "b"]  # so is other source code


def test_data_belong_to_the_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "sub_1.csv").write_text("a\n1\n")
    first = runner.fingerprint(Run(motionsense=tmp_path))
    (tmp_path / "sub_1.csv").write_text("a\n2\n")
    assert runner.fingerprint(Run(motionsense=tmp_path)) != first != runner.fingerprint(Run())


def test_progress_and_choice(tmp_path: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    reproduce(tmp_path, QUICK, only=["example-6-1"], progress=lambda *step: steps.append(step))
    assert steps == [(0, 1, "ogpm-example-6-1"), (1, 1, "")]
    kept = json.loads((tmp_path / "ogpm-example-6-1.json").read_text())
    assert kept["findings"][0]["verdict"] == "reproduced"
    with pytest.raises(ValueError, match="only must name an entry"):
        reproduce(tmp_path, QUICK, only=["figure-99"])


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    figure_4 = next(one for one in entries() if one.key == "ogpm-figure-4")
    with pytest.raises(MissingExtra, match=r"\.\[analysis\]"):
        figure_4.make(QUICK)
