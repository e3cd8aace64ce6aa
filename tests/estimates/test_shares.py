"""Shares: intervals that hold, values that add up, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from sottovoce.errors import DataError, NoDataError
from sottovoce.estimates.shares import nearest_shares


def tallies(m: sv.Translates, truth: np.ndarray, n: int, runs: int, seed: int) -> list[sv.Tally]:
    """Tallies of n people, drawn from the exact law of the mixture."""
    law = truth @ m.probabilities(list(m.domain.names))
    draws = np.random.default_rng(seed).multinomial(n, law / law.sum(), size=runs)
    return [sv.Tally.from_counts(m, counts) for counts in draws]


def least_hits(runs: int, confidence: float) -> int:
    """What a right interval reaches but once in a million."""
    return int(binom.ppf(1e-6, runs, confidence))


@pytest.mark.parametrize(
    ("options", "epsilon", "n"),
    [(2, 0.5, 300), (5, 1.0, 300), (5, 1.0, 10_000), (20, 2.0, 3000), (60, 1.0, 3000)],
)
def test_intervals_hold(options: int, epsilon: float, n: int) -> None:
    m, runs = sv.choice(epsilon, range(options)), 200 if options < 60 else 60
    truth = 0.5 ** np.arange(1, options + 1)
    truth[0] += 1 - truth.sum()
    each, together = np.zeros(options), 0
    for tally in tallies(m, truth, n, runs, seed=options):
        answer = sv.shares(tally)
        assert sum(one.value for one in nearest(answer)) == pytest.approx(1.0, abs=1e-9)
        each += [one.low <= p <= one.high for one, p in zip(answer.values(), truth, strict=True)]
        together += all(
            one.low <= p <= one.high for one, p in zip(answer.simultaneous.values(), truth, strict=True)
        )
    assert each.min() >= least_hits(runs, 0.95)
    assert together >= least_hits(runs, 0.95)


def nearest(answer: sv.Shares) -> list[sv.Estimate]:
    """The joint estimates: their intervals are wide enough not to move the values."""
    return list(answer.simultaneous.values())


def test_an_interval_without_the_noise_would_not_hold() -> None:
    """The mutant: the share of reports that hold an option, as if that were the share of people."""
    m, truth = sv.choice(1.0, range(5)), np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    hits = 0
    for tally in tallies(m, truth, 1000, 50, seed=1):
        share = m.held(tally.counts)[0] / tally.n
        hits += abs(share - truth[0]) <= 1.96 * np.sqrt(share * (1 - share) / tally.n)
    assert hits < 10


def test_the_same_people_twice_as_many_options() -> None:
    """An unbalanced family by weights, a balanced one by counts: both near the truth."""
    for options in (33, 60):
        m = sv.choice(4.0, range(options))
        people = np.repeat(np.arange(options), np.arange(1, options + 1) * 20)
        answer = sv.shares(sv.Tally(m, m.report(people, rng=5)))
        truth = np.bincount(people) / people.size
        errors = [one.error for one in answer.values()]
        gaps = np.array([one.value for one in answer.values()]) - truth
        assert np.sqrt(np.mean(gaps**2)) < 1.3 * np.mean(errors)


def test_ratings_have_a_mean() -> None:
    m = sv.choice(2.0, [1, 2, 3, 4, 5])
    truth = np.array([0.05, 0.1, 0.2, 0.4, 0.25])
    hits = 0
    for tally in tallies(m, truth, 2000, 200, seed=8):
        mean = sv.shares(tally).mean
        assert mean is not None
        hits += mean.low <= truth @ np.arange(1, 6) <= mean.high
    assert hits >= least_hits(200, 0.95)
    words = sv.choice(2.0, ["good", "bad"])
    assert sv.shares(sv.Tally(words, [0, 1])).mean is None


def test_yes_and_no_are_one_number() -> None:
    m = sv.choice(1.0, ["yes", "no"])
    answer = sv.shares(sv.Tally(m, m.report(["yes"] * 700 + ["no"] * 300, rng=2)))
    assert answer["yes"].low == pytest.approx(1 - answer["no"].high, abs=1e-12)
    assert answer.simultaneous["yes"] == answer["yes"]


def test_what_it_looks_like() -> None:
    m = sv.choice(2.0, ["car", "<bike>"])
    answer = sv.shares(sv.Tally(m, m.report(["car"] * 400 + ["<bike>"] * 600, rng=2)))
    assert str(answer).splitlines()[0] == "shares of 1000 people, 95 % intervals"
    assert "&lt;bike&gt;" in answer._repr_html_()
    assert list(answer.to_frame()["option"]) == ["car", "<bike>"]
    labels = [text.get_text() for text in answer.plot().get_yticklabels()]
    assert labels == ["<bike>", "car"]


def test_refusals() -> None:
    with pytest.raises(DataError, match=r"a tally of numbers in \[0, 1\], not of a choice"):
        sv.shares(sv.Tally(sv.ogpm(1.0), [3]))
    with pytest.raises(NoDataError):
        sv.shares(sv.Tally(sv.choice(1.0, ["a", "b"])))
    with pytest.raises(DataError, match="a tally of a choice of 2, not of one number"):
        sv.mean(sv.Tally(sv.choice(1.0, ["a", "b"]), [0]))


@pytest.mark.parametrize("value", [[0.2, 0.3, 0.5], [1.4, -0.2, -0.2], [0.5, 0.7, -0.1], [-3.0, -3.0, -3.0]])
def test_nearest_shares(value: list[float]) -> None:
    near = nearest_shares(np.array(value))
    assert near.sum() == pytest.approx(1.0)
    assert near.min() >= 0
    grid = np.random.default_rng(0).dirichlet(np.ones(3), size=4000)
    assert np.sum((near - value) ** 2) <= np.sum((grid - value) ** 2, axis=1).min() + 1e-12


def test_a_survey_with_a_choice() -> None:
    s = sv.Survey(2.0, {"age": sv.optimal(1.0, (0, 120)), "way": sv.choice(1.0, ["car", "bike"])}, 2)
    reports = s.report({"age": np.full(3000, 40.0), "way": ["car", "bike", "bike"] * 1000}, rng=4)
    tally = sv.Tally(s, reports)
    answer = sv.shares(tally["way"])
    assert answer["bike"].low < 2 / 3 < answer["bike"].high
    assert sv.from_json(s.to_json()) == s
