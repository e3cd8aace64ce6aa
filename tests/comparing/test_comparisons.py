"""Differences, groups, trends, weights, sequential limits, fakes: what must hold and what must be refused."""

from __future__ import annotations

import pickle
from typing import Any

import matplotlib
import numpy as np
import pytest
from scipy.stats import binom, ttest_ind_from_stats

import sottovoce as sv


def draw(m: sv.Mechanism, x: np.ndarray, n: int, rng: np.random.Generator) -> sv.Tally:
    """A tally of n people from equally likely values, drawn from the exact law as counts."""
    law = m.operator(x).mix(np.full(len(x), 1 / len(x)))
    return sv.Tally.from_counts(m, rng.multinomial(n, law / law.sum()))


RNG = np.random.default_rng(18)
SKEWED = RNG.beta(1, 8, 400)
PEAKS = np.concatenate((RNG.beta(20, 60, 160), RNG.beta(60, 20, 240)))
A, B, C = (draw(sv.optimal(2.0), x, n, RNG) for x, n in ((SKEWED, 900), (PEAKS, 400), (PEAKS / 2, 700)))


def test_a_difference_of_means_is_welchs_test() -> None:
    weights = A.reporter.positions
    moments = []
    for t in (A, B):
        mean = weights @ t.counts / t.n
        moments += [mean, np.sqrt(((weights - mean) ** 2) @ t.counts / (t.n - 1)), t.n]
    welch = ttest_ind_from_stats(*moments, equal_var=False)
    d = sv.difference(A, B)
    assert d.value == pytest.approx(moments[0] - moments[3])
    assert d.error == pytest.approx(np.hypot(moments[1] / 30, moments[4] / 20))
    assert d.half_width == pytest.approx(1.96 * d.error, rel=0.03)
    assert d.p_value == pytest.approx(welch.pvalue, rel=0.2)  # the skewness term makes it a little larger


def test_p_values_and_intervals_agree() -> None:
    for of, between in (("mean", None), ("probability", (0.0, 0.3)), ("variance", None)):
        p = sv.difference(A, C, of, between=between).p_value
        assert p is not None
        for confidence in (1 - 0.9 * p, 1 - min(1.1 * p, 0.9)):  # below .1, weights are chosen for luck alone
            d = sv.difference(A, C, of, between=between, confidence=confidence)
            # Other weights suit another confidence: within a tenth of its width.
            outside = max(d.low, -d.high) / (d.high - d.low)
            assert (outside > -0.1) if confidence < 1 - p else (outside < 0.1)


def test_arithmetic_of_estimates() -> None:
    a, b = sv.mean(A), sv.mean(B)
    d = a - b
    assert (d.value, d.low, d.high) == pytest.approx((-(b - a).value, -(b - a).high, -(b - a).low))
    assert d.p_value == pytest.approx((b - a).p_value)
    assert (d.low, d.high) == (sv.difference(A, B).low, sv.difference(A, B).high)
    twice = 2 * a
    assert (twice.value, twice.low, twice.high) == pytest.approx((2 * a.value, 2 * a.low, 2 * a.high))
    assert (a / 2 + 1).low == pytest.approx(a.low / 2 + 1)
    assert (1 - a).low == pytest.approx(1 - a.high)
    ratio = a / b
    assert ratio.low < ratio.value < ratio.high
    assert ratio.value == pytest.approx(a.value / b.value)
    for edge in (ratio.low, ratio.high):  # Fieller: a − r·b is just excluded at the ends
        gap = a - edge * b
        assert min(abs(gap.low), abs(gap.high)) < 1e-6
    zero = a / (sv.mean(C) - sv.mean(C).value)
    assert (zero.low, zero.high) == (-np.inf, np.inf)
    both = sv.quantile(A, 0.5) - sv.quantile(B, 0.5)  # only limits are known
    assert both.confidence == pytest.approx(0.9025)
    assert both.p_value is None


