"""What groups are compared by: every question whose answer is one number, and what all of them say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.comparing.quantity import common_question
from sottovoce.estimates.summary import TABLE

RNG = np.random.default_rng(3)


def tally(m: Any, values: Any, seed: int = 1) -> sv.Tally:
    return sv.Tally(m, m.report(values, rng=seed))


LINE, CLOCK, RATING = sv.sw(4.0, (0, 24)), sv.ogpm(4.0, sv.Circle(24)), sv.choice(4.0, [1, 2, 3])
WAY = sv.choice(4.0, ["car", "bike"])
ONE, OTHER = (tally(LINE, RNG.normal(at, spread, 4000).clip(0, 24), at) for at, spread in ((8, 2), (14, 4)))
EARLY, LATE = (tally(CLOCK, RNG.normal(at, 1, 2000) % 24, at) for at in (5, 7))
LOW, HIGH = (tally(RATING, RNG.choice([1, 2, 3], 4000, p=p), 5) for p in ((0.6, 0.3, 0.1), (0.1, 0.3, 0.6)))
BOTH = sv.survey(4.0, {"age": (0, 120), "way": ["car", "bike"]})


@pytest.mark.parametrize(
    ("question", "about", "pair", "truth"),
    [
        ("mean", {}, (ONE, OTHER), -6.0),
        ("quantile", {}, (ONE, OTHER), -6.0),
        ("quantile", {"p": 0.9}, (ONE, OTHER), -8.56),
        ("standard_deviation", {}, (ONE, OTHER), -2.0),
        ("variance", {}, (ONE, OTHER), -12.0),
        ("probability", {"between": (0, 10)}, (ONE, OTHER), 0.683),
        ("direction", {}, (EARLY, LATE), -2.0),
        ("concentration", {}, (EARLY, LATE), 0.0),
        ("mean", {}, (LOW, HIGH), -1.0),
        ("share", {"option": 3}, (LOW, HIGH), -0.5),
    ],
    ids=str,
)
def test_differences(question: str, about: Any, pair: Any, truth: float) -> None:
    d = sv.difference(*pair, question, confidence=1 - 1e-6, **about)
    assert d.low <= truth <= d.high
    one = sv.compare(dict(zip("ab", pair, strict=True)), question, **about).groups["a"]
    assert (d.what, d.confidence) == (f"difference in {one.what}", 1 - 1e-6)
    asked = sv.Question(question, **about)
    assert str(sv.difference(*pair, asked)) == str(sv.difference(*pair, question, **about))
    if question != "direction":
        assert sv.trend(dict(enumerate(pair)), asked).slope.what == f"slope of the {one.what}"
        assert len(sv.compare(dict(zip("ab", pair, strict=True)), asked, over="pairs").differences) == 1


def test_a_question_about_an_item() -> None:
    people = {"age": RNG.normal(40, 9, 4000).clip(0, 120), "way": RNG.choice(["car", "bike"], 4000)}
    t, t2 = tally(BOTH, people, 1), tally(BOTH, {**people, "age": people["age"] + 5}, 2)
    d = sv.difference(t, t2, sv.Question("mean", item="age"))
    assert d == sv.difference(t["age"], t2["age"])
    share = sv.Question("share", item="way", option="car")
    assert sv.compare({"a": t, "b": t2}, share).groups["a"].what == "share of 'car'"
    weighted = sv.weighted({"a": t, "b": t2}, {"a": 1, "b": 1}, share)
    assert (weighted.what, weighted.low < 0.5 < weighted.high) == ("weighted share of 'car'", True)


def test_what_does_not_go_together_is_refused() -> None:
    wrong: dict[str, tuple[str, dict[str, Any]]] = {
        "question must be one of": ("distribution", {}),
        "p goes with question='quantile'": ("mean", {"p": 0.5}),
        "between goes with question='probability'": ("probability", {}),
        "option goes with question='share'": ("mean", {"option": "car"}),
        "fakes does not belong to question='quantile'": ("quantile", {"fakes": 3}),
        "estimand does not belong to question='share'": ("share", {"option": 1, "estimand": "respondents"}),
    }
    for words, (question, how) in wrong.items():
        for act in (
            lambda question, how: sv.difference(ONE, OTHER, question, **how),
            lambda question, how: sv.compare({"a": ONE, "b": OTHER}, question, **how),
            lambda question, how: sv.trend({1: ONE, 2: OTHER}, question, **how),
        ):
            with pytest.raises(ValueError, match=words):
                act(question, how)
    with pytest.raises(ValueError, match="a direction has no slope"):
        sv.trend({1: EARLY, 2: LATE}, "direction")
    with pytest.raises(ValueError, match="for no directions"):
        sv.compare({"a": EARLY, "b": LATE}, "direction", over="pairs")
    with pytest.raises(ValueError, match="question must be one of 'mean', 'probability', 'share'"):
        sv.weighted({"a": ONE, "b": OTHER}, {"a": 1, "b": 1}, "standard_deviation")


def test_what_tallies_have_in_common() -> None:
    one_bit = sv.Tally(sv.design("probability", 1.0, (0, 24), between=(6, 12)), [0, 1])
    common = {
        "mean": [ONE, tally(sv.pm(1.0, (0, 5)), [1.0])],
        "direction": [EARLY, LATE],
        "probability": [one_bit, one_bit],
        "shares": [tally(WAY, ["car"]), LOW, HIGH],
    }
    for name, tallies in common.items():
        question = common_question(tallies)
        assert question is not None
        assert question.name == name
        assert TABLE[name].number is (name != "shares")
        assert question.between == ((6.0, 12.0) if name == "probability" else None)
    assert common_question([LOW, HIGH]) == sv.Question("mean")
    assert common_question([ONE, EARLY]) is None
    assert common_question(iter([tally(sv.place(1.0, radius=1.0), [(0.0, 0.0)])])) is None
    of_item = common_question([tally(BOTH, {"age": [3.0], "way": ["car"]})])
    assert of_item == sv.Question("mean", item="age")
