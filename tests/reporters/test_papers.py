"""Reference values (FACTS sections 2, 3, 5, 6) and the papers' errata, each with its own test.

The papers' densities are written out here once more, in their own variables, and integrated exactly; the
library shares no code with this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import sottovoce as sv
from sottovoce.designs.published_formulas import (
    ogpm_density,
    ptt_optimal_q,
    ptt_parameters,
    ptt_worst_variance,
)

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)


class Pieces:
    """A density with value p·e^{−ε} on [a, b] and p on [l, r] inside it."""

    def __init__(self, a: float, b: float, left: float, right: float, p: float, epsilon: float) -> None:
        self.parts = [(a, left, p * math.exp(-epsilon)), (left, right, p), (right, b, p * math.exp(-epsilon))]

    def integral(self, power: Callable[[float, float], float]) -> float:
        return sum(height * power(low, high) for low, high, height in self.parts)

    @property
    def mass(self) -> float:
        return self.integral(lambda low, high: high - low)

    @property
    def mean(self) -> float:
        return self.integral(lambda low, high: (high**2 - low**2) / 2)

    def error(self, x: float, k: int) -> float:
        def power(low: float, high: float) -> float:
            def primitive(y: float) -> float:
                return math.copysign(abs(y - x) ** (k + 1), y - x) / (k + 1)

            return primitive(high) - primitive(low)

        return self.integral(power)


def theorem_3_7(epsilon: float, x: float, p: float | None = None) -> Pieces:
    p = math.exp(epsilon / 2) if p is None else p
    c = (math.exp(epsilon) - p) / (p * (math.exp(epsilon) - 1)) / 2
    left = min(max(x - c, 0), 1 - 2 * c)
    return Pieces(0, 1, left, left + 2 * c, p, epsilon)


def piecewise_mechanism(epsilon: float, x: float) -> Pieces:
    """Wang et al. on [−1, 1]."""
    root = math.exp(epsilon / 2)
    c = (root + 1) / (root - 1)
    left = (c + 1) / 2 * x - (c - 1) / 2
    p = (math.exp(epsilon) - root) / (2 * root + 2)
    return Pieces(-c, c, left, left + c - 1, p, epsilon)


def square_wave(epsilon: float, x: float) -> Pieces:
    e = math.exp(epsilon)
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    return Pieces(-b, 1 + b, x - b, x + b, e / (2 * b * e + 1), epsilon)


def theorem_5_1(epsilon: float, x: float) -> Pieces:
    root = math.exp(epsilon / 2)
    c = (root + 1) / (root - 1)
    left = (c + 1) / 2 * x - (3 * c + 1) * (c - 1) / (4 * c)
    right = (c + 1) / 2 * x + (c + 1) * (c - 1) / (4 * c)
    return Pieces(-c, c + 1, left, right, root / (2 * c + 1), epsilon)


def type_one_ptt(epsilon: float, x: float, q: float) -> Pieces:
    e = math.exp(epsilon)
    k, a = e / (q * (e - 1)), 1 / ((1 - q) * (e - 1))
    p = e / (2 * a * k * (e - 1))
    return Pieces(-k - a, k + a, k * x - a, k * x + a, p, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_moments_against_the_papers_densities(epsilon: float) -> None:
    q = 0.3
    pairs = [
        (sv.ogpm(epsilon, loss="l1"), theorem_3_7, (0, 1)),
        (sv.pm(epsilon, (-1, 1)), piecewise_mechanism, (-1, 1)),
        (sv.sw(epsilon), square_wave, (0, 1)),
        (sv.ogpm_unbiased(epsilon), theorem_5_1, (0, 1)),
        (sv.ptt(epsilon, (-1, 1), q), lambda e, x: type_one_ptt(e, x, q), (-1, 1)),
    ]
    for mechanism, formula, (low, high) in pairs:
        for x in np.linspace(low, high, 9):
            law = formula(epsilon, x)
            assert law.mass == pytest.approx(1, rel=1e-9)
            width = mechanism.edges[-1] - mechanism.edges[0]
            assert mechanism.bias(x) == pytest.approx(law.mean - x, abs=2e-5 * width)
            for k in (1, 2, 3):
                assert mechanism.error(x, k) == pytest.approx(law.error(x, k), rel=2e-4), (formula, x, k)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_circle_against_theorem_4_4(epsilon: float) -> None:
    for loss in ("l1", "l2"):
        p = ogpm_density(epsilon, loss) / (2 * math.pi)
        w = (math.exp(epsilon) - 2 * math.pi * p) / (2 * math.pi * p * (math.exp(epsilon) - 1))
        c = math.pi * w
        mse = 2 / 3 * ((math.pi**3 - c**3) * p / math.exp(epsilon) + c**3 * p)
        m = sv.ogpm(epsilon, sv.Circle(2 * math.pi), loss)
        assert m.error(np.linspace(0, 6.28, 5)) == pytest.approx(mse, rel=1e-6)
        assert m.worst_error("l2") == pytest.approx(mse, rel=1e-6)


def test_ogpm_worst_cases() -> None:
    """FACTS 2 and 4."""
    l1 = {0.5: 0.43782, 1: 0.37754, 2: 0.26894, 4: 0.11920}
    theorem = {0.5: 0.27373, 1: 0.22087, 2: 0.13787, 4: 0.04921}
    root = {0.5: 0.27199, 1: 0.21730, 2: 0.13111, 4: 0.04064}
    for epsilon in l1:
        assert sv.ogpm(epsilon, loss="l1").worst_error("l1") == pytest.approx(l1[epsilon], abs=5.1e-6)
        assert sv.ogpm(epsilon, loss="l1").worst_error("l2") == pytest.approx(theorem[epsilon], abs=5.1e-6)
        assert sv.ogpm(epsilon, loss="l2").worst_error("l2") == pytest.approx(root[epsilon], abs=5.1e-6)


def test_unbiased_worst_variances() -> None:
    """FACTS 4: the second table."""
    table = {
        0.5: (20.85, 5.306, 5.2645, 4.168),
        1: (5.0245, 1.3059, 1.2664, 1.1707),
        2: (1.1239, 0.3069, 0.2730, 0.4310),
        4: (0.2009, 0.0603, 0.0405, 0.2690),
    }
    for epsilon, expected in table.items():
        found = [f(epsilon, (0, 1)).worst_variance() for f in (sv.ogpm_unbiased, sv.pm, sv.ptt, sv.duchi)]
        assert found == pytest.approx(expected, rel=3e-3 if epsilon == 4 else 5e-4)


def test_mean_error_ratios_of_section_7_1() -> None:
    """FACTS 2: mean |error| of OGPM over PM-C and SW-C."""
    x = np.linspace(0, 1, 1001)
    for epsilon, to_pm, to_sw in ((2.0, 0.9423, 0.9232), (4.0, 0.9049, 0.7473)):
        ours = sv.ogpm(epsilon, loss="l1").error(x, "l1").mean()
        assert ours / sv.pm(epsilon, (0, 1)).compressed().error(x, "l1").mean() == pytest.approx(
            to_pm, abs=1e-4
        )
        assert ours / sv.sw(epsilon).compressed().error(x, "l1").mean() == pytest.approx(to_sw, abs=1e-4)


def test_ogpm_and_compressed_pm_agree_at_the_ends() -> None:
    for epsilon in (0.5, 2.0):
        ends = sv.ogpm(epsilon, loss="l1").error([0, 1], "l1")
        assert sv.pm(epsilon, (0, 1)).compressed().error([0, 1], "l1") == pytest.approx(ends, rel=1e-4)


def test_square_wave_at_zero() -> None:
    assert sv.sw(1.0).error(0.0) == pytest.approx(0.2865, abs=5e-5)
    assert sv.sw(1.0).compressed().error(0.0) == pytest.approx(0.2248, abs=5e-5)


def test_truncating_keeps_reports_inside_and_only_redecodes() -> None:
    m = sv.pm(1.0, (0, 10))
    t = m.truncated()
    x = np.linspace(0, 10, 11)
    assert t.decode(np.arange(t.cells)).min() == 0
    assert t.decode(np.arange(t.cells)).max() == 10
    assert np.array_equal(m.counts(x), t.counts(x))
    assert t.perturb(x, rng=2) == pytest.approx(np.clip(m.perturb(x, rng=2), 0, 10), abs=1e-12)
    assert np.isinf(t.density(3.0, 0.0))


def test_example_6_1() -> None:
    """at=0.2 at ε = 1: p = 1.5459 and error 0.24137, against 0.24336 with Theorem 3.7's p."""
    m = sv.ogpm(1.0, loss="l1", at=0.2)
    assert m.error(0.2, "l1") == pytest.approx(0.24137, abs=1e-5)
    assert m.window.mass / m.window.total * math.e == pytest.approx(1.5459, abs=1e-4)
    assert sv.ogpm(1.0, loss="l1").error(0.2, "l1") == pytest.approx(0.24336, abs=1e-5)


