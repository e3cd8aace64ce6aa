"""What can be an answer, by the vectors that all clients share; what cannot spends and records nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.device.fake import Collector
from tests.vectors import answers

import sottovoce as sv
from sottovoce.device import connection
from sottovoce.device.inquiry import Inquiry
from sottovoce.errors import ArgumentTypeError, DataError

ASKED = json.loads((Path(answers.__file__).parent / "answers.json").read_text())["asked"]
YES_OR_NO = sv.choice(1.0, ["Yes", "No"])


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_BEAT", 0.001)


def read(value: Any) -> Any:
    """What a case's value is in Python."""
    if isinstance(value, dict):
        special = value.get("special")
        return float(special) if special else {name: read(one) for name, one in value.items()}
    return [read(one) for one in value] if isinstance(value, list) else value


def cases(asked: Any) -> Iterator[tuple[Any, Any]]:
    """Values and what becomes of them, but those that JavaScript alone has."""
    for case in asked["cases"]:
        if '"undefined"' not in json.dumps(case["value"]):
            yield read(case["value"]), case.get("becomes", case.get("refused"))


def outcome(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except (ArgumentTypeError, DataError) as error:
        return [error.code, error.argument]


def plain(numbers: Any) -> Any:
    found = np.asarray(numbers).tolist()
    return None if np.isnan(found).any() else found


def test_the_vectors_are_what_is_written() -> None:
    assert json.loads(json.dumps(answers.content())) == {"asked": ASKED}, "run python -m tests.vectors.make"
    assert sum("refused" in case for asked in ASKED for case in asked["cases"]) > 100


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked["name"])
def test_every_vector(asked: Any) -> None:
    inquiry = Inquiry.of(sv.from_json(asked["spec"]), asked["missing"], asked["outside"])
    for value, expected in cases(asked):
        found = outcome(lambda value=value: [plain(one) for one in inquiry.judge(value).values()])
        assert found == expected, value


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked["name"])
@pytest.mark.parametrize("kind", ["ledger", "outbox"])
def test_what_cannot_be_an_answer_spends_and_records_nothing(asked: Any, kind: str, tmp_path: Path) -> None:
    ledger = sv.Ledger(tmp_path / "ledger.db", budget=4)
    box: Any = {"ledger": ledger} if kind == "ledger" else {"outbox": tmp_path / "outbox.db"}
    rules = {"missing": asked["missing"], "outside": asked["outside"]}
    with (
        Collector(sv.from_json(asked["spec"]), **rules) as collector,
        sv.Client(collector.url, "commute", epsilon=4.0, **box) as client,
    ):
        path = next(iter(box.values())) if kind == "outbox" else ledger.path
        before = path.read_bytes()
        wrong = [(value, expected) for value, expected in cases(asked) if expected != _accepted(expected)]
        for value, expected in wrong:
            assert outcome(lambda value=value: client.report(value)) == expected
        assert path.read_bytes() == before
        assert ledger.spent == 0
        receipt = client.report(None)
        for value, expected in wrong:  # also when the report is known
            assert outcome(lambda value=value: client.report(value)) == expected
        assert client.report(None).cells == receipt.cells
        assert len(collector.sent) == 1


def _accepted(expected: Any) -> Any:
    """The outcome itself unless it is a refusal: a code and an argument."""
    return None if expected[0] in ("type", "outside") else expected


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked["name"])
def test_of_many_the_first_wrong_one_is_named_and_nobody_is_drawn(asked: Any, tmp_path: Path) -> None:
    path, rules = tmp_path / "outbox.db", {"missing": asked["missing"], "outside": asked["outside"]}
    reporter = sv.from_json(asked["spec"])
    by_name = isinstance(reporter, sv.Survey)

    def many(people: list[Any]) -> Any:
        rows = [one if isinstance(one, list) else [one["age"], one["way"]] for one in people]
        return {"age": [age for age, _ in rows], "way": [way for _, way in rows]}

    def whole(value: Any) -> bool:
        """Whether a survey's value has all columns: of many people these are columns of a table."""
        names = set(value) if isinstance(value, dict) else set()
        return not by_name or names == {"age", "way"} or (isinstance(value, list) and len(value) == 2)

    good = [value for value, expected in cases(asked) if _accepted(expected) and whole(value)]
    with (
        Collector(reporter, **rules) as collector,
        sv.Client(collector.url, "commute", epsilon=4.0, outbox=path) as client,
    ):
        before = path.read_bytes()
        refused = 0
        for value, expected in cases(asked):
            if _accepted(expected) or not whole(value):
                continue
            people = [*good, value, *good, value]
            with pytest.raises(
                (ArgumentTypeError, DataError), match=f"the one at index {len(good)}: "
            ) as caught:
                client.send(many(people) if by_name else people)
            assert [caught.value.code, caught.value.argument] == [expected[0], "values"]
            refused += 1
        assert refused >= 3 or asked["name"] == "an hour"
        assert path.read_bytes() == before
        assert client.send(many(good) if by_name else good) == len(good)


def test_arrays_of_many_people() -> None:
    """Of other types than lists; what is refused as a whole is no value of anybody."""
    number, yes_or_no = (Inquiry.of(r, "uniform", "clip") for r in (sv.ogpm(1.0, (0, 9)), YES_OR_NO))
    position = Inquiry.of(sv.polar(1.0, 1.0), "uniform", "clip")
    assert number.read_many(np.arange(3))[0]["value"].tolist() == [0, 1, 2]
    assert yes_or_no.read_many(np.array(["no", "Yes"]))[0]["value"].tolist() == ["No", "Yes"]
    assert number.read_many([])[1] == position.read_many([])[1] == 0
    columns, people = position.read_many([(1, 0), None])
    assert people == 2
    assert plain(columns["value"][0]) == [1, 0]
    assert plain(columns["value"][1]) is None
    for inquiry, values in (
        (number, np.array([True])), (number, np.array(["1"])), (number, np.zeros((2, 2))), (number, 5.0),
        (number, "12"), (number, np.ma.array([1.0])), (position, np.zeros((2, 3))), (yes_or_no, "Yes"),
        (yes_or_no, np.array([True])), (yes_or_no, [b"Yes"]), (yes_or_no, [{"a": 1}]), (yes_or_no, None),
    ):  # fmt: skip
        with pytest.raises((TypeError, DataError)):
            inquiry.read_many(values)


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked["name"])
def test_no_refusal_tells_the_value(asked: Any) -> None:
    inquiry = Inquiry.of(sv.from_json(asked["spec"]), asked["missing"], asked["outside"])
    of_many: Any = [None, "canary"]
    if asked["name"] == "two questions":
        of_many = {"age": [1, "canary"], "way": ["car", "car"]}
    for act in (
        *(lambda value=value: inquiry.judge(value) for value in ("canary", ["canary"], {"canary": 1})),
        lambda: inquiry.read_many(of_many),
    ):
        with pytest.raises((ArgumentTypeError, DataError)) as caught:
            act()
        assert "canary" not in str(caught.value)


def test_infinite_is_missing_for_options_too() -> None:
    assert math.isnan(YES_OR_NO.domain.numbers([math.inf])[0])
