"""What notebooks and terminals show of public objects: short, in words, with the numbers that matter."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest

import sottovoce as sv
from sottovoce.estimates.words import METHODS, explained

matplotlib.use("agg")
M = sv.sw(1.0, (0, 24), cells=1024)
TALLY = sv.Tally(M, M.report(np.random.default_rng(1).beta(2, 5, 4000) * 24, rng=1))

SHOWN: dict[str, Callable[[], object]] = {
    "mechanism": lambda: M,
    "mixture": lambda: sv.two_scale(1.0, cells=64),
    "rows": lambda: sv.Rows.of(1.0, [[0.7, 0.3], [0.3, 0.7]]),
    "survey": lambda: sv.survey(1.0, [(0, 1)] * 2),
    "polar": lambda: sv.polar(1.0, 2.0),
    "choice": lambda: sv.choice(1.0, ["car", "bike"]),
    "tally": lambda: TALLY,
    "estimate": lambda: sv.mean(TALLY),
    "distribution": lambda: sv.distribution(TALLY, bins=8, band=False),
    "honesty": lambda: sv.honesty(TALLY),
    "fabrication": lambda: sv.fabrication(TALLY, k=3, places=3),
    "audit": lambda: sv.audit(M),
    "certificate": lambda: sv.optimal(1.0).certificate,
    "plan": lambda: sv.plan("mean", epsilon=1.0, people=1000, domain=(0, 24)),
    "difference plan": lambda: sv.plan("difference", epsilon=1.0, people=1000, domain=(0, 1), shift=0.1),
    "shuffled": lambda: sv.shuffled(M, 1000),
    "release": lambda: sv.central.mean([1.0, 2.0, 3.0] * 50, epsilon=1.0, bounds=(0, 10), rng=1),
    "comparison": lambda: sv.compare({"north": TALLY, "south": sv.Tally(M, M.report([5.0] * 99, rng=2))}),
}


class Balanced(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f" {data}"


@pytest.mark.parametrize("name", SHOWN)
def test_everything_public_is_short_and_shows_in_a_notebook(name: str) -> None:
    thing = SHOWN[name]()
    assert len(repr(thing)) <= 200
    assert " at 0x" not in repr(thing)
    page = Balanced()
    page.feed(thing._repr_html_())  # type: ignore[attr-defined]
    assert not page.open
    assert " at 0x" not in page.text
    assert len(page.text) > 20


def test_an_estimate_is_drawn_framed_and_explained() -> None:
    estimate = sv.mean(TALLY)
    axes = estimate.plot()
    (interval,) = axes.collections
    assert interval.get_segments()[0][:, 0].tolist() == [estimate.low, estimate.high]
    (row,) = estimate.to_frame().to_dict("records")
    assert (row["value"], row["low"], row["n"]) == (estimate.value, estimate.low, 4000)
    assert repr(estimate).startswith("<Estimate mean ")
    assert METHODS["envelope"] in estimate._repr_html_()
    assert explained("decoded, finite") == f"{METHODS['decoded']}; {METHODS['finite']}"


def test_what_is_shown_is_escaped() -> None:
    m = sv.Rows.of(1.0, [[0.7, 0.3], [0.3, 0.7]], name="<script>")
    assert "<script>" not in m._repr_html_()


def test_nothing_odd_is_said_of_honest_reports() -> None:
    assert str(sv.honesty(TALLY)) == "the 4000 reports are consistent with the mechanism"
    assert "(p ≤" in str(sv.honesty(sv.Tally(M, [7] * 500)))


def test_an_interval_without_limits_is_printed_and_written() -> None:
    estimate = replace(sv.mean(TALLY), low=-math.inf, high=math.inf)
    assert "interval -inf to inf" in str(estimate)
    assert json.loads(json.dumps(estimate.to_dict(), allow_nan=False))["high"] is None
