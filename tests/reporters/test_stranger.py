"""A stranger's reporter: a class written from the documentation alone, on its way through everything."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.errors import ContractError, DataError

TOTAL = 1 << 52


class TwoWords:
    """ "Low" or "high", and nothing else: how often the second is said grows evenly with the value.

    What docs/howto/own-mechanism.md asks for, and no base class: its law is what its spec says.
    """

    width = 1
    name = "two words"
    cells = 2
    dtype = np.dtype(np.uint8)

    def __init__(self, epsilon: float, low: float, high: float) -> None:
        self.epsilon, self.domain = epsilon, sv.Interval(low, high)
        self._least = math.ceil(TOTAL / (1 + math.exp(epsilon))) + 1
        self._more = TOTAL - 2 * self._least

    def __repr__(self) -> str:
        return f"two words about {self.domain}"

    @property
    def items(self) -> Mapping[str, Any]:
        return {"value": self}

    @property
    def questions(self) -> tuple[sv.Question, ...]:
        return (sv.Question("mean"), sv.Question("honesty"))

    @property
    def largest_ratio(self) -> Fraction:
        return Fraction(self._least + self._more, self._least)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        away = self._least / self._more
        cells = {
            "background": [self._least], "count": [2], "extra": [self._more],
            "step": [1 + 2 * away], "value": [-away],
        }  # fmt: skip
        content = {
            "bits": 52, "cells": cells, "circle": False, "domain": [self.domain.low, self.domain.high],
            "epsilon": self.epsilon, "format": "window/1",
            "start": {"s": [0, self._more], "step": False, "t": [0.0, 1.0]},
        }  # fmt: skip
        return json.dumps(content, sort_keys=True, separators=(",", ":"))

    def report(
        self,
        values: Any,
        *,
        clip: bool = False,
        missing: Any = "refuse",
        outside: str = "refuse",
        rng: Any = None,
    ) -> NDArray[Any]:
        given = np.asarray(values, dtype=np.float64)
        draw = np.random.default_rng(rng)
        gone = ~np.isfinite(given)
        beyond = ~gone & ((given < self.domain.low) | (given > self.domain.high))
        if beyond.any() and outside == "refuse" and not clip:
            raise DataError(f"{beyond.sum()} values are outside", code="outside", argument="values")
        if outside == "missing":
            gone |= beyond
        if gone.any() and missing == "refuse":
            raise DataError(f"{gone.sum()} values are missing", code="missing", argument="values")
        x = np.clip(given, self.domain.low, self.domain.high)
        stand_in = (
            draw.uniform(self.domain.low, self.domain.high, x.shape) if missing == "uniform" else missing
        )
        t = (np.where(gone, stand_in if gone.any() else 0.0, x) - self.domain.low) / self.domain.width
        high = self._least + np.floor(t * self._more).astype(np.int64)
        return np.asarray(draw.integers(0, TOTAL, t.shape) < high).astype(self.dtype)

    def perturb(self, values: Any, **options: Any) -> Any:
        return self.decode(self.report(values, **options))

    def decode(self, cells: Any) -> Any:
        away = self._least / self._more
        return self.domain.low + self.domain.width * (-away + (1 + 2 * away) * self.checked(cells))

    def checked(self, cells: Any) -> NDArray[Any]:
        array = np.asarray(cells)
        if array.dtype.kind not in "iu" or ((array < 0) | (array > 1)).any():
            raise DataError("a report must be 0 or 1", code="cells", argument="cells")
        return array.astype(np.int64)


M: Any = TwoWords(2.0, 0, 24)
HOURS = np.random.default_rng(1).normal(9, 2, 20_000).clip(0, 24)
TALLY = sv.Tally(M, M.report(HOURS, rng=2))


def test_it_has_the_documented_members_and_no_other() -> None:
    public = {name for name in dir(M) if not name.startswith("_")}
    assert public == {name for name in vars(sv.Reporter) if not name.startswith("_")}
    assert type(M).__mro__ == (TwoWords, object)
    assert isinstance(M, sv.Reporter)


def test_it_keeps_the_contract() -> None:
    sv.check_reporter(M, rng=1)


def test_its_law_is_what_its_spec_says() -> None:
    law = TALLY.law
    assert law.digest == M.digest
    assert law.questions == M.questions  # computed from the integers, as it says itself
    assert law == sv.from_json(M.to_json())


def test_it_is_estimated() -> None:
    mean = sv.mean(TALLY)
    assert mean.method == "decoded"
    assert mean.low < HOURS.mean() < mean.high
    assert mean.value == pytest.approx(M.decode(np.repeat([0, 1], TALLY.counts)).mean())
    assert sv.honesty(TALLY).consistent
    parts = (sv.Tally(M, M.report(HOURS[i::2], rng=i)) for i in (0, 1))
    assert sv.difference(*parts).p_value > 1e-6
    assert (TALLY + TALLY).n == 2 * TALLY.n
    assert sv.Tally.from_json(TALLY.to_json(), M) == TALLY


def test_it_is_summed_up() -> None:
    summary = sv.summary(TALLY)
    assert [answer.label for answer in summary] == ["Mean", "Do the reports look honest?"]
    assert summary["mean"].estimate == sv.mean(TALLY)
    content = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert [answer["picture"] for answer in content["answers"]] == ["interval", "none"]
    for shown in (TALLY, summary):
        assert "20,000" in shown._repr_html_()


def test_it_is_planned_with_audited_and_shuffled() -> None:
    plan = sv.plan("mean", 2.0, 20_000, (0, 24), candidates=[M])
    assert "two words" in [option.name for option in plan.options]
    spread = sv.plan("quantile", 2.0, 20_000, (0, 24), p=0.5, candidates=[M])
    assert spread.left_out["two words"] == "asks something else"
    audit = sv.audit(M)
    assert audit.holds
    assert audit.epsilon == sv.audit(M.to_json()).epsilon
    assert sv.shuffled(M, 1000, 1e-6).epsilon == sv.shuffled(sv.from_json(M.to_json()), 1000, 1e-6).epsilon


def test_it_is_an_item_of_a_survey() -> None:
    survey = sv.Survey(4.0, {"start": M, "way": sv.choice(2.0, ["car", "bike"])}, 2)
    reports = survey.report({"start": HOURS, "way": ["car"] * len(HOURS)}, rng=np.random.default_rng(3))
    summary = sv.summary(sv.Tally(survey, reports))
    assert [(one.question.item, one.question.name) for one in summary][:2] == [
        ("start", "mean"),
        ("start", "honesty"),
    ]
    assert summary["start mean"].estimate.low < HOURS.mean() < summary["start mean"].estimate.high


class OfItsOwn(TwoWords):
    """In a format that nobody knows."""

    def to_json(self) -> str:
        return json.dumps({"format": "words/1", "epsilon": self.epsilon})


def test_without_a_law_it_is_counted_and_no_more() -> None:
    own: Any = OfItsOwn(2.0, 0, 24)
    tally = sv.Tally(own, own.report(HOURS, rng=2))
    assert tally + tally == sv.Tally.from_counts(own, 2 * tally.counts)
    with pytest.raises(
        ContractError, match=r"one of the formats window/1, .* is known: format must be"
    ) as refused:
        sv.mean(tally)
    assert refused.value.code == "format"


class Liar(TwoWords):
    """Draws the second word a little too often."""

    def report(self, values: Any, **options: Any) -> NDArray[Any]:
        cells = super().report(values, **options)
        again = np.random.default_rng(len(cells) if cells.ndim else 1).random(cells.shape) < 0.02
        return np.where(again, 1, cells).astype(self.dtype)


def test_draws_that_do_not_follow_the_spec_are_found() -> None:
    with pytest.raises(ContractError) as broken:
        sv.check_reporter(Liar(2.0, 0, 24), rng=1)  # type: ignore[arg-type]
    assert broken.value.code == "sampler"
