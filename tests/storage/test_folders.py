"""Where a user's files belong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sottovoce.errors import MissingExtra
from sottovoce.storage.folders import cache_folder, state_folder


def test_state_lies_where_the_system_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "sottovoce"


@pytest.mark.parametrize("named", ["", " ", "/somewhere", None])
def test_a_device_without_platformdirs_finds_the_same_folder(
    monkeypatch: pytest.MonkeyPatch, named: str | None
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    if named is not None:
        monkeypatch.setenv("XDG_STATE_HOME", named)
    expected = state_folder()
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    assert state_folder() == expected
    monkeypatch.setattr(sys, "platform", "plan9")
    with pytest.raises(MissingExtra, match="needs the extra 'analysis'"):
        state_folder()


def test_the_variable_names_the_cache_or_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_CACHE", "/somewhere")
    assert cache_folder() == Path("/somewhere")
    monkeypatch.setenv("SOTTOVOCE_CACHE", "")
    assert cache_folder() is None


def test_without_a_home_nothing_is_cached_and_state_needs_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SOTTOVOCE_CACHE", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert cache_folder() is None
    with pytest.raises(RuntimeError, match="home"):
        state_folder()
