"""The cache of designs: same design back, whole files only, and never a reason to fail."""

from __future__ import annotations

import json
import multiprocessing
import sys
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.designs.solver import disk_cache, worst_case_problem


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "designs"


def forbid_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*_: object, **__: object) -> None:
        raise AssertionError("the search ran")

    monkeypatch.setattr(worst_case_problem, "search", search)


def test_a_second_time_nothing_is_searched(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sv.optimal(1.5, (0, 10), "value", loss="l1")
    forbid_search(monkeypatch)
    again, elsewhere = (
        sv.optimal(1.5, (0, 10), "value", loss="l1"),
        sv.optimal(1.5, (5, 6), "value", loss="l1"),
    )
    assert again == first
    assert again.certificate.limit == first.certificate.limit
    assert again.certificate.verify() >= again.certificate.limit
    assert elsewhere.certificate.limit == pytest.approx(first.certificate.limit / 10, rel=1e-12)
    with pytest.raises(AssertionError, match="the search ran"):
        sv.optimal(1.6, (0, 10), "value", loss="l1")


def test_another_version_does_not_read_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sv.optimal(1.5)
    monkeypatch.setattr(disk_cache, "__version__", "0.0.0+other")
    forbid_search(monkeypatch)
    with pytest.raises(AssertionError, match="the search ran"):
        sv.optimal(1.5)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"spec": 3}', None])
def test_a_damaged_file_is_computed_anew(place: Path, damage: str | None) -> None:
    made = sv.optimal(1.5)
    (file,) = place.iterdir()
    if damage is None:  # a spec whose counts break its ε
        data = json.loads(file.read_text())
        spec = json.loads(data["spec"])
        spec["epsilon"] = 0.1
        damage = json.dumps({**data, "spec": json.dumps(spec)})
    file.write_text(damage)
    assert sv.optimal(1.5) == made
    stored = json.loads(json.loads(file.read_text())["certificate"])
    assert stored["unit_limit"] == made.certificate.limit


def test_priors_have_their_own_files(place: Path) -> None:
    sv.optimal(1.0, prior=[0.2, 0.3])
    sv.optimal(1.0, prior=[0.2, 0.4])
    sv.optimal(1.0)
    assert len(list(place.iterdir())) == 3


def test_off_and_unwritable_cost_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = sv.optimal(1.5)
    monkeypatch.setenv("SOTTOVOCE_CACHE", "")
    disk_cache.store("plans", "question", b"answer")
    assert disk_cache.load("plans", "question") is None
    assert sv.optimal(1.5) == expected
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(blocked / "below"))
    assert sv.optimal(1.5) == expected


def test_without_a_variable_files_lie_where_the_system_keeps_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOTTOVOCE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    disk_cache.store("plans", [1, "two"], b"answer")
    assert disk_cache.load("plans", [1, "two"]) == b"answer"
    assert disk_cache.load("plans", [1, "three"]) is None
    assert disk_cache.load("designs", [1, "two"]) is None
    assert len(list((tmp_path / "xdg" / "sottovoce" / "plans").iterdir())) == 1
    monkeypatch.setitem(sys.modules, "platformdirs", None)  # a device without it keeps nothing
    assert disk_cache.load("plans", [1, "two"]) is None


ANSWER = bytes(range(256)) * 400


def write_many(times: int) -> None:
    for _ in range(times):
        disk_cache.store("plans", "shared", ANSWER)


def test_readers_see_whole_files_while_others_write(place: Path) -> None:
    write_many(1)
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(200,)) for _ in range(2)]
    for writer in writers:
        writer.start()
    reads = 0
    while any(writer.is_alive() for writer in writers):
        assert disk_cache.load("plans", "shared") == ANSWER
        reads += 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert reads > 0
    assert not list(place.parent.rglob("*.tmp"))
