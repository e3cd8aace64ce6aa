"""The demo runs as a user runs it, and its data are what its script makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from tests.collector.service import environment
from tools.demo_data import departures

from sottovoce import demo


def test_the_data_are_what_the_script_writes() -> None:
    written = departures()
    assert Path(demo.__file__).with_name("departures.csv").read_text("ascii") == written
    people = demo.answers()
    rows = [
        f"{round(60 * hour)},{airport},{'' if np.isnan(warmth) else warmth}"
        for hour, airport, warmth in zip(people.time, people.airport, people.temperature, strict=True)
    ]
    assert rows == written.splitlines()[1:]


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
    told = (
        "1 of the 3 questions", "± 5.8 °C (95 %)", "300 reports stored", "time: Mean time", "airport: LGA",
        "temperature: Mean", "temperature: Median", "e^2 = 7.39",
        "79 of 100 reports name the true airport; 21 name another",
        "is between 3:00 and 9:00 in 62 of 100", "guesses right in 86 of 100",
        "/survey/departures#enrl_", "/#/departures",
    )  # fmt: skip
    story = " ".join(done.stdout.split())
    for words in told:
        assert words in story
