"""What is regenerated, and how a finding judges itself."""

from __future__ import annotations

import math

import pytest

from sottovoce.papers import Run, Verdict, entries
from sottovoce.papers.registry import addition, entry, number, statement

#: Everything the papers show that has numbers in it.
ASKED = {
    "ogpm": [f"figure-{n}" for n in (2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20)]
    + ["table-1", "table-2", "example-3-5", "example-6-1", "appendix-B-5", "appendix-B-6"],
    "ptt": ["figure-1", "figure-2", "figure-3", "theorems-3-6", "theorem-7", "theorems-8-9", "theorem-10"],
    "hourglass": ["figure-3", "figure-4", "figure-5", "formulas"],
    "beyond": ["figure-8", "figure-9", "variance", "figure-16", "figure-17", "weather"],
}


def test_every_figure_and_table_has_an_entry() -> None:
    keys = {one.key for one in entries()}
    assert {f"{paper}-{name}" for paper, names in ASKED.items() for name in names} == keys


def test_order_is_natural() -> None:
    names = [one.name for one in entries() if one.paper == "ogpm" and one.name.startswith("figure")]
    assert names == [f"figure-{n}" for n in (2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20)]


def test_the_verdict_follows_from_the_numbers() -> None:
    assert number("a", 94.2, 94.6, within=0.5).verdict is Verdict.REPRODUCED
    assert number("a", 94.2, 94.6, within=0.5, corrected=True).verdict is Verdict.CORRECTED
    assert number("a", 94.2, 94.8, within=0.5).verdict is Verdict.FAILED
    assert number("a", 94.2, 94.8, within=0.5, corrected=True).verdict is Verdict.FAILED
    assert number("a", 1.0, math.nan, within=0.5).verdict is Verdict.FAILED
    assert statement("a", True, "yes").verdict is Verdict.REPRODUCED
    assert statement("a", False, "no").verdict is Verdict.FAILED
    assert addition("a", "3").verdict is Verdict.OURS


def test_a_name_is_registered_once() -> None:
    taken = entries()[0]
    with pytest.raises(ValueError, match="registered twice"):
        entry(taken.paper, taken.name, "again")(taken.make)
    with pytest.raises(ValueError, match="unknown paper"):
        entry("nobody", "figure-1", "x")(taken.make)


def test_generators_are_separate_and_seeded() -> None:
    run = Run(seed=3)
    assert run.rng("a", 1).random() == Run(seed=3).rng("a", 1).random()
    assert run.rng("a", 1).random() != run.rng("a", 2).random()
    assert run.rng("a", 1).random() != Run(seed=4).rng("a", 1).random()
