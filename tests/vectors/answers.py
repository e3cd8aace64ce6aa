"""What people may answer, and what cannot be an answer: the same in every client.

A case is a value and what becomes of it: a list with what each question is asked about (the place of an
option in its list; null where it is missing), or the code and the argument of the refusal. What JSON cannot
write is {"special": "NaN"}, "Infinity", "-Infinity", and "undefined", which JavaScript alone has.
"""

from __future__ import annotations

from typing import Any

import sottovoce as sv

NAN, INFINITY, BELOW, UNDEFINED = (
    {"special": name} for name in ("NaN", "Infinity", "-Infinity", "undefined")
)
NOTHING = (None, NAN, INFINITY, BELOW)


def _refused(code: str, argument: str, *values: Any) -> list[dict[str, Any]]:
    return [{"value": value, "refused": [code, argument]} for value in values]


def _becomes(*pairs: tuple[Any, Any]) -> list[dict[str, Any]]:
    return [{"value": value, "becomes": [result]} for value, result in pairs]


def _missing(*values: Any) -> list[dict[str, Any]]:
    return _becomes(*((value, None) for value in values))


def content() -> dict[str, Any]:
    number = sv.ogpm(1.0, (0, 120), cells=64)
    place = sv.place(2.0, box=((0, 16), (0, 16)), points=8)
    survey = sv.Survey(2.0, {"age": number, "way": sv.choice(1.0, ["car", "bike"])}, sampled=1)
    numbers = _becomes((7.5, 7.5), (0, 0), (120, 120)) + _missing(*NOTHING)
    numbers += _refused("type", "value", "3", "", "x", True, False, [3], [], {}, {"value": 3}, UNDEFINED)
    asked = [
        ("a number", number, "clip", numbers + _becomes((35000, 120), (-1, 0), (1e308, 120))),
        ("a number, nothing outside", number, "missing", numbers + _missing(35000, -1, 120.5)),
        ("an hour", sv.ogpm(1.0, sv.Circle(24)), "clip", _becomes((25, 1), (-1, 23)) + _missing(*NOTHING)),
        ("yes or no", sv.choice(1.0, ["Yes", "No"]), "clip", _yes_or_no()),
        ("yes or no, nothing outside", sv.choice(1.0, ["Yes", "No"]), "missing", _yes_or_no()),
        ("a rating", sv.choice(1.0, [1, 2, 3, 4, 5]), "clip", _ratings()),
        ("a position", sv.polar(1.0, 10.0), "clip", _positions() + _becomes(([30, 40], [6, 8]))),
        ("a position, nothing outside", sv.polar(1.0, 10.0), "missing", _positions() + _missing([30, 40])),
        ("a place", place, "clip", _positions() + _becomes(([30, -40], [16, 0]))),
        ("two questions", survey, "clip", _surveys()),
    ]  # fmt: skip
    return {
        "asked": [
            {
                "name": name,
                "spec": reporter.to_json(),
                "missing": "uniform",
                "outside": outside,
                "cases": cases,
            }
            for name, reporter, outside, cases in asked
        ]
    }


def _yes_or_no() -> list[dict[str, Any]]:
    cases = _becomes(("Yes", 0), ("No", 1), (" no ", 1), ("YES", 0)) + _missing(*NOTHING, "", "  ", "\u00a0")
    cases += _refused("outside", "value", "Ja", "oui", "1", "0", "true", "Yess", 5, 1, 0, 0.5, -1)
    return cases + _refused("type", "value", True, False, ["Yes"], [], {}, UNDEFINED)


def _ratings() -> list[dict[str, Any]]:
    cases = _becomes((1, 0), (3, 2), (3.0, 2), ("3", 2), (" 5 ", 4)) + _missing(*NOTHING, "")
    cases += _refused("outside", "value", 0, 6, 2.5, 35000, "3.0", "three", -3)
    return cases + _refused("type", "value", True, [3], {}, UNDEFINED)


def _positions() -> list[dict[str, Any]]:
    cases = _becomes(([3, 4], [3, 4]), ([0, 2.5], [0, 2.5]))
    cases += _missing(None, [None, 1], [1, NAN], [INFINITY, 0], [None, None])
    wrong = (
        [1],
        [1, 2, 3],
        [],
        "12",
        "1,2",
        5,
        ["1", "2"],
        [1, "2"],
        [True, 1],
        [1, [2]],
        {"x": 1, "y": 2},
        {},
    )
    return cases + _refused("type", "value", *wrong, True, UNDEFINED, [UNDEFINED, 1], [1, UNDEFINED])


def _surveys() -> list[dict[str, Any]]:
    cases = [
        {"value": {"age": 34, "way": "Bike"}, "becomes": [34, 1]},
        {"value": {"way": "car", "age": 500}, "becomes": [120, 0]},
        {"value": [34, "car"], "becomes": [34, 0]},
        {"value": {"age": None, "way": "car"}, "becomes": [None, 0]},
        {"value": [NAN, ""], "becomes": [None, None]},
        {"value": None, "becomes": [None, None]},
    ]
    wrong = (
        {"age": 34},
        {"age": 34, "way": "car", "pay": 1},
        {"Age": 34, "way": "car"},
        [34],
        [34, "car", 1],
    )
    cases += _refused("type", "value", *wrong, {}, [], "car", 34, True, UNDEFINED)
    cases += _refused(
        "type", "age", {"age": "34", "way": "car"}, ["34", "car"], [[34], "car"], ["34", "boat"]
    )
    cases += _refused("type", "way", {"age": 34, "way": True}, [None, ["car"]])
    cases += _refused("type", "way", {"age": 34, "way": UNDEFINED}, [34, UNDEFINED])
    return cases + _refused("outside", "way", {"age": 34, "way": "boat"}, [None, 1])