def test_what_is_not_known_to_be_independent_is_refused() -> None:
    again = sv.Tally.from_json(A.to_json())
    copies = [A, A + B, B + A, again, pickle.loads(pickle.dumps(A))]
    for other in copies:
        with pytest.raises(ValueError, match="same reports") as error:
            sv.mean(A) - sv.mean(other)
        assert error.value.code == "dependent"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="same reports"):
        sv.mean(A) - sv.variance(A)
    with pytest.raises(ValueError, match="same reports"):
        (sv.mean(A) - sv.mean(B)) + sv.mean(B)
    with pytest.raises(ValueError, match="not known whose"):
        sv.mean(A, estimand="respondents") - sv.central.mean(SKEWED, epsilon=1.0, domain=(0, 1))
    with pytest.raises(ValueError, match="do not add up"):
        sv.mean(A) - sv.mean(B, estimand="respondents")
    with pytest.raises(ValueError, match="share reports"):
        sv.compare({"one": A, "two": A})
    with pytest.raises(TypeError):
        sv.mean(A) * "2"  # type: ignore[operator]
    # Few reports of two cells agree by chance: that does not make them the same people.
    coin = sv.duchi(1.0)
    assert sv.difference(sv.Tally(coin, [0, 1] * 50), sv.Tally(coin, [1, 0] * 50)).value == 0


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_differences_hold(epsilon: float) -> None:
    """200 runs of unequal groups with mixed mechanisms; false alarm 1e-6. Half as wide they would fail."""
    rng, runs = np.random.default_rng(181), 200
    one, other = sv.optimal(epsilon), sv.duchi(epsilon + 0.5)
    true = SKEWED.mean() - PEAKS.mean()
    inside = halved = 0
    for _ in range(runs):
        d = sv.difference(draw(one, SKEWED, 1000, rng), draw(other, PEAKS, 100, rng))
        inside += d.low <= true <= d.high
        halved += abs(d.value - true) <= d.half_width / 2
    least = binom.ppf(1e-6, runs, 0.95)
    assert inside >= least > halved


def test_simultaneous_intervals_and_ranks() -> None:
    groups = {"a": A, "b": B, "c": C}
    alone, together = sv.mean(A), sv.compare(groups)
    assert together.groups["a"].half_width > alone.half_width
    assert together.groups["a"].half_width == pytest.approx(sv.mean(A, confidence=0.95 ** (1 / 3)).half_width)
    pairs = sv.compare(groups, over="pairs")
    assert set(pairs.differences) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert pairs.differences["a", "b"].low == pytest.approx(sv.difference(A, B, confidence=1 - 0.05 / 3).low)
    for comparison in (together, pairs):
        for name, (first, last) in comparison.ranks.items():
            surely = [(other, name) if other < name else (name, other) for other in groups if other != name]
            above = below = 0
            for one, two in surely:
                if comparison is pairs:
                    gap = pairs.differences[one, two]
                    low, high = (gap.low, gap.high) if one == name else (-gap.high, -gap.low)
                    above, below = above + (high < 0), below + (low > 0)
                else:
                    other = together.groups[two if one == name else one]
                    here = together.groups[name]
                    above, below = above + (other.low > here.high), below + (other.high < here.low)
            assert (first, last) == (1 + above, 3 - below)
    assert "rank" in str(together)
    assert "<table>" in together._repr_html_()
    assert list(pairs.to_frame()["first"]) == ["a", "a", "b"]
    assert together.to_dict()["over"] == "groups"
    assert sv.compare(groups, "quantile", over="pairs").differences["a", "b"].confidence > 0.98


