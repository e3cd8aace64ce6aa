"""Everything that reports, discovered: public designs by what they return, laws as rows, other decodings."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple, get_type_hints

import sottovoce as sv
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.mechanism import Mechanism
from tests.laws.every import makers

DOMAINS: dict[str, Any] = {"interval": (-2.0, 5.0), "circle": sv.Circle(24.0, origin=-3.0)}
EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
FINE = (0.01, 1.0, 16.0)  # with as many cells as people get; at the other ε a sixteenth will do
SOLVED = (0.5, 2.0)  # designs that run a solver are judged at fewer points here, and in their own tests

#: What designs take after ε. A new word here fails until somebody says what to try.
ARGUMENTS: dict[str, list[Any]] = {
    "domain": list(DOMAINS),
    "radius": [1.0, 10.0],
    "options": [["yes", "no"], list(range(1, 6)), [f"option {i}" for i in range(60)]],
    "domains": [{"age": (0, 120), "hours": (0, 80)}],
    "items": [
        {"age": (0, 120), "hour": sv.Circle(24), "pet": ["cat", "dog", "none"]},
        [(0, 1)] * 4,
    ],
}


class Case(NamedTuple):
    """A design of one number on a kind of domain."""

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
    design = getattr(sv, case.design)
    return (design if case.epsilon in FINE else coarse(design))(case.epsilon, DOMAINS[case.kind])


def coarse(design: Callable[..., Any]) -> Callable[..., Any]:
    """The same design with fewer cells, where it takes a number of them."""
    return partial(design, cells=2**12) if "cells" in inspect.signature(design).parameters else design


def designs(made: type = ReporterBase) -> Iterator[str]:
    """Public functions of ε that return a reporter of this class."""
    for name in sv.__all__:
        public = getattr(sv, name)
        if not inspect.isfunction(public):
            continue
        if next(iter(inspect.signature(public).parameters), "") != "epsilon":
            continue
        hint = get_type_hints(public)["return"]
        if isinstance(hint, type) and issubclass(hint, made):
            yield name


def accepts(design: str, domain: Any) -> bool:
    """Whether a design has this kind of domain; if not it must say so in words."""
    try:
        getattr(sv, design)(1.0, domain)
    except ValueError as refusal:
        if "interval" not in str(refusal):
            raise
        return False
    return True


def cases() -> list[Case]:
    """Designs that give a mechanism, over kinds of domain and ε."""
    every = []
    for design in designs(Mechanism):
        epsilons = EPSILONS if getattr(sv, design).__module__.endswith("classic") else SOLVED
        every += [
            Case(design, kind, e) for kind in DOMAINS if accepts(design, DOMAINS[kind]) for e in epsilons
        ]
    return every


def others() -> dict[str, Callable[[], ReporterBase]]:
    """Everything else that reports, by name."""
    every: dict[str, Callable[[], ReporterBase]] = {}
    for design in sorted(set(designs()) - set(designs(Mechanism))):
        second = list(inspect.signature(getattr(sv, design)).parameters)[1]
        for i, argument in enumerate(ARGUMENTS[second]):
            given = DOMAINS[argument] if second == "domain" else argument
            for epsilon in (0.3, 3.0):
                every[f"{design}-{i}-{epsilon:g}"] = partial(coarse(getattr(sv, design)), epsilon, given)
    for name, law in makers().items():
        for epsilon in (0.3, 3.0):
            every[f"{name}-{epsilon:g}"] = partial(_tabulated, law, epsilon)
    for design in designs(Mechanism):
        for decoding in ("truncated", "compressed"):
            if not design.startswith("optimal"):
                every[f"{design}-{decoding}"] = partial(_decoded, design, decoding)
    return every | {
        "pairs of four": lambda: sv.survey(3.0, [(0, 1)] * 4, "sample", k=2),
        "many": lambda: sv.survey(2.0, [(0, 1)] * 30, "sample", k=3, design=partial(sv.ogpm, cells=8)),
        "everything": _everything,
        "far away": lambda: sv.optimal(1.0, (1e9, 1e9 + 1)),
        "vast": lambda: sv.ogpm(1.0, (-1e308, 1e308), cells=64),
        "two doubles": lambda: sv.ogpm(1.0, (0.0, 5e-324), cells=64),
        "log scale": lambda: sv.sw(1.0, sv.Interval(1, 1e6, scale="log"), cells=2**12),
        "log scale, optimal": lambda: sv.optimal(1.0, sv.Interval(0.5, 40, scale="log")),
        "log scale, rows": lambda: sv.laws.laplace(1.0, sv.Interval(2, 9e4, scale="log")).tabulate(65, 256),
        "coin": lambda: sv.Rows.of(1.0, [[0.73, 0.27], [0.27, 0.73]], name="coin"),
    }


def _tabulated(law: Any, epsilon: float) -> ReporterBase:
    return law(epsilon).tabulate(inputs=65, cells=256)


def _decoded(design: str, how: str) -> ReporterBase:
    return getattr(getattr(sv, design)(1.0, DOMAINS["interval"]), how)()


def _everything() -> ReporterBase:
    """A survey with a question of every kind."""
    questions = {
        "place": sv.polar(1.0, 5.0),
        "number": sv.optimal(1.0),
        "width": sv.two_scale(1.0, cells=64),
        "noise": sv.laws.staircase(1.0).tabulate(9, 32),
        "choice": sv.choice(1.0, ["car", "bike", "train"]),
        "where": sv.place(1.0, box=((0, 4), (-1, 0)), points=16, edge="torus"),
    }
    return sv.Survey(6.0, questions, 6)


def kinds(of: type = ReporterBase) -> set[type]:
    """Every class of reporters that can be made."""
    own = [one for one in of.__subclasses__() if one.__module__.startswith("sottovoce")]
    below = {kind for one in own for kind in kinds(one)}
    return below | (set() if inspect.isabstract(of) else {of})
