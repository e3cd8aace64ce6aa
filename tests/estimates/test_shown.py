"""What notebooks and terminals show of public objects: short, in words, with the numbers that matter."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.device.fake import Collector
from tests.laws.every import makers

import sottovoce as sv
from sottovoce.estimates.estimate import METHODS, explained
from sottovoce.plots.data_table import Tabular
from sottovoce.surveys.polar import certificate

matplotlib.use("agg")
M = sv.sw(1.0, (0, 24), cells=64)
HOURS = np.random.default_rng(1).beta(2, 5, 1000) * 24
TALLY = sv.Tally(M, M.report(HOURS, rng=1))
CLOCK = sv.ogpm(1.0, sv.Circle(24), cells=64)
TURNS = sv.Tally(CLOCK, CLOCK.report(HOURS, rng=1))
SOUTH = sv.Tally(M, M.report([5.0] * 99, rng=2))
LIKED = sv.choice(1.0, ["car", "bike"])
PAIR = sv.pair(1.0, {"rise": (0, 24), "sleep": (0, 24)})
PAIRED = sv.Tally(PAIR, PAIR.report({"rise": HOURS, "sleep": HOURS}, rng=3))
TOWN = sv.place(4.0, radius=10.0, points=8)
PLACED = sv.Tally(TOWN, TOWN.report(np.random.default_rng(1).normal(0, 2, (500, 2)), clip=True, rng=4))
ROUND = sv.polar(1.0, 2.0)
WITHIN = sv.within(1.0, ["car", "bike"], (0, 10))
SEVERAL = sv.any_of(1.0, ["a", "b"])
RIDES = {"group": ["car", "bike"] * 500, "number": [2.0, 6.0] * 500}


@contextmanager
def client() -> Iterator[sv.Client]:
    with Collector(M) as collector, sv.Client(collector.url, "c", epsilon=1.0, outbox=":memory:") as one:
        yield one


@contextmanager
def ledger() -> Iterator[sv.Ledger]:
    with tempfile.TemporaryDirectory() as folder:
        yield sv.Ledger(Path(folder) / "ledger", budget=2)


#: For every public name, what it makes; of a class, an instance.
PUBLIC: dict[str, Callable[[], object]] = {
    "Answer": lambda: sv.summary(TALLY)["mean"],
    "Area": lambda: TOWN.domain,
    "Audit": lambda: sv.audit(M),
    "Circle": lambda: sv.Circle(24),
    "Client": client,
    "Comparison": lambda: sv.compare({"north": TALLY, "south": SOUTH}, over="pairs"),
    "Curve": lambda: sv.shuffled(LIKED, 100, None).group(2),
    "Disc": lambda: sv.Disc(10),
    "Disclosure": lambda: sv.disclosure(TOWN),
    "Distribution": lambda: sv.distribution(TALLY, bins=8, band=False),
    "Estimate": lambda: sv.mean(TALLY),
    "Groups": lambda: sv.groups(sv.Tally(WITHIN, WITHIN.report(RIDES, rng=1))),
    "Heatmap": lambda: sv.heatmap(PLACED),
    "Interval": lambda: sv.Interval(1, 1e6, scale="log"),
    "Ledger": ledger,
    "Mechanism": lambda: M,
    "Mixture": lambda: sv.two_scale(1.0, cells=64),
    "Options": lambda: sv.Options(tuple(f"option {i}" for i in range(50))),
    "Plan": lambda: sv.plan("value", epsilon=1.0, people=1000, domain=(0, 24)),
    "Polar": lambda: ROUND,
    "Reporter": lambda: PAIR,
    "Rows": lambda: sv.Rows.of(1.0, [[0.7, 0.3], [0.3, 0.7]]),
    "Shares": lambda: sv.shares(sv.Tally(LIKED, LIKED.report(["car", "bike"] * 99, rng=1))),
    "Shuffled": lambda: sv.audit(M, people=50).central,
    "Summary": lambda: sv.summary(TALLY),
    "Survey": lambda: sv.survey(1.0, [(0, 1)] * 2),
    "Tally": lambda: TALLY,
    "Translates": lambda: TOWN,
    "Trend": lambda: sv.trend({"2026-01": TALLY, "2026-02": SOUTH}),
    "any_of": lambda: SEVERAL,
    "audit": lambda: sv.audit(LIKED, people=50),
    "choice": lambda: LIKED,
    "circular_mean": lambda: sv.circular_mean(TURNS),
    "compare": lambda: sv.compare({"north": TALLY, "south": SOUTH}),
    "concentration": lambda: sv.concentration(TURNS),
    "correlation": lambda: sv.correlation(PAIRED),
    "covariance": lambda: sv.covariance(PAIRED),
    "covariances": lambda: sv.covariances(PAIRED),
    "design": lambda: sv.design("probability", 1.0, (0, 24), between=(6, 9)),
    "difference": lambda: sv.difference(TALLY, SOUTH),
    "disclosure": lambda: sv.disclosure(sv.survey(1.0, {"age": (0, 120), "start": sv.Circle(24)})),
    "distribution": lambda: sv.distribution(TURNS, bins=8, band=False),
    "duchi": lambda: sv.duchi(1.0),
    "fakes": lambda: sv.fakes(TALLY, k=3, places=3),
    "from_json": lambda: sv.from_json(M.to_json()),
    "groups": lambda: next(iter(PUBLIC["Groups"]().values())),  # type: ignore[attr-defined]
    "heatmap": lambda: sv.heatmap(sv.Tally(ROUND, ROUND.report([[1.0, 0.5]] * 99, rng=1))),
    "honesty": lambda: sv.honesty(TALLY),
    "mean": lambda: sv.central.mean([1.0, 2.0, 3.0] * 50, epsilon=1.0, domain=(0, 10), rng=1),
    "median": lambda: sv.median(TALLY),
    "mean_position": lambda: sv.mean_position(PLACED),
    "ogpm": lambda: CLOCK,
    "ogpm_unbiased": lambda: sv.ogpm_unbiased(1.0),
    "optimal": lambda: sv.optimal(1.0).certificate,
    "pair": lambda: PAIR,
    "pair_rounds": lambda: sv.pair_rounds(1.0, [(0, 1), (0, 1)]),
    "place": lambda: TOWN,
    "plan": lambda: [
        sv.plan("difference", epsilon=1.0, people=1000, domain=(0, 1), shift=0.1),
        sv.plan("place", epsilon=1.0, people=1000, domain=sv.Disc(1)),
        sv.plan("choice", epsilon=1.0, people=1000, domain=["car", "bike"]),
    ],
    "pm": lambda: sv.pm(1.0),
    "polar": lambda: certificate(ROUND),
    "probabilities": lambda: sv.probabilities(SOUTH, bins=2),
    "probability": lambda: sv.probability(TALLY, 6, 12),
    "ptt": lambda: sv.ptt(1.0),
    "quantile": lambda: sv.quantile(TALLY, 0.5),
    "region_share": lambda: sv.region_share(PLACED, [(0, 0), (5, 0), (5, 5)]),
    "rounds": lambda: sv.rounds("quantile", 1.0, (0, 24), p=0.5),
    "shares": lambda: sv.shares(sv.Tally(SEVERAL, SEVERAL.report({"a": [1] * 9, "b": [0] * 9}, rng=1))),
    "shuffled": lambda: sv.shuffled(LIKED, 50, None),
    "slope": lambda: sv.slope(PAIRED),
    "standard_deviation": lambda: sv.standard_deviation(TALLY),
    "split_budget": lambda: sv.split_budget(2.0, [sv.duchi, sv.duchi]),
    "summary": lambda: sv.summary(sv.Tally(TOWN, TOWN.report([[1.0, 0.5]] * 99, rng=1))),
    "survey": lambda: sv.survey(1.0, {"age": (0, 120), "start": sv.Circle(24)}),
    "sw": lambda: M,
    "trend": lambda: sv.trend({0: TALLY, 1: SOUTH}),
    "two_rounds": lambda: sv.two_rounds(1.0),
    "two_scale": lambda: sv.two_scale(1.0, sv.Circle(24), cells=64),
    "variance": lambda: sv.variance(TALLY),
    "weighted": lambda: sv.weighted({"north": TALLY, "south": SOUTH}, {"north": 1, "south": 2}),
    "within": lambda: WITHIN,
    "central": lambda: sv.central.mean([5, 7, 30], 1.0, (0, 60), by=list("aab"), groups=list("abc"), rng=1),
    "laws": lambda: [m(1.0, sv.Circle(24)) if n == "von_mises" else m(1.0) for n, m in makers().items()],
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


@pytest.mark.parametrize(
    "name", sorted({*sv.__all__, *PUBLIC} - {"__version__", "check_reporter", "Question"})
)
def test_everything_public_is_short_shows_in_a_notebook_and_is_drawn_and_framed(name: str) -> None:
    made = PUBLIC[name]()
    with made if isinstance(made, AbstractContextManager) else nullcontext(made) as one:
        if name[0].isupper():
            assert isinstance(one, getattr(sv, name))
        for thing in one if isinstance(one, tuple | list) else [one]:
            shown(thing)
            if isinstance(thing, sv.Estimate):
                assert explained(thing.method)
            if isinstance(thing, Tabular):
                assert len(thing.to_frame()) == len(thing.rows) > 0
            if isinstance(thing, Tabular) and not type(thing).__module__.startswith("sottovoce.planning."):
                plt.close(thing.plot().figure)  # type: ignore[attr-defined]


def shown(thing: Any) -> None:
    assert 16 < len(repr(thing)) <= 200
    page = Balanced()
    page.feed(thing._repr_html_())
    assert not page.open
    assert len(page.text) > 20
    for text in (repr(thing), page.text):
        assert " at 0x" not in text
        assert "array(" not in text


def test_an_estimate_is_drawn_framed_and_explained() -> None:
    estimate = sv.mean(TALLY)
    axes = estimate.plot()
    (interval,) = axes.collections
    assert interval.get_segments()[0][:, 0].tolist() == [estimate.low, estimate.high]
    (row,) = estimate.to_frame().to_dict("records")
    assert (row["value"], row["low"], row["n"]) == (estimate.value, estimate.low, 1000)
    assert repr(estimate).startswith("<Estimate mean ")
    assert METHODS["envelope"] in estimate._repr_html_()
    assert explained("decoded, finite") == f"{METHODS['decoded']}; {METHODS['finite']}"


def test_what_is_shown_is_escaped() -> None:
    m = sv.Rows.of(1.0, [[0.7, 0.3], [0.3, 0.7]], name="<script>")
    assert "<script>" not in m._repr_html_()


def test_nothing_odd_is_said_of_honest_reports() -> None:
    assert str(sv.honesty(TALLY)) == "The 1,000 reports look honest."
    assert "(p ≤" in str(sv.honesty(sv.Tally(M, [7] * 500)))


def test_an_interval_without_limits_is_printed_and_written() -> None:
    estimate = replace(sv.mean(TALLY), low=-math.inf, high=math.inf)
    assert "interval -inf to inf" in str(estimate)
    assert json.loads(json.dumps(estimate.to_dict(), allow_nan=False))["high"] is None