def test_trends() -> None:
    days = {"2026-03-01": A, "2026-03-03": C, "2026-03-09": B}
    t = sv.trend(days, per="week")
    x, values = np.array([0, 2, 8]) / 7, [sv.mean(tally).value for tally in days.values()]
    people = np.sqrt([tally.n for tally in days.values()])
    assert t.slope.value == pytest.approx(np.polyfit(x, values, 1, w=people)[0])
    assert t.slope.low < t.slope.value < t.slope.high
    assert t.slope.confidence == 0.95
    change = t.change("2026-03-01", "2026-03-09")
    assert change.value == pytest.approx((sv.mean(B) - sv.mean(A)).value)
    assert (change.low, change.confidence) == (pytest.approx((sv.mean(B) - sv.mean(A)).low), 0.95)
    assert t.slope.value / 7 == pytest.approx(sv.trend(days).slope.value)
    numbers = sv.trend(dict(zip((0, 2, 8), days.values(), strict=True)))
    assert numbers.slope.value == pytest.approx(t.slope.value / 7)
    weeks = sv.trend({"2026-W09": A, "2026-W10": B}, per="week")
    assert weeks.slope.value == pytest.approx((sv.mean(B) - sv.mean(A)).value)
    assert len(t.to_frame()) == 3
    with pytest.raises(ValueError, match="same moment"):
        sv.trend({"2026-03-01": A, "2026-W09-7": B})
    with pytest.raises(ValueError, match="one of the moments"):
        t.change("2026-03-01", "2026-03-02")


def test_weights() -> None:
    w = sv.weighted({"a": A, "b": B}, {"a": 1.0, "b": 3.0})
    combined = sv.mean(A) / 4 + sv.mean(B) * 0.75
    assert (w.value, w.low, w.high) == pytest.approx((combined.value, combined.low, combined.high))
    assert w.effective == pytest.approx(1 / (1 / 16 / 900 + 9 / 16 / 400))
    even = sv.weighted({"a": A, "b": B}, {"a": 900, "b": 400})
    assert even.effective == pytest.approx(1300)
    for weights in ({"a": 1.0}, {"a": 1.0, "b": -1.0}, {"a": 0.0, "b": 0.0}):
        with pytest.raises(ValueError, match="weights"):
            sv.weighted({"a": A, "b": B}, weights)
    with pytest.raises(ValueError, match="question must be"):
        sv.weighted({"a": A, "b": B}, {"a": 1, "b": 1}, question="variance")


def test_sequential_intervals_hold_at_every_look_and_others_do_not() -> None:
    """All sequences of 28 answers to a coin, by their exact probabilities: a look after each."""
    coin, people = sv.duchi(2.0), 28
    yes = float(coin.probabilities(0.5)[1])

    def ever_excluded(**how: object) -> float:
        alive, lost = np.array([1.0]), 0.0
        for n in range(1, people + 1):
            alive = np.concatenate((alive, [0])) * (1 - yes) + np.concatenate(([0], alive)) * yes
            for k in range(n + 1):
                if alive[k] > 0:
                    e = sv.mean(sv.Tally.from_counts(coin, [n - k, k]), **how)  # type: ignore[arg-type]
                    if not e.low <= 0.5 <= e.high:
                        lost, alive[k] = lost + alive[k], 0.0
        return lost

    assert ever_excluded(sequential=True) <= 0.05
    assert ever_excluded() > 0.05


def test_a_sequential_interval_says_what_it_costs() -> None:
    for e in (sv.mean(A, sequential=True), sv.probability(B, 0, 0.4, sequential=True)):
        assert any("at every look" in note and "times the width" in note for note in e.notes)
    wide, narrow = sv.difference(A, B, sequential=True), sv.difference(A, B)
    assert wide.low <= narrow.low < narrow.high <= wide.high
    assert wide.p_value is not None
    assert narrow.p_value is not None
    assert wide.p_value >= narrow.p_value
    assert sum("at every look" in note for note in wide.notes) == 1
    with pytest.raises(ValueError, match="respondents"):
        sv.mean(sv.Tally(sv.sw(1.0), [1, 2, 3]), sequential=True, estimand="respondents")
    with pytest.raises(ValueError, match="interval does not belong to sequential=True"):
        sv.mean(A, interval="finite", sequential=True)
    with pytest.raises(ValueError, match="sequential does not belong to question='variance'"):
        sv.difference(A, B, "variance", sequential=True)


