"""Numbers of the laws against independent formulas and FACTS."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.laws.hybrid import hybrid_switch
from sottovoce.laws.ptt2 import ptt2_optimal_k, ptt2_variance, tent_width
from sottovoce.laws.staircase import staircase_gamma


@pytest.mark.parametrize(("epsilon", "variance"), [(0.5, 8.0), (1, 2.0), (2, 0.5), (4, 0.125)])
def test_laplace(epsilon: float, variance: float) -> None:
    law = sv.laws.laplace(epsilon)
    assert law.worst_variance() == pytest.approx(variance, rel=1e-12)
    assert law.worst_error(3.0) == pytest.approx(6 / epsilon**3, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "true", "printed"), [(2, 0.2090, 0.3056), (4, 0.1717, 0.3025)])
def test_bounded_laplace_with_the_right_normaliser(epsilon: float, true: float, printed: float) -> None:
    """Erratum: appendix B.8 of the OGPM paper normalises every x by the constant of x = 0."""
    x = 0.5
    side = [2 - (1 + epsilon * z) * math.exp(-epsilon * z) for z in (x, 1 - x)]
    paper = (sum(side) - 2) / (epsilon * (1 - math.exp(-epsilon)))
    assert round(paper, 4) == printed
    law = sv.laws.bounded_laplace(epsilon)
    assert float(law.error(x, "l1").round(4)) == true
    normaliser = (2 - math.exp(-epsilon * x) - math.exp(-epsilon * (1 - x))) / epsilon
    assert law.density(x, x) == pytest.approx(1 / normaliser)


def test_truncated_laplace_beats_ogpm_at_the_endpoint() -> None:
    """FACTS 7: OGPM is not the best everywhere, as Figure 13's caption text has it."""
    law, ogpm = sv.laws.truncated_laplace(2.0), sv.ogpm(2.0, loss="l1")
    assert float(law.error(0.0, "l1").round(4)) == 0.2162
    assert law.error(0.0, "l1") < ogpm.error(0.0, "l1")
    t = np.linspace(0, 1, 11)
    closed = (2 - np.exp(-2 * t) - np.exp(-2 * (1 - t))) / (2 * 2)
    np.testing.assert_allclose(law.error(t, "l1"), closed, rtol=1e-12)
    assert law.atoms(0.0)[0] == (0.0, 0.5)


@pytest.mark.parametrize(
    ("epsilon", "variance"), [(0.5, 7.91702), (1, 1.91810), (2, 0.422733), (4, 0.0649788), (8, 0.00337983)]
)
def test_staircase(epsilon: float, variance: float) -> None:
    absolute = sv.laws.staircase(epsilon, loss="l1")
    assert absolute.worst_error("l1") == pytest.approx(math.exp(epsilon / 2) / math.expm1(epsilon))
    assert sv.laws.staircase(epsilon, loss="l2").worst_variance() == pytest.approx(variance, rel=3e-6)
    b = math.exp(-epsilon)
    cubic = (b - 2 * b**2 + 2 * b**4 - b**5) ** (1 / 3) / (2 ** (1 / 3) * (1 - b) ** 2)
    assert staircase_gamma(epsilon, "l2") == pytest.approx(cubic - b / (1 - b), abs=1e-9)
    for k, g in ((1.0, "l1"), (2.0, "l2")):  # each γ is the best of its loss
        best = sv.laws.staircase(epsilon, loss=g).worst_error(k)
        others = [sv.laws.staircase(epsilon, gamma=z).worst_error(k) for z in np.linspace(0, 1, 101)]
        assert best <= min(others)
    assert sv.laws.staircase(epsilon, loss=3).worst_error(3) <= min(
        sv.laws.staircase(epsilon, gamma=z).worst_error(3) for z in np.linspace(0, 1, 21)
    ) * (1 + 1e-9)


