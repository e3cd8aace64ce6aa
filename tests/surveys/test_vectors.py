"""Many attributes: exact joint ε, variances against simulation, the choice of k, missing values."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from sottovoce.errors import ArgumentError, DataError, NoDataError, PrivacyError, SpecError
from sottovoce.exact.rational_bounds import exp_lower
from sottovoce.reporters.composites.functions_by_lot import Function, Functions
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.law.moments import resultant
from sottovoce.surveys.item_worth import (
    SpreadLike,
    about_worst_variance,
    as_spread,
    item_mechanism,
    worth,
)

MIXED = [(0, 120), (0, 10), sv.Circle(24)]


def mechanisms(m: Survey) -> dict[str, sv.Mechanism]:
    return {name: part for name, part in m.items.items() if isinstance(part, sv.Mechanism)}


def variance_per_person(m: Survey, question: str, prior: SpreadLike = None) -> float:
    """The variance that one person adds to the estimated mean of a question, in its units."""
    part = mechanisms(m)[question]
    return float(part.domain.stretched(worth(part, float(m.share), as_spread(prior, part.domain)), 2))


def means(m: Survey, values: np.ndarray, rng: np.random.Generator) -> list[float]:
    """The estimated mean of every question, all of them linear and unbiased: mean reports."""
    return [float(np.nanmean(column)) for column in m.perturb(values, rng=rng).values()]


def rows(n: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([120 * rng.beta(2, 5, n), 10 * rng.beta(5, 2, n), rng.normal(8, 2, n) % 24])


@pytest.mark.parametrize("sampled", [1, 2, 3])
def test_the_joint_epsilon_by_counting(sampled: int) -> None:
    """All joint reports of small mechanisms under all pairs of inputs, in exact fractions."""
    parts = (sv.duchi(0.5, (0, 1)), sv.ogpm(0.75, (0, 1), cells=3), sv.ogpm(0.25, sv.Circle(1), cells=4))
    worst = sum(sorted((0.5, 0.75, 0.25), reverse=True)[:sampled])
    m = Survey(worst, {str(i): part for i, part in enumerate(parts)}, sampled)
    inputs = list(product([0.0, 0.4, 1.0], repeat=3))
    lots = list(combinations(range(3), sampled))
    laws = []
    for x in inputs:
        single = [
            [Fraction(int(c), p.total) for c in p.counts([v])[0]] for p, v in zip(parts, x, strict=True)
        ]
        law = {}
        for lot in lots:
            for cells in product(*(range(parts[j].cells) for j in lot)):
                chance = Fraction(1, len(lots))
                for j, cell in zip(lot, cells, strict=True):
                    chance *= single[j][cell]
                law[lot, cells] = chance
        assert sum(law.values()) == 1
        laws.append(law)
    counted = max(max(law[key] for law in laws) / min(law[key] for law in laws) for key in laws[0])
    assert counted <= m.largest_ratio <= exp_lower(worst)
    assert float(counted) > 0.98 * float(m.largest_ratio)
    with pytest.raises(PrivacyError):
        Survey(worst * 0.98, m.items, sampled)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0, 6.0])
def test_vector_never_exceeds_its_epsilon(epsilon: float) -> None:
    for strategy in ("split", "sample"):
        m = sv.survey(epsilon, MIXED, strategy)
        audit = sv.audit(m)
        assert audit.holds
        assert audit.epsilon == pytest.approx(epsilon, rel=1e-6)


BUILT = [(0.5, 3), (3.0, 5), (5.0, 4)]


@pytest.mark.parametrize("prior", [None, "uniform"])
@pytest.mark.parametrize(("epsilon", "d"), BUILT)
def test_auto_is_the_best_of_all_k(epsilon: float, d: int, prior: str | None) -> None:
    """Against every k, each built from scratch: never worse than the better of split and sample."""

    def cost(m: Survey) -> float:
        return sum(variance_per_person(m, name, prior) for name in m.items)

    auto = sv.survey(epsilon, [(0, 1)] * d, prior=prior)
    costs = [cost(sv.survey(epsilon, [(0, 1)] * d, "sample", k=k, prior=prior)) for k in range(1, d + 1)]
    assert cost(auto) <= min(costs) * 1.0001
    assert auto.sampled == 1 + int(np.argmin(costs))
    assert auto.considered[auto.sampled] == pytest.approx(cost(auto))


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_auto_on_mixed_domains_is_never_worse_than_split_or_sample(epsilon: float) -> None:
    """Intervals and a circle, weighted: ε is then divided unevenly when all are reported."""
    weights = [1.0, 3.0, 0.5]

    def cost(m: Survey) -> float:
        return sum(
            w * variance_per_person(m, name) / part.domain.width**2
            for w, (name, part) in zip(weights, mechanisms(m).items(), strict=True)
        )

    auto, split = (cost(sv.survey(epsilon, MIXED, how, weights=weights)) for how in ("auto", "split"))
    sample = min(cost(sv.survey(epsilon, MIXED, "sample", k=k, weights=weights)) for k in (1, 2))
    assert auto <= 1.01 * min(split, sample)
    assert max(split, sample) > 1.01 * auto  # it was a choice


@pytest.mark.parametrize("prior", [None, "uniform", ([0.0, 1.0], [1, 1]), ([0.5], [1])])
def test_what_the_search_for_k_relies_on(prior: object) -> None:
    """ε·(V(ε) + luck) falls up to ε = 1, for all defaults: more than ε attributes each never pays."""
    for domain in (sv.Interval(0, 1), sv.Circle(1)):
        spread = as_spread(prior if isinstance(prior, str | None) else tuple(map(np.array, prior)), domain)  # type: ignore[call-overload]
        epsilons = np.geomspace(0.02, 1.0, 12 if spread is None else 5)
        price = [e * (worth(item_mechanism(float(e), domain, spread), 1.0, spread) + 0.25) for e in epsilons]
        assert (np.diff(price) < 0).all()


def test_an_assumed_spread_pays_and_never_biases() -> None:
    """Less expected variance than any other choice when the guess is right; unbiased when it is wrong."""
    domains, peak = [(0, 24)] * 2, np.random.default_rng(1).normal(7, 2, 500).clip(0, 24)
    worst = sv.survey(4.0, domains)
    even = sv.survey(4.0, domains, prior="uniform")
    told = sv.survey(4.0, domains, "sample", k=1, prior=[peak, None])
    assert (worst.sampled, even.sampled, told.sampled) == (2, 1, 1)
    assert variance_per_person(even, "0", "uniform") < 0.75 * variance_per_person(worst, "0", "uniform")
    assert variance_per_person(even, "0") > variance_per_person(worst, "0")
    assert variance_per_person(told, "0", peak) < 0.75 * variance_per_person(even, "0", peak)
    alone = sv.survey(4.0, domains, "sample", k=1)
    assert told.items["1"] == alone.items["1"] != even.items["1"]
    x = np.linspace(0, 24, 9)
    for m in (even, told):
        assert sv.audit(m).epsilon <= 4.0
        assert max(np.abs(part.bias(x)).max() for part in mechanisms(m).values()) < 1e-9
    # A mechanism of one's own keeps its place; the guess then decides on k alone.
    own = sv.survey(4.0, domains, prior="uniform", design=lambda e, d: sv.pm(e, d, cells=256))
    assert mechanisms(own)["0"] == sv.pm(4.0, (0, 24), cells=256)
    assert own.sampled == 1


def test_the_worst_truth_of_a_lopsided_mechanism() -> None:
    """Against a search over all truths of two values; about the middle it would be overstated."""
    m = sv.survey(3.0, [(0, 1)] * 2, "sample", k=1, prior=[[0.1, 0.15, 0.2], "uniform"])
    x = np.linspace(0, 1, 101)
    v = mechanisms(m)["0"].variance(x)
    p = np.linspace(0, 1, 101)[:, None, None]
    spread = p * (1 - p) * (x[:, None] - x[None, :]) ** 2
    brute = float(np.max((p * v[:, None] + (1 - p) * v[None, :]) * 2 + spread))
    assert brute <= variance_per_person(m, "0") * (1 + 1e-9)
    assert brute > 0.999 * variance_per_person(m, "0")
    assert np.max(2 * v + (x - 0.5) ** 2) > 1.001 * brute


@pytest.mark.parametrize("epsilon", [5e-4, 12.0])
def test_a_spread_outside_the_reach_of_the_search(epsilon: float) -> None:
    even, worst = (sv.survey(epsilon, [(0, 1)], prior=prior) for prior in ("uniform", None))
    assert variance_per_person(even, "0", "uniform") <= variance_per_person(worst, "0", "uniform")
    assert sv.audit(even).holds


def test_expected_variance_against_simulation() -> None:
    m = sv.survey(3.0, [(0, 1), (0, 1), sv.Circle(1)], "sample", k=1, prior="uniform")
    n, runs, rng = 600, 500, np.random.default_rng(4)
    peak = np.clip(rng.normal(0.3, 0.1, n), 0, 1)
    x = np.column_stack([peak, np.linspace(0, 1, n), peak])
    errors = np.array([means(m, x, rng)[:2] for _ in range(runs)]) - x.mean(axis=0)[:2]
    for j in range(2):
        expected = variance_per_person(m, str(j), x[:, j]) / n
        seen = float(np.mean(errors[:, j] ** 2))
        # As above; the guess keeps at most 65 values, which moves a variance by less than a hundredth.
        assert abs(seen / expected - 1) < 5.2 * math.sqrt(2 / runs) + 3 * 3 / n + 0.01
    # On the circle the mean of e^{ix}: its squared distance, with the length of the truth's mean known.
    turn = np.exp(2j * np.pi * peak)
    rho = resultant(mechanisms(m)["2"])
    luck = 2 * (1 - abs(turn.mean()) ** 2)
    assert variance_per_person(m, "2", peak) * (2 * np.pi) ** 2 == pytest.approx(
        3 * (1 / rho**2 - 1) + luck, rel=0.01
    )


@pytest.mark.parametrize("k", [1, 2, 3])
def test_variance_against_simulation(k: int) -> None:
    """The estimate of each mean, many times over, against the exact variance; the worst case bounds it."""
    m = sv.survey(3.0, [(0, 1)] * 3, "sample" if k < 3 else "split", k=k)
    n, runs = 400, 600
    x = np.tile(np.array([[0.0, 0.5, 0.3], [1.0, 0.5, 0.9]]), (n // 2, 1))
    rng = np.random.default_rng(11)
    errors = np.array([means(m, x, rng) for _ in range(runs)]) - x.mean(axis=0)
    share = k / 3
    for j, part in enumerate(mechanisms(m).values()):
        noise = float(np.mean(part.variance(x[:, j]))) / share
        luck = (1 / share - 1) * float(x[:, j].var())
        expected = (noise + luck) / n
        seen = float(np.mean(errors[:, j] ** 2))
        # A sum of squares of nearly normal errors: relative sd √(2/runs); 5.2 of them are 1e-6 two-sided; the
        # number of people who report varies, which adds at most (1/share)/n.
        assert abs(seen / expected - 1) < 5.2 * math.sqrt(2 / runs) + (1 / share) / n * 3
        assert noise + luck <= variance_per_person(m, str(j)) * (1 + 1e-9)
        assert abs(errors[:, j].mean()) < 5.2 * math.sqrt(expected / runs)


@pytest.mark.parametrize("epsilon", [0.02, 0.7, 1.7, 3.3, 6.0])
def test_epsilon_is_divided_by_what_designs_are_worth(epsilon: float) -> None:
    exact = worth(item_mechanism(epsilon, sv.Interval(0, 1)))
    assert about_worst_variance(epsilon) == pytest.approx(exact, rel=0.01)


def test_estimates_of_every_kind() -> None:
    m, x = sv.survey(3.0, MIXED), rows(20_000)
    t = sv.Tally(m, m.report(x[:12_000], rng=1)) + sv.Tally(m, m.report(x[12_000:], rng=2))
    assert t.n == 20_000
    assert sum(t[name].n for name in m.items) == 20_000 * m.sampled
    mean = sv.mean(t["0"])
    assert mean.low < x[:, 0].mean() < mean.high
    assert mean.n == t["0"].n
    median = sv.quantile(t["1"], 0.5)
    assert median.low < np.median(x[:, 1]) < median.high
    assert sv.circular_mean(t["2"]).value == pytest.approx(8, abs=0.3)
    assert sv.distribution(t["0"], bins=16, band=False).mean == pytest.approx(x[:, 0].mean(), abs=2)
    other = sv.survey(2.0, MIXED)
    with pytest.raises(DataError, match="different mechanisms"):
        t + sv.Tally(other)
    with pytest.raises(NoDataError):
        sv.mean(sv.Tally(m)["0"])
    with pytest.raises(DataError, match=r"not of one number; ask one of its items, such as tally\['0'\]"):
        sv.mean(t)
    with pytest.raises(KeyError, match="there is no item 'age'; items are '0', '1', '2'"):
        t["age"]


def test_the_mean_of_a_biased_design_is_the_estimate_and_not_the_mean_report() -> None:
    """Reports of a square wave lean to the middle: 0.358 where the truth is 0.111."""
    m = sv.survey(2.0, {"a": (0, 1), "b": (0, 1)}, "split", design=sv.sw)
    x = np.random.default_rng(3).beta(1, 8, 40_000)
    reports = m.report({"a": x, "b": np.full(x.size, 0.5)}, rng=4)
    estimate = sv.mean(sv.Tally(m, reports)["a"])
    assert x.mean() == pytest.approx(0.111, abs=0.001)
    assert estimate.value == pytest.approx(0.111, abs=0.012)  # the width of its interval
    assert estimate.low < x.mean() < estimate.high
    assert np.mean(m.decode(reports)["a"]) == pytest.approx(0.358, abs=0.01)


def test_the_circular_default_has_the_largest_resultant() -> None:
    for epsilon in (0.2, 1.0, 3.0):
        m = item_mechanism(epsilon, sv.Circle(1))
        for loss in ("l1", "l2", 4):
            assert resultant(m) >= resultant(sv.ogpm(epsilon, sv.Circle(1), loss, cells=4096)) - 1e-9


def test_weights_divide_unevenly() -> None:
    m = sv.survey(4.0, [(0, 1), (0, 1)], "split", weights=[10.0, 1.0])
    assert mechanisms(m)["0"].epsilon > mechanisms(m)["1"].epsilon
    assert mechanisms(m)["0"].epsilon + mechanisms(m)["1"].epsilon <= 4.0
    even = sv.survey(4.0, [(0, 1), (0, 1)], "split")
    cost, level = ([variance_per_person(one, name) for name in ("0", "1")] for one in (m, even))
    assert 10 * cost[0] + cost[1] < 10 * level[0] + level[1]


def test_a_missing_value_is_reported_like_any_other() -> None:
    m = sv.survey(3.0, {"a": (0, 1), "b": (0, 1)}, "split")
    x = {"a": np.full(30_000, 0.9), "b": np.full(30_000, math.nan)}
    t = sv.Tally(m, m.report(x, missing="uniform", rng=3))
    assert t["a"].n == t["b"].n == 30_000
    assert sv.mean(t["b"]).low < 0.5 < sv.mean(t["b"]).high
    t = sv.Tally(m, m.report(x, missing={"a": 0.5, "b": 0.2}, rng=3))
    assert sv.mean(t["b"]).low < 0.2 < sv.mean(t["b"]).high
    with pytest.raises(DataError, match="item 'b': 30000 of 30000 values are missing"):
        m.report(x)
    with pytest.raises(DataError, match="item 'b'"):  # a question without a rule refuses
        m.report(x, missing={"a": 0.5})
    for bad in (2.0, "skip", math.nan):
        with pytest.raises(ValueError, match="missing must"):
            m.report(x, missing=bad)  # type: ignore[arg-type]


def test_who_is_refused_does_not_depend_on_the_lot() -> None:
    m = sv.survey(1.0, [(0, 1)] * 5, "sample", k=1)
    x = np.full((1, 5), 0.5)
    x[0, 3] = 2.0
    for seed in range(20):
        with pytest.raises(DataError, match="item '3': 1 of 1 values are outside"):
            m.report(x, rng=seed)
    assert len(m.report(x, clip=True)) == 1


def test_the_lot_is_even() -> None:
    m = sv.survey(1.0, [(0, 1)] * 5, "sample", k=2)
    reports = m.report(np.full((50_000, 5), 0.5), rng=4)
    question = np.searchsorted(m.offsets, reports, side="right") - 1
    counts = np.bincount(question.reshape(-1), minlength=5)
    assert np.abs(counts - 20_000).max() < 5.5 * math.sqrt(50_000 * 0.4 * 0.6)
    assert (np.diff(question, axis=1) > 0).all()
    pairs = np.bincount(question[:, 0] * 5 + question[:, 1])
    assert np.abs(pairs[pairs > 0] - 5_000).max() < 5.5 * math.sqrt(50_000 * 0.1 * 0.9)
    assert (pairs > 0).sum() == 10


def test_json_and_bad_input() -> None:
    m = sv.survey(2.0, MIXED)
    assert sv.from_json(m.to_json()) == m
    assert sv.audit(m.to_json()).ratio == m.largest_ratio
    for text in ("[]", '{"format":"survey/1"}', m.to_json().replace('"sampled":1', '"sampled":4')):
        with pytest.raises(SpecError):
            sv.from_json(text)
    with pytest.raises(PrivacyError):
        sv.from_json(m.to_json().replace('"epsilon":2.0', '"epsilon":1.0', 1))
    one = [(0, 1), (0, 1)]
    with pytest.raises(ValueError, match="k must be at most the number of items, 2, got k=3"):
        sv.survey(1.0, one, "sample", k=3)
    with pytest.raises(ValueError, match="strategy='split' answers all 2 items"):
        sv.survey(1.0, one, "split", k=1)
    with pytest.raises(ValueError, match="too small to split into 2"):
        sv.survey(1e-6, one, "split")
    with pytest.raises(ValueError, match="strategy must be one of"):
        sv.survey(1.0, one, "both")
    with pytest.raises(TypeError, match="items must be a dict"):
        sv.survey(1.0, sv.Circle(24))  # type: ignore[arg-type]
    for wrong_prior in (
        "even",
        [0.1, 0.2],
        ["uniform"],
        (np.array([0.5]), np.array([1.0])),
        np.array([0.5, 0.6]),
    ):
        with pytest.raises(ValueError, match="prior must be 'uniform'"):
            sv.survey(1.0, one, prior=wrong_prior)
    with pytest.raises(ValueError, match="prior must lie in the domain"):
        sv.survey(1.0, one, prior=[[0.5], [1.5]])
    with pytest.raises(ValueError, match="weights must have one entry per item"):
        sv.survey(1.0, one, weights=[1.0])
    with pytest.raises(DataError, match=r"a column for each of 3 items, got shape \(4, 2\)"):
        m.report(np.zeros((4, 2)))
    good = m.report(rows(4))
    many = np.tile(good, (m.cells // 16, 2))
    none, twice = good[:, :0].reshape(4, 0), np.hstack((good, good))
    for wrong in (good + m.cells, none, twice, many, good.astype(float)):
        with pytest.raises((DataError, TypeError)):
            sv.Tally(m, wrong)


def test_what_cannot_be_an_item() -> None:
    several, line = sv.any_of(1.0, ["a", "b"]), sv.duchi(1.0)
    assert several.width == 1  # by lot
    with pytest.raises(SpecError, match="an item of a survey must not be a survey"):
        Survey(1.0, {"x": several, "y": line}, 1)
    functions = Functions({"home": sv.Disc(1), "x": line.domain}, (Function("value", ("x",)),), (1,))
    with pytest.raises(SpecError, match="inputs of functions must be numbers or options: places are"):
        Survey(1.0, {"x": line}, 1, functions=functions)
    with pytest.raises(ArgumentError, match="a place cannot be asked for beside a relation"):
        sv.survey(1.0, {"x": (0, 1), "y": (0, 1), "home": sv.Disc(1)}, relations=[("x", "y")])


def test_a_design_of_ones_own_may_be_of_any_kind() -> None:
    """Mixtures and tables as well as windows; what each is worth is the exact variance."""
    domain = sv.Interval(0, 24)
    for design in (sv.two_scale, lambda e, d: sv.design("quantile", e, d), sv.ptt):
        m = sv.survey(2.0, {"a": domain, "b": (0, 1e200)}, "split", design=design)
        part = m.items["a"]
        x = np.linspace(0, 24, 2001)
        assert worth(part) == pytest.approx(float(part.variance(x).max()) / 24**2)  # type: ignore[attr-defined]
        assert m.considered[2] == pytest.approx(sum(map(worth, m.items.values())))


def test_a_report_answers_different_questions_in_order() -> None:
    m = sv.survey(2.0, {"a": (0, 1), "b": (0, 1), "c": (0, 1)}, "sample", k=2)
    first, second, third = m.offsets[:-1].tolist()
    assert m.checked([first, third]).tolist() == [[first, third]]
    for wrong in ([[second, first]], [[first, first + 1]], [[first, second, third]], [first]):
        with pytest.raises(DataError) as refusal:
            m.checked(wrong)
        assert refusal.value.code in ("questions", "width")


def test_one_person_nobody_and_tables() -> None:
    m = sv.survey(2.0, {"a": (0, 1), "b": (0, 24)}, "split")
    assert m.report({"a": 0.5, "b": 3.0}).shape == m.report([0.5, 3.0]).shape == (2,)
    assert m.report(np.empty((0, 2))).shape == (0, 2)
    table = pd.DataFrame({"b": [3.0, 4.0], "a": [0.5, 0.6]})  # columns go by name, not by place
    assert np.array_equal(m.report(table, rng=1), m.report(np.array([[0.5, 3.0], [0.6, 4.0]]), rng=1))
    for wrong, code in (
        ({"a": [0.5]}, "lacking"),
        ({"a": [0.5], "b": [1.0], "c": [1.0]}, "unknown"),
        ({"a": [0.5], "b": [1.0, 2.0]}, "shape"),
    ):
        with pytest.raises(DataError) as refusal:
            m.report(wrong)
        assert refusal.value.code == code


def test_all_kinds_of_questions_in_one_survey() -> None:
    questions = {
        "age": (0, 120),
        "start": sv.Circle(24),
        "transport": ["car", "bike", "train"],
        "home": sv.Disc(10),
    }
    m = sv.survey(4.0, questions)
    assert sv.audit(m).holds
    assert sv.audit(m).epsilon == pytest.approx(4.0, rel=1e-6)
    rng = np.random.default_rng(4)
    n, truth = 60_000, np.array([0.5, 0.2, 0.3])
    values = {
        "age": 120 * rng.beta(2, 5, n),
        "start": rng.normal(8, 2, n) % 24,
        "transport": rng.choice(questions["transport"], n, p=truth),
        "home": rng.normal(0, 2, (n, 2)),
    }
    tally = sv.Tally(m, m.report(values, clip=True, rng=5))
    shares = sv.shares(tally["transport"], confidence=1 - 1e-6)
    assert all(one.low < p < one.high for p, one in zip(truth, shares.values(), strict=True))
    age = sv.mean(tally["age"], confidence=1 - 1e-6)
    assert age.low < values["age"].mean() < age.high


def test_the_worth_of_a_choice_is_the_variance_of_its_shares() -> None:
    """Of the average option, when all are chosen alike and a share of the people is asked."""
    k, n, runs, share = 5, 2_000, 600, 0.4
    m, rng = sv.choice(2.0, list(range(k))), np.random.default_rng(6)
    off = []
    for _ in range(runs):
        people = rng.permutation(np.arange(n) % k)
        asked = people[: round(share * n)]
        shares = sv.shares(sv.Tally(m, m.report(asked, rng=rng)))
        off.append([one.value - 1 / k for one in shares.values()])
    seen = n * float(np.mean(np.square(off)))
    # without replacement the luck of who is asked is as in `item_worth`; the error of a variance is √(2/df)
    assert seen == pytest.approx(worth(m, share), rel=5 * math.sqrt(2 / (runs * (k - 1))))


def test_weights_by_name_and_what_can_be_read_in_two_ways() -> None:
    questions = {"age": (0, 120), "score": (0, 10)}
    heavy = sv.survey(4.0, questions, "split", weights={"age": 9.0})
    parts = mechanisms(heavy)
    assert parts["age"].epsilon > parts["score"].epsilon
    assert heavy == sv.survey(4.0, questions, "split", weights=[9.0, 1.0])
    with pytest.raises(ValueError, match="no item 'hight'"):
        sv.survey(4.0, questions, weights={"hight": 2.0})
    with pytest.raises(ValueError, match="two ways: write \\(0, 120\\)"):
        sv.survey(4.0, {"age": [0, 120]})
    assert isinstance(sv.survey(1.0, {"vote": sv.Options((0, 1))}).items["vote"], sv.Translates)


def test_the_worth_of_a_place_is_the_variance_of_its_mean() -> None:
    """Of people everywhere alike, of whom a share is asked; so a place is not left without ε."""
    m, n, runs, share = sv.place(1.0, radius=10.0, points=12), 2_000, 100, 0.5
    rng = np.random.default_rng(8)
    people = m.domain.spread(rng.integers(0, 2**64, n, dtype=np.uint64))
    off = []
    for _ in range(runs):
        asked = rng.permutation(people)[: round(share * n)]
        both = sv.mean_position(sv.Tally(m, m.report(asked, rng=rng)))
        off.append([one.value for one in both] - people.mean(axis=0))
    seen = n * float(np.mean(np.square(off))) / 20**2
    assert seen == pytest.approx(worth(m, share), rel=5 * math.sqrt(2 / (2 * runs)))
    parts = sv.survey(4.0, {"age": (0, 120), "home": sv.Disc(10)}, "split").items
    assert parts["home"].epsilon > parts["age"].epsilon