def test_erratum_theorem_3_7_is_not_optimal_for_squared_error() -> None:
    for epsilon, p in ((1.0, 1.50933), (2.0, 2.23001), (4.0, 4.62521)):
        e = math.exp(epsilon)
        root = ogpm_density(epsilon, "l2")
        assert root == pytest.approx(p, abs=5e-6)
        assert (e - 2) * root**3 + 3 * e * root - 2 * e**2 == pytest.approx(0, abs=1e-8 * e**2)
        best = minimize_scalar(
            lambda z, epsilon=epsilon: theorem_3_7(epsilon, 0.0, z).error(0, 2),
            bounds=(1, e),
            method="bounded",
        )
        assert best.x == pytest.approx(root, rel=1e-4)
        assert sv.ogpm(epsilon, loss="l2").worst_error() < sv.ogpm(epsilon, loss="l1").worst_error() * 0.99


def test_general_loss_is_minimised_too() -> None:
    for k in (1, 1.5, 3):
        best = minimize_scalar(
            lambda p, k=k: (((math.e - p) / (p * (math.e - 1))) ** (k + 1) * (math.e - 1) + 1) * p,
            bounds=(1, math.e),
            method="bounded",
        )
        assert ogpm_density(1.0, k) == pytest.approx(best.x, rel=1e-4)


