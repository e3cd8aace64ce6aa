"""When numba serves a call: by its size alone, and never on a first report."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import sottovoce as sv
from sottovoce import compiling
from sottovoce.reporters.sampling import numba_loops


def test_loaded_numba_draws_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiling.compiled(2048)
    assert not compiling.compiled(2047)
    monkeypatch.setenv("SOTTOVOCE_PLAIN", "1")
    assert not compiling.compiled(10**9)
    monkeypatch.delenv("SOTTOVOCE_PLAIN")
    monkeypatch.setitem(sys.modules, "numba", None)  # type: ignore[arg-type]  # as where it is forbidden
    assert not compiling.compiled(10**9)


def test_one_call_with_very_many_values_loads_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(compiling, "import_module", loaded.append)
    compiling.load_for(10**6)
    assert not loaded
    compiling.load_for(10**8)
    assert loaded == ["numba"]
    monkeypatch.setenv("SOTTOVOCE_PLAIN", "1")
    compiling.load_for(10**8)
    assert loaded == ["numba"]


KINDS: dict[str, Callable[[], Any]] = {
    "uniform": lambda: sv.ogpm(1.0),
    "coin": lambda: sv.two_scale(1.0),
    "general": lambda: sv.optimal(1.0),
    "rows": lambda: sv.laws.laplace(1.0).tabulate(inputs=9, cells=33),
    "translates": lambda: sv.choice(1.0, range(20)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_values_of_a_call_decide_and_the_loop_of_their_kind_draws(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reporter, calls, values = KINDS[kind](), [], [1] * 140_000  # more than one block
    loop = getattr(numba_loops, kind)
    monkeypatch.setattr(compiling, "load_for", calls.append)
    monkeypatch.setattr(numba_loops, kind, lambda *given: (calls.append(kind), loop(*given))[1])
    reporter.report(values)
    assert calls[0] == 140_000
    assert set(calls[1:]) == {kind}
