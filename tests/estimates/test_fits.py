"""The machinery of reconstruction: difference form, EM, splines, metrics."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from benchmarks._tables import table_in
from scipy import stats

import sottovoce as sv
from benchmarks import reconstruction
from sottovoce.estimates.fits import log_density, metrics
from sottovoce.estimates.fits.binned_cells import Binned, Table, em
from sottovoce.estimates.fits.metrics import Cumulative
from sottovoce.estimates.fits.refits import refits
from sottovoce.reporters.law.operator import Operator

MECHANISMS = [
    sv.sw(1.0, (0, 24)),
    sv.ogpm(2.0),
    sv.ogpm(2.0, sv.Circle(24)),
    sv.pm(0.5),
    sv.duchi(1.0),
    sv.two_scale(1.0, (0, 24)),
    sv.two_scale(4.0, sv.Circle(1)),
]


def binned(m: object, n: int = 2000, most: int = 96) -> Binned:
    u = np.random.default_rng(1).beta(5, 2, n)
    return Binned.of(sv.Tally(m, m.report(m.domain.from_unit(u), rng=1)), most)  # type: ignore[attr-defined]


def on_grid(found: Binned, points: int) -> Operator:
    return found.law(found.mechanism.domain.from_unit((np.arange(points) + 0.5) / points))


@pytest.mark.parametrize("m", MECHANISMS, ids=repr)
def test_products_with_columns_averages_and_rows_are_the_law(m: object) -> None:
    found = binned(m)
    rng = np.random.default_rng(2)
    for law in (on_grid(found, 50), found.law_of_parts(10, 5)):
        dense = law.dense()
        w, f = rng.normal(size=(len(dense), 3)), rng.normal(size=dense.shape[1])
        for form in (law, Operator.rows(dense)):
            np.testing.assert_allclose(form.dense(), dense, atol=1e-15)
            np.testing.assert_allclose(form.mix(w), dense.T @ w, atol=1e-14)
            np.testing.assert_allclose(form.mix(w[:, 0]), dense.T @ w[:, 0], atol=1e-14)
            np.testing.assert_allclose(form.expect(f), dense @ f, atol=1e-13)


class Dense:
    """A law as a plain matrix, for reports in any arrangement."""

    def __init__(self, matrix: np.ndarray, shape: tuple[int, ...]) -> None:
        self.matrix, self.shape = matrix, shape

    def mix(self, w: np.ndarray) -> np.ndarray:
        return (w @ self.matrix).reshape(self.shape)

    def expect(self, f: np.ndarray) -> np.ndarray:
        return np.asarray(self.matrix @ f.reshape(-1))


def likelihood(law: Operator, counts: np.ndarray, f: np.ndarray) -> float:
    return float(counts @ np.log(law.mix(f)))


@pytest.mark.parametrize("m", MECHANISMS, ids=repr)
def test_em_is_the_one_written_out_whatever_the_form_of_the_law(m: object) -> None:
    found = binned(m)
    law, counts, even = on_grid(found, 64), found.counts.astype(float), np.full(64, 1 / 64)
    f, matrix = even, law.dense()
    for _ in range(40):
        f = f * (matrix @ (counts / (f @ matrix))) / counts.sum()
    for form in (law, Operator.rows(matrix), Table(matrix)):
        np.testing.assert_allclose(em(form, counts, even, tolerance=0, most=40), f, atol=1e-12)
    square = (2, counts.size // 2)
    other = em(Dense(matrix, square), counts.reshape(square), even, tolerance=0, most=40)
    np.testing.assert_allclose(other, f, atol=1e-12)


def test_em_never_lowers_the_likelihood_and_obeys_its_rule() -> None:
    """It stops at the first ten iterations that gain less than ten times the tolerance."""
    found = binned(sv.sw(1.0))
    law, counts, even = on_grid(found, 64), found.counts.astype(float), np.full(64, 1 / 64)
    fits = {k: em(law, counts, even, most=k, tolerance=0) for k in range(9, 400, 10)}
    values = [likelihood(law, counts, f) for f in fits.values()]
    assert values == sorted(values)
    gains = np.diff(values)
    stop = 20 + 10 * int(np.argmax(gains < 10 * 0.05))
    assert 20 < stop < 300
    assert (em(law, counts, even) == em(law, counts, even, most=stop, tolerance=0)).all()
    assert (em(law, counts, even) != em(law, counts, even, most=stop - 10, tolerance=0)).any()


# -- splines ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("circle", [False, True])
def test_the_basis_sums_to_one_and_penalties_know_what_is_smooth(circle: bool) -> None:
    b = log_density.basis(500, circle=circle)
    assert b.sum(axis=1) == pytest.approx(np.ones(500))
    assert b.min() >= 0
    assert (b > 0).sum(axis=1).max() == 4
    for order in (1, 2, 3):
        d = log_density.differences(64, order, circle=circle)
        assert np.abs(d @ np.ones(64)).max() < 1e-12
        polynomial = np.arange(64.0) ** (order - 1)
        assert (np.abs(d @ polynomial).max() < 1e-6) == (not circle or order == 1)


def test_score_and_information_are_the_derivatives() -> None:
    """Against finite differences of the likelihood (score) and the expected outer product (information)."""
    found = binned(sv.two_scale(1.0), 20_000)
    law = on_grid(found, 128)
    model = log_density.Splines(found.counts.astype(float), law, False)
    design = model._design([40])
    theta = np.random.default_rng(3).normal(0, 0.3, design.shape[1])
    state = model._at(design, theta)
    for k in (0, 20, 63):
        step = np.zeros(len(theta))
        step[k] = 1e-5
        up, down = model._at(design, theta + step), model._at(design, theta - step)
        assert state.score[k] == pytest.approx((up.likelihood - down.likelihood) / 2e-5, rel=1e-5, abs=1e-3)
        change = (up.q - state.q) / 1e-5
        assert state.information[k, k] == pytest.approx(model.n * (change**2 / state.q).sum(), rel=1e-3)
    assert np.linalg.eigvalsh(state.information).min() > -1e-6


def test_the_evidence_is_laplaces_and_prefers_the_right_smoothness() -> None:
    found = binned(sv.two_scale(2.0), 30_000, 256)
    law = on_grid(found, 256)
    model = log_density.Splines(found.counts.astype(float), law, False)
    fits = model.fit()
    best = max(fits, key=lambda fit: fit.evidence)
    assert log_density.shares(fits).sum() == pytest.approx(1)
    assert log_density.average(fits).sum() == pytest.approx(1)

    def evidence(state: log_density.State, s: np.ndarray) -> float:
        logs = np.linalg.slogdet(s)[1] - np.linalg.slogdet(state.information + s)[1]
        return float(state.penalised(s) + logs / 2)

    assert best.evidence == pytest.approx(evidence(best.state, model.smoothing(best)), abs=1e-6)
    for factor in (1e-3, 1e3):  # a thousand times less or more smoothing has less evidence
        s = model._penalties(np.array(best.smoothing) * factor, best.order, 0)
        state, gain = model._climb(best.state, s, most=50)
        assert 0 <= gain < 1e-2
        assert evidence(state, s) < best.evidence - 1


@pytest.mark.parametrize("order", [2, 3])
def test_repetitions_are_fitted_together_as_alone_and_as_by_fisher_scoring(order: int) -> None:
    found = binned(sv.two_scale(2.0), 30_000, 256)
    model = log_density.Splines(found.counts.astype(float), on_grid(found, 256), False)
    fit = model.search(order, (0.1, 100.0))
    counts = np.random.default_rng(order).multinomial(found.n, found.shares, size=5).T.astype(float)
    together = refits(model, fit, counts)
    for i in range(5):
        np.testing.assert_allclose(refits(model, fit, counts[:, [i]])[:, 0], together[:, i], rtol=1e-6)
        other, s = replace(model, counts=counts[:, i]), model.smoothing(fit)
        climbed = other._climb(other._at(fit.state.design, fit.state.theta), s, most=60)[0]
        # Both stop where a step gains little: that far their likelihoods may differ, and no further.
        again = float(counts[:, i] @ np.log(model.law.mix(together[:, i])))
        assert abs(climbed.likelihood - again) < 0.05
        assert np.abs(climbed.f - together[:, i]).sum() < 0.01 < np.abs(fit.density - together[:, i]).sum()


def test_atoms_appear_only_where_there_are_any() -> None:
    rng = np.random.default_rng(9)
    smooth_values, m = rng.beta(5, 2, 50_000), sv.two_scale(2.0)
    spiky = np.where(rng.random(50_000) < 0.3, 0.37, smooth_values)
    atoms = []
    for values in (smooth_values, spiky):
        found = Binned.of(sv.Tally(m, m.report(values, rng=1)), 512)
        law = on_grid(found, 512)
        fits = log_density.Splines(found.counts.astype(float), law, False).fit()
        atoms.append(max(fits, key=lambda fit: fit.evidence).atoms)
    assert atoms[0] == ()
    assert any(abs(place - 189) <= 1 for place in atoms[1])


def test_explicit_rows_can_be_fitted_too() -> None:
    found = binned(sv.sw(2.0), 20_000)
    law = on_grid(found, 128)
    counts = found.counts.astype(float)
    fast = log_density.Splines(counts, law, False).search(2, (0.1, 100.0))
    slow = log_density.Splines(counts, Operator.rows(law.dense()), False).search(2, (0.1, 100.0))
    np.testing.assert_allclose(fast.density, slow.density, atol=1e-6)


# -- metrics ----------------------------------------------------------------------------------------------


def test_distances_between_samples_are_scipys() -> None:
    rng = np.random.default_rng(4)
    for _ in range(5):
        a, b = rng.random(60), np.append(rng.beta(2, 5, 39), [0.0, 1.0])
        one, two = Cumulative.of_sample(a), Cumulative.of_sample(b)
        assert metrics.wasserstein(one, two) == pytest.approx(stats.wasserstein_distance(a, b))
        assert metrics.ks(one, two) == pytest.approx(stats.ks_2samp(a, b).statistic)
        hist = [np.histogram(v, 8, (0, 1))[0] / len(v) for v in (a, b)]
        assert metrics.l1(one, two, 8) == pytest.approx(np.abs(hist[0] - hist[1]).sum())


def test_distances_with_bins_are_integrals() -> None:
    p, q = np.array([0.5, 0.1, 0.4]), np.array([0.1, 0.2, 0.3, 0.4])
    x = (np.arange(120_000) + 0.5) / 120_000
    f = np.interp(x, [0, 1 / 3, 2 / 3, 1], [0, 0.5, 0.6, 1])
    g = np.interp(x, [0, 0.25, 0.5, 0.75, 1], [0, 0.1, 0.3, 0.6, 1])
    one, two = Cumulative.of_bins(p), Cumulative.of_bins(q)
    assert metrics.wasserstein(one, two) == pytest.approx(np.abs(f - g).mean(), abs=1e-8)
    assert metrics.ks(one, two) == pytest.approx(np.abs(f - g).max(), abs=1e-4)
    turned = min(np.abs(f - g - c).mean() for c in np.linspace(-1, 1, 2001))
    assert metrics.wasserstein(one, two, circle=True) == pytest.approx(turned, abs=1e-6)


def test_around_a_circle_mass_moves_the_short_way() -> None:
    one, two = Cumulative.of_sample(np.array([0.05])), Cumulative.of_sample(np.array([0.95]))
    assert metrics.wasserstein(one, two) == pytest.approx(0.9)
    assert metrics.wasserstein(one, two, circle=True) == pytest.approx(0.1)
    rng = np.random.default_rng(5)
    a, b = rng.random(50), rng.random(50)
    whole = metrics.wasserstein(Cumulative.of_sample(a), Cumulative.of_sample(b), circle=True)
    for turn in (0.2, 0.7):
        moved = [Cumulative.of_sample(np.mod(v + turn, 1)) for v in (a, b)]
        assert metrics.wasserstein(*moved, circle=True) == pytest.approx(whole)
        assert metrics.ks(*moved, circle=True) == pytest.approx(
            metrics.ks(Cumulative.of_sample(a), Cumulative.of_sample(b), circle=True)
        )


def test_the_page_shows_what_was_measured_and_it_is_what_was_asked_for() -> None:
    """The default against the standard: at most 0.90 from n·ε² = 10⁴, at most 1.05 on average below."""
    summary, tables = reconstruction.parts()
    assert table_in(reconstruction.PAGE, "reconstruction-summary") == summary
    assert table_in(reconstruction.PAGE, "reconstruction") == tables
    rows = [line.strip("| ").split(" | ") for line in summary.splitlines()[2:]]
    assert len(rows) == 6
    for what, geometric, arithmetic in rows:
        limit = 0.90 if "≥" in what else 1.05
        assert float(geometric) <= limit, what
        assert float(arithmetic) <= 1.05, what
    # The means are those of the tables, to the two digits that those have.
    for (_, geometric, _), part in zip(rows, tables.split("\n\n**"), strict=True):
        lines = [line for line in part.splitlines() if line.startswith("| ") and "±" in line]
        ratios = [float(line.rsplit(" | ", 1)[1].split(" ± ")[0]) for line in lines]
        assert math.exp(np.log(ratios).mean()) == pytest.approx(float(geometric), abs=0.005)