@pytest.mark.parametrize("how", [{}, {"interval": "finite"}, {"sequential": True}], ids=str)
@pytest.mark.parametrize("m", [sv.optimal(2.0), sv.sw(2.0)], ids=["optimal", "sw"])
def test_fakes_cannot_move_the_truth_out(m: sv.Mechanism, how: dict[str, Any]) -> None:
    """Whatever k reports become, the limits for k fakes reach as far as those of the honest reports."""
    rng = np.random.default_rng(3)
    honest, k = draw(m, PEAKS, 500, rng), 20
    truth = sv.mean(honest, **how)
    for cell in (0, m.cells // 2, m.cells - 1):
        people = np.repeat(np.arange(m.cells), honest.counts)
        people[rng.choice(500, k, replace=False)] = cell
        with_fakes = sv.Tally(m, people)
        e = sv.mean(with_fakes, **how, fakes=k)
        if how or m.name != "sw":  # there the weights of honest reports are others
            assert e.low <= truth.low + 1e-9
            assert e.high >= truth.high - 1e-9
        assert e.low <= PEAKS.mean() <= e.high
        assert any("fakes" in note for note in e.notes)
    naive = sv.mean(sv.Tally(m, np.where(np.arange(500) < 400, people, 0)), **how)
    assert not naive.low <= truth.value <= naive.high
    d = sv.difference(honest, A, fakes=k)
    assert d.half_width > sv.difference(honest, A).half_width
    with pytest.raises(ValueError, match="fakes"):
        sv.mean(A, fakes=A.n + 1)


def test_directions_across_the_seam() -> None:
    m = sv.ogpm(4.0, sv.Circle(24))
    rng = np.random.default_rng(5)
    late, early = (draw(m, np.mod(rng.normal(h, 1, 300), 24), 4000, rng) for h in (23, 1))
    d = sv.difference(early, late, "direction")
    assert d.low < 2 < d.high < 4
    assert d.p_value is not None
    assert d.p_value < 1e-3
    assert sv.difference(late, early, "direction").value == pytest.approx(-d.value)
    few = sv.difference(draw(m, np.array([1.0]), 3, rng), late, "direction")
    assert few.high - few.low == pytest.approx(24)
    assert few.p_value is not None
    assert few.p_value > 0.1
    with pytest.raises(ValueError, match="equally long"):
        sv.difference(late, sv.Tally(sv.ogpm(1.0, sv.Circle(12)), [1, 2, 3]), "direction")


def test_shares_of_options() -> None:
    m = sv.choice(2.0, ["car", "bike", "train"])
    a, b = (sv.Tally(m, m.report(["car"] * cars + ["bike"] * 3000, rng=cars)) for cars in (6000, 2000))
    d = sv.difference(a, b, "share", option="car")
    assert d.low < 6 / 9 - 2 / 5 < d.high
    assert (d.low, d.high) == ((gap := sv.shares(a)["car"] - sv.shares(b)["car"]).low, gap.high)
    assert sv.weighted({"a": a, "b": b}, {"a": 1, "b": 1}, "share", option="bike").effective > 9000
    with pytest.raises(ValueError, match="same reports"):
        sv.shares(a)["car"] - sv.shares(a)["bike"]
    with pytest.raises(ValueError, match="option must be one of 'car'"):
        sv.difference(a, b, "share", option="boat")
    with pytest.raises(ValueError, match="option goes with"):
        sv.difference(a, b, "share")


def test_pictures() -> None:
    matplotlib.use("Agg")
    groups = {"a": A, "b": B, "c": C}
    axes = sv.compare(groups).plot()
    names = [text.get_text() for text in axes.get_yticklabels()]
    values = {name: e.value for name, e in sv.compare(groups).groups.items()}
    assert [name[0] for name in names] == sorted(values, key=values.__getitem__, reverse=True)
    assert len(sv.compare(groups, over="pairs").plot().get_yticklabels()) == 3
    sv.trend({1: A, 2: B, 3: C}).plot()
