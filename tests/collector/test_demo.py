"""The demo runs as a user runs it, and its data are what its script makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from tests.collector.service import environment
from tools.demo_data import departures

from sottovoce.demo import hours


def test_the_data_are_what_the_script_writes() -> None:
    np.testing.assert_array_equal(np.rint(hours() * 60), departures())


def test_the_demo_tells_its_story(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from sottovoce.cli import main; main()", "demo", "--quick"]
    done = subprocess.run(
        [*command, "--output", str(tmp_path / "picture.png")],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "picture.png").read_bytes()[:4] == b"\x89PNG"
    assert "to ± 77 minutes" in done.stdout  # the plan
    for words in ("300 reports stored", "http://127.0.0.1:", "mean", "half left by", "e^2 = 7.39"):
        assert words in done.stdout
