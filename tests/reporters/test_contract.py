"""What everything that reports has to satisfy: every design, kind of domain and ε from 0.01 to 16."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.arrays import FloatArray
from sottovoce.auditing.sampler_checks import follows
from sottovoce.errors import ContractError, DataError
from sottovoce.randomness.word_source import word_source
from sottovoce.reporters.mechanism import Mechanism
from tests.reporters.catalogue import FINE, Case, cases, designs, kinds, others

CASES, OTHERS = cases(), others()
other = cache(lambda name: OTHERS[name]())
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def test_the_catalogue_is_complete() -> None:
    assert {"ogpm", "pm", "sw", "ptt", "duchi", "ogpm_unbiased", "optimal"} <= set(designs(Mechanism))
    assert {"two_scale", "survey", "polar"} <= set(designs()) - set(designs(Mechanism))
    assert any(case.kind == "circle" for case in CASES)
    made = {type(CASES[0].mechanism)} | {type(other(name)) for name in OTHERS}
    assert made == kinds()


@every_case
def test_a_design_keeps_the_contract(case: Case) -> None:
    sv.check_reporter(case.mechanism, rng=20240501, draws=200_000)
    assert sv.audit(case.mechanism.to_json()).ratio == case.mechanism.largest_ratio


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_everything_else_keeps_the_contract(name: str) -> None:
    reporter = other(name)
    sv.check_reporter(reporter, rng=20240501)
    assert sv.audit(reporter.to_json()).ratio == reporter.largest_ratio


@every_case
def test_cells_in_order_and_a_short_spec(case: Case) -> None:
    m = case.mechanism
    every = m.decode(np.arange(m.cells))
    assert (np.diff(every) >= 0).all()
    assert m.edges.shape == (m.cells + 1,)
    assert (m.edges[:-1] <= every + 1e-9).all()
    assert (every <= m.edges[1:] + 1e-9).all()
    if m.window.count[0] > 1:
        assert len(m.to_json()) < 2048


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.kind == "interval" and case.epsilon not in FINE], ids=str
)
def test_worst_error_is_the_supremum(case: Case) -> None:
    """No input of a fine grid or near a knot exceeds it, and some input comes close."""
    m = case.mechanism
    knots = m.domain.from_unit(np.clip(m.window.knot_t[:, None] + np.array([-1e-7, 0, 1e-7]), 0, 1).ravel())
    grid = np.linspace(m.domain.low, m.domain.high, 4001)
    x = np.clip(np.concatenate((grid, knots)), m.domain.low, m.domain.high)
    worst, most = m.worst_error("l2"), m.error(x, "l2").max()
    assert worst * (1 - 1e-3) <= most <= worst * (1 + 1e-9)


UNBIASED = [case for case in CASES if case.design in ("pm", "ptt", "duchi", "ogpm_unbiased")]


@pytest.mark.parametrize("case", UNBIASED, ids=str)
def test_unbiased_designs_are_unbiased_everywhere(case: Case) -> None:
    m = case.mechanism
    t = np.concatenate((np.linspace(0, 1, 2001), np.random.default_rng(3).random(2000), m.window.knot_t))
    x = np.clip(m.domain.from_unit(t), m.domain.low, m.domain.high)
    assert np.abs(m.bias(x)).max() <= 1e-12 * (m.edges[-1] - m.edges[0])


# -- what must fail ---------------------------------------------------------------------------------------


class ClaimsACountTooFew(Mechanism):
    @property
    def largest_ratio(self) -> Fraction:
        ratio = self.window.largest_ratio
        return Fraction(ratio.numerator - 1, ratio.denominator)


class CountsOneTooMany(Mechanism):
    def counts(self, x: Any) -> Any:
        counts = super().counts(x).copy()
        full = np.argmax(counts, axis=-1)[..., None]
        np.put_along_axis(counts, full, np.take_along_axis(counts, full, -1) + 1, -1)
        other = np.argmin(counts, axis=-1)[..., None]
        np.put_along_axis(counts, other, np.take_along_axis(counts, other, -1) - 1, -1)
        return counts


class DrawsWithModulo(Mechanism):
    """A byte modulo 100 picks a percentile: 0 to 55 come three times in 256, the others twice."""

    def _fill(self, out: Any, x: Any, words: Any, *, paired: bool = False) -> bool:
        percent = (words[0] & np.uint64(255)) % np.uint64(100)
        cumulative = np.cumsum(self.probabilities(x[:1])[0])
        out[:] = np.minimum(np.searchsorted(cumulative, (percent + 0.5) / 100), self.cells - 1)
        return bool(self.domain.contains(x).all())


class DecodesTheNextCell(Mechanism):
    def decode(self, cells: Any) -> FloatArray:
        return np.asarray(super().decode(np.minimum(self.checked(cells) + 1, self.cells - 1)))


class UnderstatesItsWorst(Mechanism):
    def worst_error(self, loss: Any = "l2", distance: Any = None) -> float:
        return 0.99 * super().worst_error(loss, distance)


class OverstatesItsWorst(Mechanism):
    def worst_variance(self) -> float:
        return 1.01 * super().worst_variance()


class PicklesItsTables(Mechanism):
    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__


class ForgetsBends(Mechanism):
    def bends(self, first: Any) -> FloatArray:
        return np.array([self.domain.low, self.domain.high])


class DoublesItsDensity(Mechanism):
    def density(self, x: Any, y: Any) -> FloatArray:
        return 2 * super().density(x, y)


class TellsTheValue(Mechanism):
    def report(self, values: Any, **options: Any) -> Any:
        try:
            return super().report(values, **options)
        except DataError:
            raise DataError(f"bad value {np.asarray(values).reshape(-1)[0]!r}") from None


class ClipsSilently(Mechanism):
    def report(self, values: Any, **options: Any) -> Any:
        return super().report(values, **{**options, "clip": True})


class HasNoName(Mechanism):
    def __repr__(self) -> str:
        return "<a mechanism>"


class LeansItsOperator(Mechanism):
    def operator(self, x: Any) -> Any:
        return super().operator(np.clip(np.asarray(x) + 0.01 * self.domain.width, None, self.domain.high))


MUTANTS: list[tuple[type[Mechanism], str]] = [
    (ClaimsACountTooFew, "ratio"),
    (CountsOneTooMany, "ratio"),
    (DrawsWithModulo, "sampler"),
    (DecodesTheNextCell, "error"),
    (UnderstatesItsWorst, "worst_error"),
    (OverstatesItsWorst, "worst_variance"),
    (PicklesItsTables, "pickle"),
    (ForgetsBends, "bends"),
    (DoublesItsDensity, "density"),
    (TellsTheValue, "outside"),
    (ClipsSilently, "outside"),
    (HasNoName, "name"),
    (LeansItsOperator, "operator"),
]


def like(kind: type[Mechanism], m: Mechanism) -> Mechanism:
    return kind(**{field.name: getattr(m, field.name) for field in fields(m)})


@pytest.mark.parametrize(("mutant", "rule"), MUTANTS, ids=[kind.__name__ for kind, _ in MUTANTS])
@pytest.mark.parametrize("design", ["ogpm", "optimal"])
def test_a_mutant_is_caught_by_its_rule(mutant: type[Mechanism], rule: str, design: str) -> None:
    m = sv.optimal(1.0, (-2.0, 5.0)) if design == "optimal" else sv.ogpm(1.0, (-2.0, 5.0), cells=64)
    with pytest.raises(ContractError) as broken:
        sv.check_reporter(like(mutant, m), rng=1)
    assert broken.value.code == rule


class SharesWords(sv.Survey):
    """Every question draws from the same words: each alone is right, together they tell more."""

    def report(self, values: Any, **options: Any) -> Any:
        seed = int(word_source(options.pop("rng", None)).words(1)[0] >> np.uint64(1))
        cells = [q.report(values[name], rng=seed, **options) for name, q in self.items.items()]
        return (np.stack(cells, axis=-1) + self.offsets[:-1]).astype(self.dtype)


class PrefersTheFirst(sv.Survey):
    def _lot(self, people: int, source: Any) -> Any:
        lot = super()._lot(people, source)
        lot[: people // 20] = np.arange(self.sampled)
        return lot


class LooksAtTheValue(sv.Survey):
    """Whoever has the lowest value answers the first question more often."""

    def report(self, values: Any, **options: Any) -> Any:
        first = next(iter(self.items))
        reports = super().report(values, **options)
        if len(reports) > 1000 and np.all(np.asarray(values[first]) == self.items[first].domain.low):
            reports[: len(reports) // 20] = reports[len(reports) // 20 : 2 * (len(reports) // 20)].min()
        return reports


@pytest.mark.parametrize(
    ("mutant", "sampled", "rule"),
    [(SharesWords, 2, "independence"), (PrefersTheFirst, 1, "lot"), (LooksAtTheValue, 1, "lot")],
)
def test_a_survey_that_breaks_its_promise_is_caught(mutant: type[sv.Survey], sampled: int, rule: str) -> None:
    questions = {name: sv.ogpm(1.0, cells=16) for name in ("a", "b")}
    sv.check_reporter(sv.Survey(2.0, questions, sampled), rng=1)
    with pytest.raises(ContractError) as broken:
        sv.check_reporter(mutant(2.0, questions, sampled), rng=1)
    assert broken.value.code == rule


def test_a_broken_question_is_named() -> None:
    questions = {"good": sv.ogpm(1.0, cells=16), "bad": like(DoublesItsDensity, sv.ogpm(1.0, cells=16))}
    with pytest.raises(ContractError, match="item 'bad': density: ") as broken:
        sv.check_reporter(sv.Survey(2.0, questions, 1), rng=1)
    assert broken.value.argument == "bad"


# -- a reporter of one's own ------------------------------------------------------------------------------

DOCUMENTED = {name for name in vars(sv.Reporter) if not name.startswith("_")}


class Foreign:
    """Somebody's class: the documented members, nothing of ours in its bases, and what it reports is ours."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        if name not in DOCUMENTED:
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def items(self) -> dict[str, Any]:
        items = self._inner.items.items()
        return {name: self if item is self._inner else Foreign(item) for name, item in items}

    def perturb(self, values: Any, **options: Any) -> Any:
        return self.decode(self.report(values, **options))


