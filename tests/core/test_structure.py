"""How far a reader has to go: short files, and few of them on the way of a value (docs/decisions/070)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sottovoce

ROOT = Path(sottovoce.__file__).parent
WAY = ROOT.parents[1] / "tools" / "way.py"


def test_no_file_is_longer_than_300_lines() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in ROOT.rglob("*.py")}
    assert not [str(path) for path, lines in lengths.items() if lines > 300]


@pytest.mark.parametrize(("way", "most"), [("quantile", 12), ("estimate", 25)])
def test_a_value_passes_few_files(way: str, most: int) -> None:
    run = subprocess.run(
        [sys.executable, str(WAY), "--follow", way], check=True, capture_output=True, text=True
    )
    files = json.loads(run.stdout.splitlines()[-1])["files"]
    assert 5 < len(files) <= most, files
