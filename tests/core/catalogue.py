"""Every design, discovered from the public names: what takes an ε and a domain and gives a Mechanism."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import sottovoce as sv
from sottovoce.core.mechanism import Mechanism

DOMAINS: dict[str, Any] = {"interval": (-2.0, 5.0), "circle": sv.Circle(24.0, origin=-3.0)}
EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
SOLVED = (0.5, 2.0)  # designs that run a solver are judged at fewer points here, and in their own tests


class Case(NamedTuple):
    design: str
    kind: str
    epsilon: float

    @property
    def mechanism(self) -> Mechanism:
        return build(self)

    def __str__(self) -> str:
        return f"{self.design}-{self.kind}-{self.epsilon:g}"


@cache
def build(case: Case) -> Mechanism:
    return getattr(sv, case.design)(case.epsilon, DOMAINS[case.kind])


def designs() -> Iterator[str]:
    for name in sv.__all__:
        public = getattr(sv, name)
        if not inspect.isfunction(public):
            continue
        signature = inspect.signature(public)
        first_two = list(signature.parameters)[:2]
        if signature.return_annotation in ("Mechanism", Mechanism) and first_two == ["epsilon", "domain"]:
            yield name


def accepts(design: str, kind: str) -> bool:
    """Whether a design has this kind of domain; if not it must say so in words."""
    try:
        getattr(sv, design)(1.0, DOMAINS[kind])
    except ValueError as refusal:
        if "interval" not in str(refusal):
            raise
        return False
    return True


def cases() -> list[Case]:
    found = []
    for design in designs():
        epsilons = EPSILONS if getattr(sv, design).__module__.endswith("classic") else SOLVED
        found += [Case(design, kind, e) for kind in DOMAINS if accepts(design, kind) for e in epsilons]
    return found