KINDS: dict[str, Callable[[], Any]] = {
    "number": lambda: sv.sw(1.0, (0, 24), cells=128),
    "table": lambda: sv.Rows.of(1.0, [[0.73, 0.27], [0.27, 0.73]]),
    "mixture": lambda: sv.two_scale(1.0, cells=64),
    "choice": lambda: sv.choice(1.0, ["a", "b", "c"]),
    "places": lambda: sv.place(1.0, box=((0, 4), (-1, 0)), points=16),
    "polar": lambda: sv.polar(1.0, 10),
    "survey": lambda: sv.survey(2.0, {"age": (0, 120), "pet": ["cat", "dog"]}),
    "pair": lambda: sv.pair(2.0, {"a": (0, 1), "b": (0, 2)}),
    "within": lambda: sv.within(2.0, ["a", "b"], (0, 24)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_somebodys_class_in_a_known_format(kind: str) -> None:
    sv.check_reporter(Foreign(KINDS[kind]()), rng=3)  # type: ignore[arg-type]


def test_our_survey_of_somebodys_items() -> None:
    items = {name: Foreign(KINDS[name]()) for name in ("number", "choice")}
    sv.check_reporter(sv.Survey(2.0, items, 1), rng=3)  # type: ignore[arg-type]


class StatesAnotherRatio(Foreign):
    largest_ratio = Fraction(5, 4)


class DecodesElsewhere(Foreign):
    def decode(self, cells: Any) -> Any:
        return self._inner.decode(cells) + 1e-3


class LooksAtTheNextValue(Foreign):
    def report(self, values: Any, **options: Any) -> Any:
        return self._inner.report(np.asarray(values) * 0.98, **options)


class SaysAnotherDomain(Foreign):
    domain = sv.Interval(0, 25)


class SaysWhatNobodyKnows(Foreign):
    questions = (sv.Question("mean", "height"),)


class HasAnotherItem(Foreign):
    items = {"value": sv.sw(1.0, (0, 24), cells=128)}  # noqa: RUF012


@pytest.mark.parametrize(
    ("mutant", "rule"),
    [
        (StatesAnotherRatio, "ratio"),
        (DecodesElsewhere, "decode"),
        (LooksAtTheNextValue, "sampler"),
        (SaysAnotherDomain, "spec"),
        (SaysWhatNobodyKnows, "questions"),
        (HasAnotherItem, "items"),
    ],
)
def test_somebodys_class_that_is_not_what_its_spec_says(mutant: type[Foreign], rule: str) -> None:
    with pytest.raises(ContractError) as broken:
        sv.check_reporter(mutant(KINDS["number"]()), rng=3)  # type: ignore[arg-type]
    assert broken.value.code == rule


class Own(Foreign):
    """In a format of its own: what needs no law is checked."""

    def to_json(self) -> str:
        return json.dumps({"own": self._inner.to_json()})

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.to_json().encode()).hexdigest()


class OwnThatClips(Own):
    def report(self, values: Any, **options: Any) -> Any:
        return self._inner.report(values, **{**options, "clip": True})


def read_own(text: str) -> Any:
    return Own(sv.from_json(json.loads(text)["own"]))


def test_a_reporter_in_a_format_of_ones_own() -> None:
    own: Any = [kind(KINDS["number"]()) for kind in (Own, OwnThatClips)]
    sv.check_reporter(own[0], read=read_own)  # by the secure stream
    with pytest.raises(ContractError, match="outside: what is wrong must be refused"):
        sv.check_reporter(own[1], read=read_own)
    with pytest.raises(ContractError, match=r"members: a Reporter needs .*largest_ratio"):
        sv.check_reporter(object())  # type: ignore[arg-type]


def test_the_rate_of_false_alarms_is_kept() -> None:
    """At a rate of 1 %, 1,500 right samplers: no more alarms than a binomial of that rate gives (1e-6)."""
    rng, chances = np.random.default_rng(1), np.random.default_rng(2).dirichlet(np.ones(300))
    alarms = sum(not follows(rng.multinomial(5000, chances), chances, 0.01) for _ in range(1500))
    assert alarms <= 15 + 5.5 * np.sqrt(15)
    tilted = chances * np.linspace(0.9, 1.1, 300)
    assert not follows(rng.multinomial(50_000, tilted / tilted.sum()), chances, 1e-6)
