"""Specs that no reader may accept: broken JSON, wrong types, numbers that contradict each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import sottovoce as sv
from tests.vectors.mechanisms import composites, mechanisms


def hostile_specs() -> list[tuple[str, str]]:
    good = sv.ogpm(1.0, (0, 24), "l1").to_json()
    return [
        *_broken_text(good),
        *((name, _text(content)) for name, content in _wrong_content(good)),
        *((name, _text(content)) for name, content in _wrong_mixtures()),
        *((name, _text(content)) for name, content in _wrong_rows()),
        *((name, _text(content)) for name, content in _wrong_surveys()),
        *((name, _text(content)) for name, content in _wrong_functions()),
        *((name, _text(content)) for name, content in _wrong_positions()),
        *((name, _text(content)) for name, content in _wrong_choices()),
        *((name, _text(content)) for name, content in _wrong_places()),
        *((name, _text(content)) for name, content in _steep_lines()),
    ]


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def _broken_text(good: str) -> Iterator[tuple[str, str]]:
    yield "empty", ""
    yield "not an object", "[]"
    yield "null", "null"
    yield "cut off", good[:-1]
    yield "something after it", good + "x"
    yield "two of them", good + good
    yield "trailing comma", good[:-1] + ",}"
    yield "single quotes", good.replace('"', "'")
    yield "a comment", good[:-1] + "/* */}"
    yield "epsilon twice", good[:-1] + ',"epsilon":1.0}'
    yield "epsilon twice, once escaped", good[:-1] + ',"epsil\\u006fn":1.0}'
    yield "bits twice, the first a lie", good.replace('"bits":', '"bits":40,"bits":')
    yield "__proto__", good[:-1] + ',"__proto__":{}}'
    yield "nested deeply", "[" * 100_000 + "]" * 100_000
    yield "nested in a field", good.replace('"format"', '"more":' + "[" * 50 + "]" * 50 + ',"format"')
    yield "a byte order mark", "\ufeff" + good
    yield "a control character in a string", good.replace("window/1", "window\n/1")
    for name in (
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "-1e999",
        "null",
        "true",
        '"1"',
        "[]",
        "{}",
        "-0.0",
    ):
        yield f"epsilon {name}", good.replace('"epsilon":1.0', f'"epsilon":{name}')
    for name in ("01", "+1", ".5", "1.", "0x1", "1e", "１"):
        yield f"a number written {name}", good.replace('"epsilon":1.0', f'"epsilon":{name}')
    for name in ("1.0", "true", "9007199254740993", "1e3", "18446744073709551616", "9" * 400, "null", '"5"'):
        yield f"extra {name[:24]}", _with_number(good, "extra", name)
        yield f"bits {name[:24]}", _with_number(good, "bits", name)
    yield "too large", good[:-1] + " " * (1 << 24) + "}"


def _with_number(good: str, key: str, written: str) -> str:
    """The spec with one integer written in another way."""
    begin = good.index(f'"{key}":') + len(key) + 3
    begin += good[begin] == "["
    end = min(good.index(sign, begin) for sign in ",]" if sign in good[begin:])
    return good[:begin] + written + good[end:]


def _wrong_mixtures() -> Iterator[tuple[str, Any]]:
    content = json.loads(mechanisms()["coin of three"].to_json())
    parts = content["parts"]
    for weights in ([1, 2], [1, 2, 4], [0, 3, 5], [-1, 4, 5], [1.0, 2, 5], [True, 2, 5], [2, 4, 1 << 52], []):
        yield f"coin {weights}", {**content, "weights": weights}
    yield "a coin of 2^11", {**content, "weights": [1024, 512, 512]}
    yield "no parts", {**content, "weights": [], "parts": []}
    yield "17 parts", {**content, "weights": [16] * 15 + [8, 8], "parts": parts[:1] * 17}
    yield "a mixture in a mixture", {**content, "parts": [content, *parts[1:]]}
    yield "parts of different epsilon", {**content, "parts": [{**parts[0], "epsilon": 1.5}, *parts[1:]]}
    yield "parts of different domains", {**content, "parts": [{**parts[0], "domain": [0, 2]}, *parts[1:]]}
    yield "a part that lies", {**content, "parts": [{**part, "epsilon": 0.9} for part in parts]}
    yield "a mixture with an epsilon", {**content, "epsilon": 1.0}
    big = json.loads(sv.ogpm(1.0, loss="l1", cells=1 << 19).to_json())
    yield "too many cells together", {**content, "weights": [2, 1, 1], "parts": [big] * 3}


def _wrong_rows() -> Iterator[tuple[str, Any]]:
    content = json.loads(mechanisms()["rows of 33 bits"].to_json())
    rows, inputs, values = content["rows"], content["inputs"], content["values"]
    for key in content:
        yield f"rows without {key}", {k: v for k, v in content.items() if k != key}
    for key in ("inputs", "rows", "values"):
        yield f"rows, {key} empty", {**content, key: []}
        yield f"rows, {key} too long", {**content, key: content[key] + content[key][-1:]}
        yield f"rows, {key} not a list", {**content, key: 1}
    yield "a row that is a number", {**content, "rows": [1, *rows[1:]]}
    yield "a row that is too short", {**content, "rows": [rows[0][:-1], *rows[1:]]}
    yield (
        "a row with a count of 0",
        {**content, "rows": [[rows[0][0] + rows[0][1], 0, *rows[0][2:]], *rows[1:]]},
    )
    yield "a row with a count of 1.5", {**content, "rows": [[1.5, *rows[0][1:]], *rows[1:]]}
    yield "a row that adds up to one more", {**content, "rows": [[rows[0][0] + 1, *rows[0][1:]], *rows[1:]]}
    yield "rows of other bits", {**content, "bits": content["bits"] + 1}
    for bits in (32, 53, -1):
        yield f"rows of {bits} bits", {**content, "bits": bits}
    yield "rows that add up beyond 2^53", {**content, "rows": [[1 << 53] * len(row) for row in rows]}
    yield "inputs that decrease", {**content, "inputs": inputs[::-1]}
    yield "inputs that coincide", {**content, "inputs": [inputs[1], *inputs[1:]]}
    yield "an input outside", {**content, "inputs": [*inputs[:-1], 1.5]}
    yield "a negative input", {**content, "inputs": [-0.5, *inputs[1:]]}
    yield (
        "a circle's inputs that do not begin at 0",
        {**content, "circle": True, "inputs": [0.1, *inputs[1:]]},
    )
    yield "cells' values that decrease", {**content, "values": values[::-1]}
    yield "rows with more privacy claimed than counted", {**content, "epsilon": 0.5}
    yield "rows with an unknown key", {**content, "code": "x"}


def _wrong_surveys() -> Iterator[tuple[str, Any]]:
    content = json.loads(composites()["survey of a few"].to_json())
    questions = content["questions"]
    first = questions[0]
    for key in content:
        yield f"survey without {key}", {k: v for k, v in content.items() if k != key}
    for sampled in (0, 3, -1, 1.0, True, "1", None):
        yield f"survey, sampled {sampled!r}", {**content, "sampled": sampled}
    names = {
        "empty": "", "a number": 3, "of 65 letters": "x" * 65, "with a line break": "a\nb",
        "that turns lines around": "a\u202eb", "with a wide space": "a\u3000b", "half a letter": "\ud800",
        "null": None, "private": "\ue000",
    }  # fmt: skip
    for kind, name in names.items():
        yield f"a name {kind}", {**content, "questions": [{**first, "name": name}, *questions[1:]]}
    yield "a name twice", {**content, "questions": [first, *questions]}
    yield "no questions", {**content, "questions": []}
    yield "questions by name", {**content, "questions": {one["name"]: one["spec"] for one in questions}}
    coin = json.loads(sv.duchi(1.0).to_json())
    yield "257 questions", {**content, "questions": [{"name": f"q{i}", "spec": coin} for i in range(257)]}
    yield "a question with more", {**content, "questions": [{**first, "more": 1}, *questions[1:]]}
    yield "a question without a spec", {**content, "questions": [{"name": "a"}, *questions[1:]]}
    yield (
        "a spec as text",
        {**content, "questions": [{**first, "spec": _text(first["spec"])}, *questions[1:]]},
    )
    yield "a survey in a survey", {**content, "questions": [{**first, "spec": content}, *questions[1:]]}
    yield "a survey that claims less", {**content, "epsilon": 0.9}
    yield "a survey that claims 17", {**content, "epsilon": 17}
    yield "a survey with a task", {**content, "task": "mean"}
    yield "a question that is refused", {**content, "questions": [{**first, "spec": {}}, *questions[1:]]}
    many = json.loads(sv.ogpm(1.0, (0, 1), "l1", cells=1 << 20).to_json())
    yield (
        "a survey of too many cells",
        {**content, "questions": [{"name": f"q{i}", "spec": many} for i in range(17)]},
    )


def _wrong_functions() -> Iterator[tuple[str, Any]]:
    content = json.loads(composites()["functions of numbers"].to_json())
    for key in ("inputs", "weights"):
        yield f"functions without {key}", {k: v for k, v in content.items() if k != key}
    questions, inputs = content["questions"], content["inputs"]
    for change in (
        {"function": "product"}, {"function": "level"}, {"function": "square"}, {"function": None},
        {"of": ["age"]}, {"of": ["age", "age"]}, {"of": ["age", "height"]}, {"of": ["age", "way"]},
        {"of": "age"}, {"of": [1, 2]}, {"spec": questions[0]["spec"]}, {"function": "value"}, {"more": 1},
    ):  # fmt: skip
        yield (
            f"functions, {str(change)[:40]}",
            {**content, "questions": [*questions[:3], {**questions[3], **change}, *questions[4:]]},
        )
    for change in (
        {"name": "pay"},
        {"circle": True},
        {"name": 3},
        {"domain": [3, 3]},
        {"options": ["a", "b"]},
        {"scale": "root"},
    ):
        yield f"functions, input {change}", {**content, "inputs": [{**inputs[0], **change}, *inputs[1:]]}
    for weights in (
        [3, 5, 1, 4, 2, 2],
        [3, 5, 1, 4, 3],
        [3, 5, 1, 4, 2, 1, 16],
        [0, 8, 1, 4, 2, 1],
        [1 << 20] * 6,
        [3.0, 5, 1, 4, 2, 1],
        16,
    ):
        yield f"functions, weights {weights}", {**content, "weights": weights}
    yield "functions, two of them", {**content, "sampled": 2}
    yield "functions that claim less", {**content, "epsilon": 0.5}
    level = json.loads(composites()["a number within groups"].to_json())
    way = level["inputs"][0]
    for options in (["car", "bike"], ["car", "bike", "boat", "train"], [str(i) for i in range(9)]):
        yield (
            f"levels of {len(options)} options",
            {**level, "inputs": [{**way, "options": options}, *level["inputs"][1:]]},
        )


def _wrong_positions() -> Iterator[tuple[str, Any]]:
    content = json.loads(composites()["polar"].to_json())
    distance, angle = content["parts"]
    for key in content:
        yield f"position without {key}", {k: v for k, v in content.items() if k != key}
    for weights in ([1], [1, 1, 1], [0, 1], [1, -1], [1, "1"], [True, 1], 1):
        yield f"position, weights {weights}", {**content, "weights": weights}
    for loss in (0.5, 65, "l3", None, True, [2]):
        yield f"position, loss {loss!r}", {**content, "loss": loss}
    yield "position of one part", {**content, "parts": [distance]}
    yield "angle before distance", {**content, "parts": [angle, distance]}
    yield "two distances", {**content, "parts": [distance, distance]}
    yield "a distance from 1 on", {**content, "parts": [{**distance, "domain": [1, 10]}, angle]}
    yield "an angle in degrees", {**content, "parts": [distance, {**angle, "domain": [0, 360]}]}
    yield "a part with a task", {**content, "parts": [{**distance, "task": "mean"}, angle]}
    yield "position with a task", {**content, "task": "mean"}
    yield "a position that claims less", {**content, "epsilon": 1.5}
    yield "a part that claims less", {**content, "parts": [{**distance, "epsilon": 0.5}, angle]}
    for radius in (2e-323, 9e-301):
        yield f"a radius of {radius}", {**content, "parts": [{**distance, "domain": [0, radius]}, angle]}


def _wrong_choices() -> Iterator[tuple[str, Any]]:
    content = json.loads(composites()["choice"].to_json())
    for key in content:
        yield f"choice without {key}", {k: v for k, v in content.items() if k != key}
    options = content["options"]
    for names in (
        [], ["car"], ["car", "Car", *options[2:]], ["car", " bike", *options[2:]], ["car", "", *options[2:]],
        ["car", "bi\u202eke", *options[2:]], ["car", 1.0, *options[2:]], ["car", True, *options[2:]],
        ["car", None, *options[2:]], ["1", 1, *options[2:]], ["a  b", "a b", *options[2:]], "car",
        ["car", "x" * 201, *options[2:]], ["car", 1 << 54, *options[2:]],
        ["car", (1 << 53) + 1, *options[2:]], ["car", -(1 << 53) - 1, *options[2:]],
        ["cafe\u0301", *options[1:]], [*options, "boat"], [str(i) for i in range(1001)],
        ["stra\u00dfe", "strasse", *options[2:]],
    ):  # fmt: skip
        yield f"options {str(names)[:40]}", {**content, "options": names}
    for blocks in ([], [[]], [[0, 0]], [[4]], [[-1]], [[0, 1, 2, 3]], [0], [[0.0]], [[True]], "0"):
        yield f"blocks {blocks}", {**content, "blocks": blocks}
    for multipliers in ([], [2], [0], [1, 1], [5], [-1], [1.0], 1):
        yield f"multipliers {multipliers}", {**content, "multipliers": multipliers}
    a, e = content["background"], content["extra"]
    for changes in (
        {"background": 0}, {"background": a + 1}, {"extra": -1}, {"extra": e - 4}, {"bits": 51}, {"bits": 32},
        {"bits": 53}, {"background": 1 << 53}, {"extra": 1 << 53}, {"background": 1.0}, {"epsilon": 0.9},
        {"epsilon": 17}, {"task": "share"}, {"code": 1},
    ):  # fmt: skip
        yield f"choice with {changes}", {**content, **changes}


def _wrong_places() -> Iterator[tuple[str, Any]]:
    content = json.loads(composites()["place in degrees"].to_json())
    area, block = content["area"], content["blocks"][0]
    for key in area:
        yield f"area without {key}", {**content, "area": {k: v for k, v in area.items() if k != key}}
    for changes in (
        {"x": [13.5, 13.3]}, {"x": [13.5, 13.5]}, {"x": [179.9, 180.1]}, {"x": [-180.1, 0]}, {"x": [13.3]},
        {"x": 13.3}, {"x": [None, 13]}, {"y": [89, 91]}, {"y": [-1e308, 1e309]}, {"points": [1, 16]},
        {"points": [16, 1025]}, {"points": [16.0, 16]}, {"points": [60, 60]}, {"points": [16]},
        {"moduli": [15, 16]}, {"moduli": [1025, 1025]}, {"moduli": [22, 23]}, {"round": 1}, {"degrees": None},
        {"degrees": False, "x": [-1e308, 1.1e308]}, {"unit": "km"}, {"round": True, "x": [0, 2e-323]},
        {"x": [0, 2e-323]}, {"round": True, "y": [-4e-301, 4e-301]},
    ):  # fmt: skip
        yield f"area with {changes}", {**content, "area": {**area, **changes}}
    for wrong in (None, [], "area"):
        yield f"area {wrong}", {**content, "area": wrong}
    for blocks in (
        [], [[]], [[*block[:-1], 2]], [[0]], [[-1]], [[1025]], [[1] * 25], [[1.0]], [[True]], [block, block],
        [[area["moduli"][1] | 1] * area["moduli"][0]], block,
    ):  # fmt: skip
        yield f"rows {blocks}", {**content, "blocks": blocks}
    for changes in (
        {"multipliers": [1]}, {"options": ["car", "bike"]}, {"background": content["background"] + 1},
        {"extra": content["extra"] - 50}, {"epsilon": 1.9}, {"bits": 51}, {"task": "value"},
    ):  # fmt: skip
        yield f"place with {changes}", {**content, **changes}


def _steep_lines() -> Iterator[tuple[str, Any]]:
    """Lines of starts that leave 2^53 where they are followed: doubles round there."""
    two = json.loads(mechanisms()["two cells, as steep as may be"].to_json())
    around = json.loads(mechanisms()["circle, as steep as may be"].to_json())
    coin, polar = (
        json.loads(made.to_json()) for made in (mechanisms()["coin of three"], composites()["polar"])
    )
    survey = json.loads(composites()["survey of a few"].to_json())

    def lines(content: Any, *knots: float) -> Any:
        """All of the rise on the last line."""
        s = [0 if knot < knots[-1] else content["start"]["s"][-1] for knot in knots]
        return {**content, "start": {"s": s, "step": False, "t": list(knots)}}

    below, above = two["start"]["t"]
    yield "a last line that is followed beyond 2^53", lines(two, 0.25, 0.25 + 2.0**-54)  # by 2^106
    yield "the same a little", lines(two, below * (1 + 1e-9), above)
    yield "the last line only", lines(two, 0.0, 0.75, 0.75 + 2.0**-53)
    yield "a last line on a circle", lines(around, 0.0, 0.25, 0.25 + 2.0**-54)
    parts = [lines(coin["parts"][0], 0.5, 0.5 + 2.0**-53), *coin["parts"][1:]]
    yield "a part of a coin that leaves 2^53", {**coin, "parts": parts}
    parts = [lines(polar["parts"][0], 0.5, 0.5 + 2.0**-53), polar["parts"][1]]
    yield "a part of a position that leaves 2^53", {**polar, "parts": parts}
    first = survey["questions"][0]
    steep = {**first, "spec": lines(first["spec"], 0.5, 0.5 + 2.0**-53)}
    yield "a question that leaves 2^53", {**survey, "questions": [steep, *survey["questions"][1:]]}


def _wrong_content(good: str) -> Iterator[tuple[str, Any]]:
    content = json.loads(good)
    runs = json.loads(mechanisms()["mixed runs"].to_json())
    circle = json.loads(mechanisms()["mixed runs on a circle"].to_json())

    def cells(**changes: Any) -> Any:
        return {**content, "cells": {**content["cells"], **changes}}

    def start(**changes: Any) -> Any:
        return {**content, "start": {**content["start"], **changes}}

    for key in content:
        yield f"without {key}", {k: v for k, v in content.items() if k != key}
    for key in content["cells"]:
        yield f"without cells.{key}", {
            **content, "cells": {k: v for k, v in content["cells"].items() if k != key},
        }  # fmt: skip
        yield f"cells.{key} empty", cells(**{key: []})
        yield f"cells.{key} too long", cells(**{key: content["cells"][key] * 2})
        yield f"cells.{key} not a list", cells(**{key: content["cells"][key][0]})
        yield f"cells.{key} nested", cells(**{key: [content["cells"][key]]})
    for key in ("t", "s"):
        yield f"start.{key} empty", start(**{key: []})
        yield f"start.{key} one knot", start(**{key: content["start"][key][:1]})
    yield "no cells at all", cells(count=[], background=[], extra=[], value=[], step=[])
    yield "an unknown key", {**content, "code": "x"}
    yield "another format", {**content, "format": "window/2"}
    yield "circle 0", {**content, "circle": 0}
    yield "start.step 1", start(step=1)
    for bits in (0, 32, 53, 64, -33):
        yield f"{bits} bits", {**content, "bits": bits}
    for domain in ([0], [0, 1, 2], [1, 0], [1, 1], [0, None], "01", {"low": 0}, [0, True], [1e308, -1e308]):
        yield f"domain {domain}", {**content, "domain": domain}
    for scale in ("linear", "ln", None, 1, True, ["log"]):
        yield f"scale {scale}", {**content, "domain": [1, 9], "scale": scale}
    for domain in ([0, 1], [-1, 1], [1e-301, 1], [1e15, 1e15 + 1]):
        yield f"log scale of {domain}", {**content, "domain": domain, "scale": "log"}
    yield "log scale of a circle", {**circle, "domain": [1, 9], "scale": "log"}
    for domain in ([0, 0], [0, -1], [1e308, 1.7e308], [1e300, 1.0]):
        yield f"circle {domain}", {**circle, "domain": domain}
    yield "a circle that its counts do not allow", {**content, "circle": True}
    for epsilon in (0, -1.0, 1e-7, 17, 1e300, 5e-324):
        yield f"epsilon {epsilon}", {**content, "epsilon": epsilon}
    yield "count 0", cells(count=[0])
    yield "count -1", cells(count=[-1])
    yield "count 2^40", cells(count=[1 << 40])
    yield "count 2^20 + 1", cells(count=[(1 << 20) + 1])
    yield "background 0", cells(background=[0])
    yield "extra -1", cells(extra=[-1])
    yield "extra 0: no room for the window", cells(extra=[0])
    yield "weights beyond 2^53", cells(extra=[1 << 53])
    yield "background fills everything", cells(background=[2 ** (content["bits"] - 16)])
    yield "values that decrease", cells(step=[-1e-5])
    yield "values that overflow", cells(value=[1e308], step=[1e308])
    yield "values that cancel to NaN", cells(value=[-1.7e308], step=[1.7e308])
    yield "runs out of order", {**runs, "cells": {**runs["cells"], "value": [0.0, 0.2, 0.1, 0.7, 0.75]}}
    yield (
        "a circle's values beyond 1",
        {**circle, "cells": {**circle["cells"], "value": [0, 0.2, 0.2, 0.7, 0.9]}},
    )
    yield (
        "a circle's values below 0",
        {**circle, "cells": {**circle["cells"], "value": [-0.1, 0.2, 0.2, 0.7, 0.75]}},
    )
    s = content["start"]["s"]
    yield "knots out of order", start(t=content["start"]["t"][::-1])
    yield "knots closer than 2^-64", start(t=[0.0, 2.0**-65])
    crowd = [2.0**-15 + 2.0**-30 * i for i in range(5)]
    yield "five knots in a bucket", start(t=[0.0, *crowd, 1.0], s=[0] * 6 + [s[1]])
    yield "a knot outside", start(t=[0.0, 1.5])
    yield "a negative knot", start(t=[-0.5, 1.0])
    yield "starts that decrease", start(s=s[::-1])
    yield "a negative start", start(s=[-1, s[1]])
    yield "a start beyond the end", start(s=[0, s[1] + 1])
    yield "more privacy claimed than counted", {**content, "epsilon": 0.999}
    yield "half the privacy claimed", {**content, "epsilon": 0.5}
    for task in ("Mean", "", "mean;", 3, None, ["mean"], "x" * 32):
        yield f"task {task!r}", {**content, "task": task}
