"""The m-piece framework: the exact optimum, the bracket and the global solver."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from papers.pieces import solve_pieces
from papers.pieces.densities import Piece, Span, best_pieces, expected_loss, merge

import sottovoce as sv
from sottovoce.designs.published_formulas import ogpm_density


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 8.0])
@pytest.mark.parametrize("loss", ["l1", "l2", 3])
def test_three_pieces_are_ogpm(epsilon: float, loss: str | float) -> None:
    solved = solve_pieces(epsilon, 3, loss)
    assert solved.densities[1] == pytest.approx(ogpm_density(epsilon, loss), rel=1e-5)
    k = {"l1": 1, "l2": 2}.get(str(loss), loss)
    x = [0.0, 0.2, 0.5]
    assert [solved.error(at) for at in x] == pytest.approx(sv.ogpm(epsilon, loss=loss).error(x, k), rel=2e-4)


@pytest.mark.parametrize("count", [4, 5, 7, 19])
@pytest.mark.parametrize("loss", ["l1", "l2"])
def test_the_bracket_closes_for_every_number_of_pieces(count: int, loss: str) -> None:
    bracketed = solve_pieces(1.0, count, loss, method="bracket", gap=1e-6)
    exact = solve_pieces(1.0, count, loss)
    assert bracketed.gap <= 1e-3
    assert bracketed.bound <= exact.value * (1 + 1e-12)
    assert exact.value <= bracketed.value * (1 + 1e-12)
    assert len(exact.densities) == count
    assert len(exact.merged(0.3)) == 3


@pytest.mark.parametrize("loss", ["l1", "l2"])
@pytest.mark.parametrize("count", [3, 4])
def test_the_global_solver_finds_the_closed_form(count: int, loss: str) -> None:
    found = solve_pieces(1.0, count, loss, method="solver", gap=2e-3, time_limit=120)
    closed = sv.ogpm(1.0, loss=loss).worst_error(loss)
    assert found.gap <= 2.1e-3
    assert found.value == pytest.approx(closed, rel=2e-3)
    lower = solve_pieces(1.0, count, loss, method="bracket", gap=1e-6).bound
    assert found.value >= lower * (1 - 1e-6)
    assert found.bound <= found.value


def test_the_solver_agrees_where_input_and_output_differ() -> None:
    """Reports from an interval that does not even hold the inputs."""
    options = {"loss": "l2", "domain": (0, 1), "output": (0.5, 3)}
    found = solve_pieces(1.5, 3, method="solver", gap=2e-3, **options)  # type: ignore[arg-type]
    exact = solve_pieces(1.5, 3, **options)  # type: ignore[arg-type]
    assert found.bound <= exact.value * (1 + 1e-6)
    assert found.value == pytest.approx(exact.value, rel=2e-3)


def test_no_staircase_beats_the_exact_optimum() -> None:
    """Random densities in pieces within a factor E, the best edges for both ends: never below the bound."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        a, c = rng.uniform(-1, 0.5, 2)
        span = Span(a, a + rng.uniform(0.2, 2), c, c + rng.uniform(0.2, 2))
        epsilon, k, m = rng.uniform(0.2, 4), rng.choice([1, 1.5, 2]), rng.integers(3, 7)
        e = math.exp(epsilon)
        best = solve_pieces(epsilon, 3, k, domain=(span.a, span.b), output=(span.c, span.d))
        low = rng.uniform(1 / (e * span.width), 1 / span.width)
        heights = np.sort(np.append(rng.uniform(low, e * low, m - 2), [low, max(1 / span.width, low)]))
        peak = rng.integers(1, m - 1)
        densities = (*heights[: peak + 1], *heights[peak + 1 :][::-1])
        densities = (*sorted(densities[: peak + 1]), *sorted(densities[peak + 1 :], reverse=True))
        worst = max(expected_loss(best_pieces(densities, x, span), x, k) for x in (span.a, span.b))
        assert worst >= best.value * (1 - 1e-9)


def test_the_pieces_of_an_input_have_unit_mass() -> None:
    for span in (Span(0, 1, 0, 1), Span(0, 1, -0.3, 2.0), Span(0, 1, 0.4, 0.6), Span(0, 1, 1.5, 2.5)):
        solved = solve_pieces(1.0, 5, 2, domain=(span.a, span.b), output=(span.c, span.d))
        for x in np.linspace(span.a, span.b, 7):
            found = solved.at(float(x))
            assert sum(p.density * (p.right - p.left) for p in found) == pytest.approx(1, abs=1e-12)
            assert all(p.left <= p.right for p in found)
            assert (found[0].left, found[-1].right) == (span.c, span.d)


def test_example_3_4_merges_to_three_pieces() -> None:
    four, five = (solve_pieces(1.0, m, "l1").merged(0.3) for m in (4, 5))
    assert four == pytest.approx(np.array(five))
    assert len(four) == 3


def test_merging() -> None:
    parts = [Piece(1.0, 0.0, 0.2), Piece(1.0, 0.2, 0.5), Piece(2.0, 0.5, 0.5), Piece(0.5, 0.5, 1.0)]
    assert merge(parts) == (Piece(1.0, 0.0, 0.5), Piece(0.5, 0.5, 1.0))
    assert merge(merge(parts)) == merge(parts)


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_pieces_cannot_follow_the_input(count: int) -> None:
    solved = solve_pieces(1.0, count, "l1")
    assert solved.value == pytest.approx(0.5)
    assert solved.error(0.0) == pytest.approx(solved.error(1.0))


def test_a_lopsided_output_makes_two_pieces_worth_having() -> None:
    one, two, three = (solve_pieces(1.0, m, "l1", output=(0, 3)).value for m in (1, 2, 3))
    assert three <= two * (1 + 1e-12)
    assert two < 0.8 * one


@pytest.mark.parametrize(("loss", "output"), [("l1", (0, 1)), ("l2", (-0.5, 1.5)), (3, (0.2, 2))])
def test_the_worst_input_is_an_end(loss: str | float, output: tuple[float, float]) -> None:
    solved = solve_pieces(2.0, 3, loss, output=output)
    errors = np.array([solved.error(float(x)) for x in np.linspace(0, 1, 101)])
    assert errors.max() <= max(errors[0], errors[-1]) + 1e-12
    assert (errors[2:] - 2 * errors[1:-1] + errors[:-2] >= -1e-12).all()


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"pieces": 0}, ValueError, "pieces must be between 1 and 64, got pieces=0"),
        ({"pieces": 2.5}, TypeError, "pieces must be a whole number"),
        ({"loss": 0.3}, ValueError, "loss must be"),
        ({"method": "gurobi"}, ValueError, "method must be one of exact, bracket, solver"),
        ({"output": (1, 0)}, ValueError, "domain must have low < high"),
        ({"domain": sv.Circle()}, ValueError, "needs intervals"),
        ({"gap": 0, "method": "bracket"}, ValueError, "gap must be positive"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        solve_pieces(**({"epsilon": 1.0} | arguments))  # type: ignore[arg-type]


def test_inputs_outside_the_domain_are_refused() -> None:
    with pytest.raises(ValueError, match=r"x must lie in the domain \[0.0, 1.0\], got x=1.5"):
        solve_pieces(1.0).at(1.5)


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(ImportError, match="needs SCIP: pip install pyscipopt"):
        solve_pieces(1.0, method="solver")


def test_a_solution_shows_in_a_notebook() -> None:
    solved = solve_pieces(1.0, 2)
    assert 16 < len(repr(solved)) <= 200
    assert "densities" in solved._repr_html_()