def test_erratum_circular_distance() -> None:
    """The printed min(|y−x|, |y−(2π−x)|) gives 0 for y = 2π − x; the true distance does not."""
    x, y = 1.0, 2 * math.pi - 1.0
    assert min(abs(y - x), abs(y - (2 * math.pi - x))) == pytest.approx(0)
    duel = sv.ogpm(1.0, sv.Circle(2 * math.pi), "l1", cells=64)
    gap = np.abs(duel.decode(np.arange(64)) - x)
    true = np.minimum(gap, 2 * math.pi - gap)
    assert duel.error(x, "l1") == pytest.approx((duel.probabilities(x) * true).sum())


def test_circular_comparison_linear_and_circular() -> None:
    """FACTS 3: flattened rivals under linear loss, and under the loss that is fair to them."""
    x = np.linspace(0, 2 * math.pi, 401)
    linear = {2.0: (0.4753, 0.4308), 4.0: (0.4127, 0.2458)}
    circular = {2.0: (0.899, 0.860), 4.0: (0.922, 0.589)}
    for epsilon in linear:
        rivals = [f(epsilon, (0, 2 * math.pi)).compressed() for f in (sv.pm, sv.sw)]
        root = sv.ogpm(epsilon, sv.Circle(2 * math.pi), "l2").error(1.0)
        found = [root / rival.error(x, "l2").mean() for rival in rivals]
        assert found == pytest.approx(linear[epsilon], abs=3e-3)
        theorem = sv.ogpm(epsilon, sv.Circle(2 * math.pi), "l1").error(1.0)
        found = [theorem / rival.error(x, "l2", "circular").mean() for rival in rivals]
        assert found == pytest.approx(circular[epsilon], abs=3e-3)


def test_ptt_optimum() -> None:
    """FACTS 5: the optimal q and its worst-case variance on [−1, 1]."""
    for epsilon, q, variance in ((1.0, 0.6784, 5.0657), (2.0, 0.8138, 1.0922), (4.0, 0.9464, 0.16185)):
        assert ptt_optimal_q(epsilon) == pytest.approx(q, abs=6e-5)
        assert ptt_worst_variance(epsilon, ptt_optimal_q(epsilon)) == pytest.approx(variance, rel=5e-5)
        assert sv.ptt(epsilon, (-1, 1)).worst_variance() == pytest.approx(variance, rel=2e-4)


def test_erratum_equation_17_pm_is_a_member_without_the_factor_two() -> None:
    root = math.exp(0.5)
    k, a = ptt_parameters(1.0, root / (root + 1))
    assert k == pytest.approx(root / (root - 1))
    assert a == pytest.approx(1 / (root - 1))
    twin = sv.ptt(1.0, q=root / (root + 1))
    assert twin.digest == sv.pm(1.0).digest


def test_erratum_ptt_parameters_are_not_independent() -> None:
    """1/a + E/k = E − 1 whatever q: normalisation leaves one parameter."""
    for q in (0.2, 0.5403, 0.9):
        k, a = ptt_parameters(1.0, q)
        assert 1 / a + math.e / k == pytest.approx(math.e - 1)


def test_erratum_theorem_9_duchi_beats_every_type_one_ptt_at_small_epsilon() -> None:
    for epsilon in (0.05, 0.25):
        assert sv.duchi(epsilon).worst_variance() < sv.ptt(epsilon).worst_variance() * 0.8
    # As ε → 0, on [−1, 1] and times ε²: 16/3 against Duchi's 4.
    limits = [m.worst_variance() * 0.01**2 for m in (sv.ptt(0.01, (-1, 1)), sv.duchi(0.01, (-1, 1)))]
    assert limits == pytest.approx([16 / 3, 4], rel=1e-3)


def test_erratum_ogpm_u_is_dominated_by_pm() -> None:
    for epsilon in (0.5, 1, 2, 4):
        x = np.linspace(0, 1, 101)
        pm, ours = sv.pm(epsilon, (0, 1)).variance(x), sv.ogpm_unbiased(epsilon).variance(x)
        assert (ours > 3 * pm).all()
