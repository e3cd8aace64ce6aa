"""Commands as a person types them: exit code, what was printed, and what was complained about."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from sottovoce.cli import main

Run = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(line: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sottovoce", *line.split()])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out, said.err

    return call
