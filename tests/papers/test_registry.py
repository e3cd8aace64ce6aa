"""What is regenerated, and how a finding judges itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from papers.registry import entry
from papers.sheet import Sheet

from papers import Finding, Run, Verdict, entries

#: Everything the papers show that has numbers in it.
ASKED = {
    "ogpm": [f"figure-{n}" for n in (2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20)]
    + ["table-1", "table-2", "example-3-5", "example-6-1", "appendix-B-5", "appendix-B-6"],
    "ptt": ["figure-1", "figure-2", "figure-3", "theorems-3-6", "theorem-7", "theorems-8-9", "theorem-10"],
    "hourglass": ["figure-3", "figure-4", "figure-5", "formulas"],
    "beyond": ["figure-7", "figure-8", "figure-9", "variance", "figure-16", "figure-17", "weather"],
}


def test_every_figure_and_table_has_an_entry() -> None:
    keys = {one.key for one in entries()}
    assert {f"{paper}-{name}" for paper, names in ASKED.items() for name in names} == keys


def test_order_is_natural() -> None:
    names = [one.name for one in entries() if one.paper == "ogpm" and one.name.startswith("figure")]
    assert names == [f"figure-{n}" for n in (2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20)]


def judged(fill: Callable[[Sheet], None]) -> Finding:
    sheet = Sheet()
    fill(sheet)
    return sheet.result().findings[0]


@pytest.mark.parametrize(
    ("ours", "corrected", "verdict"),
    [
        (94.6, False, Verdict.REPRODUCED),
        (94.6, True, Verdict.CORRECTED),
        (94.8, False, Verdict.FAILED),
        (94.8, True, Verdict.FAILED),
        (math.nan, False, Verdict.FAILED),
    ],
)
def test_the_verdict_follows_from_the_numbers(ours: float, corrected: bool, verdict: Verdict) -> None:
    finding = judged(lambda sheet: sheet.number("a", 94.2, ours, within=0.5, corrected=corrected))
    assert finding.verdict is verdict
    assert finding.numbers["paper"] == 94.2
    assert finding.numbers["ours"] == pytest.approx(ours, nan_ok=True)


def test_words_are_made_of_the_numbers() -> None:
    told = judged(lambda sheet: sheet.statement("a", True, "{x:.1f} of it", {"x": 2.04}, note="not {x:.2f}"))
    assert (told.verdict, told.ours, told.note) == (Verdict.REPRODUCED, "2.0 of it", "not 2.04")
    assert told.numbers == {"x": 2.04}
    assert judged(lambda sheet: sheet.statement("a", False, "no")).verdict is Verdict.FAILED
    assert judged(lambda sheet: sheet.addition("a", "3")).verdict is Verdict.OURS
    assert judged(lambda sheet: sheet.percent("a", 50, np.ones(3), np.full(2, 2.0))).ours == "50.0 %"


def test_a_name_is_registered_once() -> None:
    taken = entries()[0]
    with pytest.raises(ValueError, match="registered twice"):
        entry(taken.paper, taken.name, "again")(lambda run, sheet: None)
    with pytest.raises(ValueError, match="unknown paper"):
        entry("nobody", "figure-1", "x")(lambda run, sheet: None)


def test_generators_are_separate_and_seeded() -> None:
    run = Run(seed=3)
    assert run.rng("a", 1).random() == Run(seed=3).rng("a", 1).random()
    assert run.rng("a", 1).random() != run.rng("a", 2).random()
    assert run.rng("a", 1).random() != Run(seed=4).rng("a", 1).random()
