"""An answer of the wrong mechanism says so, and what it says is true."""

from __future__ import annotations

import math
import pickle
import re

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.estimates.answer import better_design
from sottovoce.estimates.answer.better_design import _mean_variance, _share_variance
from sottovoce.reporters.contract import Reporter

DAY = (0.0, 24.0)
HOURS = np.random.default_rng(2).beta(2, 5, 12_000) * 24
HINT = re.compile(
    r"for the same ε and people a mechanism for (.+) gives ± (\S+)( %)? instead of ± (\S+)( %)?$"
)


def tallied(m: Reporter) -> sv.Tally:
    return sv.Tally(m, m.report(HOURS, rng=5))


VALUE, MEAN, COIN = sv.design("value", 1.0, DAY), sv.design("mean", 1.0, DAY), sv.duchi(1.0, DAY)


def hint(estimate: sv.Estimate) -> tuple[str, float, float]:
    (found,) = [found for note in estimate.advice() if (found := HINT.search(note))]
    return found[1], float(found[2]), float(found[4])


def test_a_mean_of_single_values_names_what_a_mechanism_for_means_gives() -> None:
    estimate = sv.mean(tallied(VALUE))
    assert estimate.notes[0].startswith("mostly not chance: so many reports of this mechanism leave the mean")
    assert estimate.advice()[0].startswith(
        "this mechanism was made for single values; for the same ε and people"
    )
    what, better, here = hint(estimate)
    assert what == "means"
    assert here == pytest.approx(estimate.half_width, rel=0.06)
    assert sv.mean(tallied(MEAN)).half_width <= better * 1.06  # two figures are printed
    assert better < here / 5


def test_the_bounds_hold_for_the_mechanisms_they_speak_of() -> None:
    for epsilon in (0.5, 1.0, 4.0):
        pm, x = sv.pm(epsilon), np.linspace(0, 1, 21)
        for p in (0.1, 0.5, 0.8):  # people at both ends are the worst
            worst = (1 - p) * pm.variance(0.0) + p * pm.variance(1.0) + p * (1 - p)
            assert worst == pytest.approx(_mean_variance(epsilon, p), rel=1e-3)
        assert (pm.variance(x) <= pm.variance(0.0) * (1 + 1e-9)).all()
        q = 1 / (1 + math.exp(-epsilon))
        yes = 0.3 * q + 0.7 * (1 - q)
        assert _share_variance(epsilon, 0.3) == pytest.approx(yes * (1 - yes) / (2 * q - 1) ** 2)


def test_what_is_not_identified_is_the_first_thing_said() -> None:
    share, median = sv.probability(tallied(COIN), 3, 9), sv.quantile(tallied(COIN), 0.5)
    assert share.advice()[0] == (
        "reports of this mechanism do not identify it: with any number of people it stays open by ± 50 %"
    )
    assert median.advice()[0].startswith("reports of this mechanism do not identify it: with any number")
    assert hint(share)[0] == "the share of one range"
    asked = sv.design("probability", 1.0, DAY, between=(3, 9))
    assert sv.probability(tallied(asked), 3, 9).half_width <= 1.06 * hint(share)[1] / 100
    what, better, here = hint(median)
    assert (what, better < here / 2) == ("quantiles", True)
    asked = sv.design("quantile", 1.0, DAY, p=0.5)
    assert sv.quantile(tallied(asked), 0.5).half_width < better  # people are closer together than promised
    even = np.linspace(*DAY, HOURS.size)
    widths = [sv.quantile(sv.Tally(asked, asked.report(even, rng=i)), 0.5).half_width for i in range(6)]
    assert np.mean(widths) == pytest.approx(better, rel=0.25)  # one of them varies by a quarter


@pytest.mark.parametrize("task", ["mean", "quantile", "distribution"])
def test_who_asked_the_right_one_reads_nothing(task: str) -> None:
    tally = tallied(sv.design(task, 1.0, DAY))
    for estimate in (sv.mean(tally), sv.quantile(tally, 0.5)):
        assert not any(HINT.search(note) for note in estimate.advice())


def test_few_reports_are_not_the_mechanisms_fault() -> None:
    m = sv.design("mean", 1.0, DAY)
    few = sv.Tally(m, m.report(HOURS[:10], rng=1))
    assert not any(HINT.search(note) for note in sv.mean(few).advice())


def test_what_takes_long_is_said_only_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = []
    openness = better_design.openness
    monkeypatch.setattr(better_design, "openness", lambda *about: answers.append(about) or openness(*about))
    share = sv.probability(tallied(COIN), 3, 9)
    assert share.rows
    assert pickle.loads(pickle.dumps(share)) == share
    assert not answers
    assert str(share).splitlines()[1] == f"  note: {share.advice()[0]}"
    assert len(answers) == 2  # each time


def test_a_power_of_two_of_people_often_settles_it(monkeypatch: pytest.MonkeyPatch) -> None:
    people = []
    even = better_design._even_quantile
    monkeypatch.setattr(
        better_design, "_even_quantile", lambda n, *about: people.append(n) or even(n, *about)
    )
    right, wrong = (sv.quantile(tallied(m), 0.5) for m in (sv.sw(0.5, DAY), VALUE))
    assert not any(HINT.search(note) for note in right.advice())
    assert people == [1 << 14]
    assert hint(wrong)[0] == "quantiles"
    assert people[1:] == [1 << 14, 12_000]  # what is said is about these people
