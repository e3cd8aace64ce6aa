"""What a design makes says which design it is."""

from __future__ import annotations

import pytest
from tests.laws.every import makers
from tests.reporters.catalogue import designs

import sottovoce as sv


@pytest.mark.parametrize("name", [name for name in designs(sv.Mechanism) if name != "optimal"])
def test_a_design_gives_its_name(name: str) -> None:
    m = getattr(sv, name)(1.0, (0, 24))
    assert m.name == name
    assert repr(m).startswith(f"<{name} epsilon=1.0 Interval(low=0.0, high=24.0) cells=")
    assert m.truncated().name == f"{name} truncated"


def test_the_optimal_design_says_for_what() -> None:
    assert sv.optimal(1.0, (0, 24)).name == "optimal (mean)"
    assert sv.optimal(1.0, (0, 24), "value").name == "optimal (value)"
    assert sv.optimal(1.0, sv.Circle()).name == "optimal (value)"


def test_composites_and_mixtures_say_what_they_are() -> None:
    made = [sv.two_scale(1.0), sv.polar(1.0), sv.survey(1.0, [(0, 1)])]
    assert [m.name for m in made] == ["two_scale", "polar", "survey"]


def test_a_law_gives_its_name_to_its_rows(law_name: str) -> None:
    law = makers()[law_name](1.0)
    assert law.name == law_name
    assert law.tabulate(5, 16).name == law_name


def test_names_are_no_part_of_what_is_compared() -> None:
    m = sv.ogpm(1.0)
    assert sv.from_json(m.to_json()) == m
    assert sv.from_json(m.to_json()).name == "window"
