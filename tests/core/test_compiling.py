"""Compiled code on disk: whatever becomes of it there, what runs is what was written."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba import config, njit

SOURCE = """
from sottovoce.core.kernels.jit import compiled
@compiled
def twice(x):
    return x + x
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """The function as another process has it: nothing is compiled, what is on disk is there."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "example.py"
    source.write_text(SOURCE)

    def call() -> Any:
        spec = importlib.util.spec_from_file_location("example", source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.twice

    return call


def kept(folder: Path, kind: str) -> list[Path]:
    return sorted((folder / "cache").glob(f"*/*.{kind}"))


def test_code_is_compiled_once(load: Callable[[], Any], tmp_path: Path) -> None:
    assert load()(3) == 6
    again = load()
    assert again(3) == 6
    assert sum(again.stats.cache_hits.values()) == 1
    assert len(kept(tmp_path, "nbc")) == 1


def test_a_damaged_index_is_written_anew(load: Callable[[], Any], tmp_path: Path) -> None:
    assert load()(3) == 6
    (index,) = kept(tmp_path, "nbi")
    whole = index.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], whole.replace(b"int64", b"gone1")):
        index.write_bytes(damaged)
        assert load()(3) == 6
        again = load()
        assert again(3) == 6
        assert sum(again.stats.cache_hits.values()) == 1


def test_damaged_code_is_compiled_again(load: Callable[[], Any], tmp_path: Path) -> None:
    assert load()(3) == 6
    (code,) = kept(tmp_path, "nbc")
    code.write_bytes(code.read_bytes()[:1000])
    assert load()(3) == 6


def test_code_for_other_types_is_not_run(load: Callable[[], Any], tmp_path: Path) -> None:
    """As two processes leave it that gave their files one name."""
    first = load()
    assert first(1.5) == 3.0
    assert first(3) == 6
    of_floats, of_whole = kept(tmp_path, "nbc")
    shutil.copy(of_whole, of_floats)
    assert load()(1.5) == 3.0
    # numba itself takes it, and what is left of the number is a whole one.
    code = njit(cache=True)(load().py_func)
    shutil.copy(of_whole, of_floats)
    assert code(1.5) == 2


def test_where_nothing_can_be_kept_each_process_compiles(load: Callable[[], Any], tmp_path: Path) -> None:
    assert load()(3) == 6
    shutil.rmtree(tmp_path / "cache")
    function = load()
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").touch()
    assert function(3) == 6


def test_without_a_place_for_it_reports_are_drawn() -> None:
    """Neither beside the source nor at home, as for a service that may write nowhere."""
    script = (
        "import numba, sottovoce as sv\n"
        "m = sv.ogpm(1.0)\n"
        "x = [0.3] * 3000\n"
        "print((m.report(x, rng=1) == m.report(x, rng=1)).all(), m._sampler._loop[0].stats.cache_path)\n"
    )
    nowhere = {**os.environ, "NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"}
    run = subprocess.run([sys.executable, "-c", script], env=nowhere, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("True None\n", "")