@pytest.mark.parametrize(("epsilon", "variance"), [(0.5, 4.168), (1.0, 1.0722), (2.0, 0.2606), (4.0, 0.0547)])
def test_hybrid(epsilon: float, variance: float) -> None:
    law = sv.laws.hybrid(epsilon, (0, 1))
    assert law.worst_variance() == pytest.approx(variance, abs=6e-4 if variance > 4 else 6e-5)
    np.testing.assert_allclose(law.bias(np.linspace(0, 1, 21)), 0, atol=1e-12)


def test_hybrid_is_pm_and_duchi() -> None:
    x = np.linspace(-1, 1, 9)
    pure, coin = (sv.laws.hybrid(1.0, (-1, 1), share=s) for s in (1.0, 0.0))
    np.testing.assert_allclose(pure.variance(x), sv.pm(1.0, (-1, 1)).variance(x), rtol=1e-6)
    np.testing.assert_allclose(coin.variance(x), sv.duchi(1.0, (-1, 1)).variance(x), rtol=1e-6)


def test_hybrid_switch_is_where_mixing_starts_to_pay() -> None:
    """At ε* the mix with α = 1 − e^{−ε/2} has the worst-case variance of Duchi alone."""

    def gain(epsilon: float) -> float:
        mixed = sv.laws.hybrid(epsilon, share=-math.expm1(-epsilon / 2)).worst_variance()
        return sv.laws.hybrid(epsilon, share=0.0).worst_variance() - mixed

    assert gain(hybrid_switch() - 0.02) < 0 < gain(hybrid_switch() + 0.02)


def test_ptt2() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        law = sv.laws.ptt2(epsilon, (-1, 1))
        x = np.linspace(-1, 1, 7)
        np.testing.assert_allclose(law.bias(x), 0, atol=1e-9 * law.worst_variance())
        for one in x:  # Eq. (22) holds once k and a are normalised
            assert law.variance(one) == pytest.approx(ptt2_variance(epsilon, law.k, one), rel=1e-9)
        assert law.worst_variance() > sv.ptt(epsilon, (-1, 1)).worst_variance()
        best = ptt2_optimal_k(epsilon)
        assert all(
            ptt2_variance(epsilon, best) <= ptt2_variance(epsilon, best * f)
            for f in (0.98, 0.999, 1.001, 1.02)
        )
        e = math.exp(epsilon)
        assert 2 / tent_width(epsilon, best) + (e + 1) / best == pytest.approx(e - 1)
    assert sv.laws.ptt2(1.0, (-1, 1)).worst_variance() == pytest.approx(13.15, abs=5e-3)
    with pytest.raises(ValueError, match="k must be larger"):
        sv.laws.ptt2(1.0, k=2.0)


def test_purkayastha() -> None:
    epsilon, law = 2.0, sv.laws.purkayastha(2.0)
    rate = epsilon / math.pi
    rest = 1 - math.exp(-epsilon)
    mean = (1 / rate) - math.pi * math.exp(-epsilon) / rest
    assert law.worst_error("l1") == pytest.approx(mean, rel=1e-12)
    assert law.density(1.0, 1.0) == pytest.approx(rate / (2 * rest))


def test_von_mises() -> None:
    from scipy.special import i0, i1
    from scipy.stats import vonmises

    law = sv.laws.von_mises(3.0)
    y = np.linspace(0, 2 * math.pi, 101)
    np.testing.assert_allclose(law.density(1.0, y), vonmises(1.5, loc=1.0).pdf(y), rtol=1e-12)
    reports = law.sample(np.zeros(200_000), 3)
    assert abs(np.cos(reports).mean() - i1(1.5) / i0(1.5)) < 4.9 * np.cos(reports).std() / math.sqrt(200_000)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_nothing_on_the_circle_beats_ogpm(epsilon: float) -> None:
    """FACTS 3: by averaging over rotations OGPM is optimal on the circle for every loss of the distance."""
    for loss in ("l1", "l2", 3.0):
        best = sv.ogpm(epsilon, sv.Circle(), loss=loss, cells=4096).error(1.0, loss)
        for law in (sv.laws.purkayastha(epsilon), sv.laws.von_mises(epsilon)):
            assert law.worst_error(loss) > best
