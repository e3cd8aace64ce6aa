"""What is said and drawn of few people: ranges instead of peaks, ribbons that hold, true sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from benchmarks._tables import table_in
from benchmarks.small_surveys import EVERY, NINE, named_ranges, tallies
from scipy import stats

import sottovoce as sv
from benchmarks import small_surveys
from sottovoce.estimates.answer.most_common_range import Sure, outward, sentence, surely
from sottovoce.estimates.distribution import default_bins
from sottovoce.estimates.fits.smooth_fits import Smooth, binned, runs

RESULTS = json.loads(small_surveys.RESULTS.read_text())


# -- what the benchmark found ------------------------------------------------------------------------------


def test_the_page_shows_the_results() -> None:
    assert table_in(small_surveys.PAGE, "small-surveys") == small_surveys.table(RESULTS)


def test_ranges_are_named_where_there_is_something_to_name() -> None:
    """Of uniform people at most in 5 %, of hours from 2,400 people on in 80 %, and ever more often."""
    named = RESULTS["named"]
    for design in small_surveys.DESIGNS:
        uniform, gamma = named["uniform"][design], named["gamma"][design]
        assert [cell["n"] for cell in uniform] == [*small_surveys.PEOPLE]
        assert all(cell["named"] <= 0.05 * cell["samples"] for cell in uniform)
        often = [cell["named"] for cell in gamma]
        assert often == sorted(often)
    last = [cell for cell in named["gamma"]["distribution"] if cell["n"] >= 2400]
    assert len(last) == 2
    assert all(cell["named"] >= 0.8 * cell["samples"] for cell in last)
    peaks = [line for lines in named["peaks"].values() for line in lines]
    assert len(named["peaks"]) == 10
    assert sum(line["missed"] for line in peaks) <= 0.05 * sum(line["named"] for line in peaks)


def test_ribbons_hold_where_they_are_said_to() -> None:
    """On average over the nine truths 85 %; with the design for it each but heaped, from 600 people on."""
    for design in small_surveys.DESIGNS:
        lines = [RESULTS["ribbon"][design][name] for name in NINE]
        for i in range(len(small_surveys.PEOPLE)):
            assert np.mean([line[i]["held"] for line in lines]) >= 0.85
    for name in NINE:
        held = [line["held"] for line in RESULTS["ribbon"]["distribution"][name] if line["n"] >= 600]
        assert len(held) == 3
        assert name == "heaped" or min(held) >= 0.85, name


def test_reconstructions_beat_the_published_standard() -> None:
    """Within two standard errors, which the figures have."""
    truths = RESULTS["errors"]["truths"]
    for i, limit in enumerate(small_surveys.W1_LIMITS):
        lines = [truths[name][i] for name in NINE]
        for which, most in (("w1", limit), ("tv", small_surveys.TV_LIMIT)):
            mean, error = small_surveys.geometric(lines, which)
            assert error < 0.1
            assert mean <= most + 2 * error


# -- a few samples, here and now ---------------------------------------------------------------------------


@pytest.mark.parametrize("design", small_surveys.DESIGNS)
def test_uniform_people_have_no_most_common_values(design: str) -> None:
    """One in a hundred samples names some: 6 or more of 30 have a probability below 1e-6.

    Nor is a curve drawn: their shape is hardly ever told from an even one.
    """
    assert stats.binom.sf(5, 30, 0.01) < 1e-6
    samples = list(tallies(design, "uniform", 600, 30))
    assert sum(bool(named_ranges(t)) for t in samples) <= 5
    fits = [Smooth.of(t) for t in samples]
    assert sum(fit.shaped for fit in fits) <= 5
    highest = [int(np.argmax(fit.probabilities(16))) for fit in fits]
    assert len(set(highest)) > 5  # what was named before: a bin that chance chooses


def test_hours_have_most_common_ones() -> None:
    """At 2,400 people at least 95 of 100 samples do: fewer than 6 of 12 have a probability below 1e-6."""
    assert stats.binom.cdf(5, 12, 0.95) < 1e-6
    samples = list(tallies("distribution", "gamma", 2400, 12))
    assert all(Smooth.of(t).shaped for t in samples)
    found = [ranges for t in samples if (ranges := named_ranges(t))]
    assert len(found) >= 6
    held = sum(any(low <= 0.3 <= high for low, high in ranges) for ranges in found)
    assert held >= len(found) - 3  # at most 5 % miss the peak: 4 of 12 have a probability of 2e-3 even then
    assert all(sum(high - low for low, high in ranges) < 0.5 for ranges in found)


@pytest.mark.parametrize("n", [100, 600, 2400])
def test_ribbons_hold_about_nine_places_in_ten(n: int) -> None:
    """Over eight truths, heaps aside: no less than .88 on average, where these samples have .96 to .99.

    They vary by .05 in the shares that hold: 24 of them by .011, so that is seven standard errors. Without
    the fits that are less smooth than the best it is .72 at 100 people and .86 at 600.
    """
    held, alone = [], []
    for name in NINE.keys() - {"heaped"}:
        for t in tallies("distribution", name, n, 3):
            bins, smooth = default_bins(t), Smooth.of(t)
            true = EVERY[name].shares(bins)
            low, high = smooth.ribbon(bins)
            held.append(((low <= true + 1e-12) & (true <= high + 1e-12)).mean())
            middle = smooth.probabilities(bins)
            alone.append((np.abs(middle - true) <= 1e-3 / bins).mean())
    assert np.mean(held) > 0.88 > np.mean(alone)


def test_what_is_said_is_the_same_whatever_bins_are_drawn() -> None:
    [t] = tallies("distribution", "gamma", 2400, 1)
    usual = sv.distribution(t)
    assert usual.most_common
    assert usual.sure is not None
    for bins in (2, 7, 24, 500):
        other = sv.distribution(t, bins)
        assert (other.most_common, other.sure) == (usual.most_common, usual.sure)
        assert other.sentence == usual.sentence


def test_a_sure_share_is_true() -> None:
    """Half of the people at one place, half at another: what is sure of them is at most what is there."""
    t = sv.Tally(m := sv.two_scale(2.0, (0, 10)), m.report(np.repeat([2.1, 7.4], 4000), rng=1))
    d = sv.distribution(t)
    assert d.sure is not None
    inside = sum(d.sure.low <= x <= d.sure.high for x in (2.1, 7.4))
    assert 30 < d.sure.share <= 50 * inside


def test_around_a_circle_ranges_cross_the_origin() -> None:
    m = sv.two_scale(2.0, sv.Circle(24))
    x = np.random.default_rng(1).normal(23.8, 1.0, 5000) % 24
    d = sv.distribution(sv.Tally(m, m.report(x, rng=2)))
    [(low, high)] = d.most_common or ()
    assert low < 23.8 < high
    assert high > 24
    assert d.sure is not None
    assert np.mean((x - d.sure.low) % 24 <= d.sure.high - d.sure.low) >= d.sure.share / 100
    assert re.match(r"The most common times appear to lie between 2\d:\d\d and \d:\d\d\. We are", d.sentence)


# -- the parts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "circle", "expected"),
    [
        ("..##..", False, [(2, 4)]),
        ("######", False, [(0, 6)]),
        ("######", True, [(0, 6)]),
        ("#....#", False, [(0, 1), (5, 6)]),
        ("#....#", True, [(5, 7)]),
        ("#.#..#", False, [(0, 3), (5, 6)]),
        ("#..#.#...#.....#", False, [(0, 10), (15, 16)]),
        ("#..#...#.#..", True, [(0, 4), (7, 10)]),
        (".#...#...#.#", True, [(5, 6), (9, 14)]),
    ],
)
def test_runs_of_bins(inside: str, circle: bool, expected: Sequence[tuple[int, int]]) -> None:
    marks = np.array([mark == "#" for mark in inside])
    assert runs(marks, circle=circle) == expected
    assert "".join("#" if mark else "." for mark in marks) == inside  # not changed


def test_binning_keeps_sums() -> None:
    f = np.random.default_rng(1).dirichlet(np.ones(512))
    for bins in (2, 24, 512, 700):
        assert binned(f, bins).sum() == pytest.approx(1)
        assert binned(np.ones((512, 3)), bins) == pytest.approx(np.full((bins, 3), 512 / bins))


def test_the_surest_range() -> None:
    """Of four bins: all limits are exact, and three quarters of the people are in the second."""
    exact = np.array([0.0, 0.1, 0.85, 0.9, 1.0])
    assert surely(exact, exact, circle=False) == (75, (1, 2))
    around = np.array([0.0, 0.4, 0.5, 0.6, 1.0])  # on a circle the first and the last are neighbours
    assert surely(around, around, circle=True) == (80, (3, 5))
    assert surely(around, around, circle=False) in {(40, (0, 1)), (40, (3, 4))}
    unknown = np.array([0.0, 0.0, 0.0, 0.0, 1.0]), np.ones(5)
    assert surely(*unknown, circle=False) is surely(*unknown, circle=True) is None


@pytest.mark.parametrize(
    ("domain", "given", "expected"),
    [
        (sv.Interval(0, 24), (5.3, 9.7), (5.25, 9.75)),
        (sv.Interval(0, 24), (0.0, 24.0), (0.0, 24.0)),
        (sv.Interval(-3, 100), (-2.9, 41.3), (-3, 42.5)),
        (sv.Circle(24), (21.1, 25.4), (21.0, 25.5)),
        (sv.Circle(24), (8.31, 9.24), (8.25, 9.25)),
        (sv.Circle(360), (-1.2, 17.2), (-2, 18)),
        (sv.Interval(1000, 1e6, scale="log"), (20_300, 63_000), (20_000, 65_000)),
    ],
)
def test_named_ranges_have_round_ends_outside(
    domain: sv.Interval | sv.Circle, given: tuple[float, float], expected: tuple[float, float]
) -> None:
    low, high = outward(domain, *given)
    assert (low, high) == pytest.approx(expected)
    assert low <= given[0] < given[1] <= high


def test_sentences() -> None:
    line, clock = sv.Interval(0, 24), sv.Circle(24)
    assert sentence(clock, 2400, [(5.3, 9.7)], Sure(66, 3.0, 13.5), 0.95) == (
        "The most common times appear to lie between 5:15 and 9:45. "
        "We are 95 % sure that at least 66 of 100 people are between 3:00 and 13:30."
    )
    assert sentence(line, 2400, [(1, 2), (6, 8)], None, 0.9) == (
        "The most common values appear to lie between 1 and 2, or between 6 and 8."
    )
    assert sentence(clock, 1600, [], Sure(54, 23.0, 25.0), 0.95) == (
        "We cannot tell from these 1,600 people which times are most common. "
        "We are 95 % sure that at least 54 of 100 are between 23:00 and 1:00."
    )
    assert sentence(line, 100, None, None, 0.95) == ""
    log = sv.Interval(1000, 1e6, scale="log")
    assert "common values (per factor) appear to lie between 20,000 and 65,000" in sentence(
        log, 9, [(20_300, 63_000)], None, 0.95
    )


def test_no_page_names_a_peak() -> None:
    """Neither as a word for people nor as the highest bin."""
    static = Path(sv.__file__).parent / "collector" / "pages" / "static"
    texts = [*static.glob("*.js"), *static.glob("*.html"), *static.glob("languages/*.json")]
    assert len(texts) > 15
    for path in texts:
        text = path.read_text()
        assert not re.search(r"most common:|\bpeaks?\b|indexOf\(Math\.max", text, re.IGNORECASE), path.name
