"""The largest local ε for a central guarantee: kept there, and not kept a little above."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import sottovoce as sv
from sottovoce.errors import MAX_EPSILON, ArgumentError
from sottovoce.planning.least_people import largest_local


@pytest.mark.parametrize("design", [sv.pm, sv.duchi])
@pytest.mark.parametrize(("central", "people"), [((0.1, 1e-8), 10**5), ((0.5, 1e-6), 50)])
def test_kept_there_and_not_above(
    design: Callable[[float], sv.Mechanism], central: tuple[float, float], people: int
) -> None:
    local = largest_local(design, central, people)
    epsilon, delta = central
    assert epsilon <= local
    assert sv.shuffled(design(local), people, None).delta(epsilon) <= delta
    assert sv.shuffled(design(local * 1.004), people, None).delta(epsilon) > delta


def test_one_person_gets_no_more_than_the_central_one() -> None:
    assert largest_local(sv.duchi, (0.5, 1e-9), 1) == pytest.approx(0.5, rel=3e-3)


def test_never_more_than_a_design_takes() -> None:
    assert largest_local(sv.duchi, (20.0, 1e-6), 10) == MAX_EPSILON
    assert largest_local(sv.duchi, (20.0, 1e-6), 10, most=12.0) == 12.0
    assert largest_local(sv.duchi, (0.1, 1e-8), 10**5, most=2.0) == 2.0


def test_more_people_allow_more() -> None:
    local = [largest_local(sv.pm, (0.1, 1e-6), people) for people in (10**3, 10**4, 10**5)]
    assert local == sorted(local)
    assert local[2] > 2 * local[0]


@pytest.mark.parametrize("central", [(0.0, 1e-6), (0.1, 0.0), (0.1, 1.0), (float("nan"), 1e-6)])
def test_refusals(central: tuple[float, float]) -> None:
    with pytest.raises(ArgumentError) as refusal:
        largest_local(sv.pm, central, 100)
    assert refusal.value.argument == "central"


def test_a_plan_for_readers_of_the_counts() -> None:
    plan = sv.plan("direction", people=10**5, domain=sv.Circle(24), central=(0.1, 1e-8))
    assert plan.best.name == "design"
    for option in plan.options:
        assert sv.shuffled(option.mechanism, 10**5, None).delta(0.1) <= 1e-8
    assert "(0.1, 1e-08)" in plan.title


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [({"epsilon": 2.0}, "epsilon"), ({"target": 0.1}, "target"), ({"people": None}, "people")],
)
def test_a_plan_refuses_what_it_looks_for(arguments: dict[str, float | None], argument: str) -> None:
    with pytest.raises(ArgumentError) as refusal:
        sv.plan("mean", domain=(0, 24), central=(0.1, 1e-8), **{"people": 10, **arguments})  # type: ignore[arg-type]
    assert refusal.value.argument == argument
