"""Specs for the fuzzer: of the vectors, small windows, hostile ones that readers accept, and broken ones."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.vectors.hostile import hostile_specs
from tests.vectors.mechanisms import composites, mechanisms

_ODD = (
    0, 1, -1, 2, 0.5, -0.0, 1e-300, 1e308, 1 << 53, (1 << 53) + 1, 1 << 70, None, True, "x", [], {}, math.inf,
)  # fmt: skip


def spec_texts(count: int, seed: int) -> Iterator[str]:
    """Specs, about a third of them whole, and as many hostile ones of which readers accept most."""
    chance = random.Random(seed)
    good = [m.to_json() for m in {**mechanisms(), **composites()}.values()]
    good = [text for text in good if len(text) < 20_000]
    hostile = [text for _, text in hostile_specs() if len(text) < 20_000]
    for _ in range(count):
        kind = chance.random()
        base = chance.choice(good) if chance.random() < 0.5 else small_window(chance)
        if kind < 0.3:
            yield written(steep(chance))
        elif kind < 0.55:
            yield base
        elif kind < 0.6:
            yield chance.choice(hostile)
        elif kind < 0.93:
            yield broken(base, chance)
        else:
            at = chance.randrange(len(base))
            yield base[:at] + chance.choice(["", "0", "9", "-", ".", "e", ",", "]", '"']) + base[at + 1 :]


def small_window(chance: random.Random) -> str:
    """A window of a few runs whose counts may or may not keep its claim."""
    bits, runs = chance.randrange(33, 46), chance.randrange(1, 6)
    circle, stepwise = chance.random() < 0.4, chance.random() < 0.4
    count = [chance.choice([1, 1, 2, 7, 50]) for _ in range(runs)]
    share = chance.uniform(0.3, 0.9) * 2.0**bits / sum(count)
    a = [max(1, int(share * chance.uniform(0.5, 1.1))) for _ in count]
    e = [chance.choice([1.7, 1.7, 1.7, 0.0, 1.718]) * w // 1 for w in a]
    e = [int(w) for w in e]
    mass, around = (sum(c * w for c, w in zip(count, part, strict=True)) for part in (a, e))
    length = 2**bits - mass
    if around < length:  # make room for the window
        e[0] += (length - around) // count[0] + 1
        around = sum(c * w for c, w in zip(count, e, strict=True))
    top = max(0, 2 * around - 1 if circle else around - length)
    knots = chance.randrange(1 if stepwise else 2, 7)
    low = chance.choice([0.0, -3.0, 1e-5, 1e15])
    width = chance.choice([1.0, 24.0, 1e-9 * max(low, 1), 7e3])
    scale = {"scale": "log"} if not circle and low > 0 and chance.random() < 0.5 else {}
    value = sorted(chance.uniform(0, 0.9) for _ in count)
    return json.dumps(
        {
            "format": "window/1", "epsilon": chance.choice([1.0, 1.0, 2.5, 8.0]),
            "circle": circle, "bits": bits,
            "domain": [low, width if circle else low + width], **scale,
            "cells": {"count": count, "background": a, "extra": e, "value": value, "step": [0.0] * runs},
            "start": {
                "t": sorted(chance.choice([0.0, 1.0, chance.random()]) for _ in range(knots)),
                "s": sorted(chance.choice([0, top, chance.randrange(top + 1)]) for _ in range(knots)),
                "step": stepwise,
            },
        },
        sort_keys=True, separators=(",", ":"),
    )  # fmt: skip


#: Places at which arithmetic may round: the ends, halves and quarters, and what lies just beside them.
_PLACES = (0.0, 2.0**-64, 2.0**-30, 0.25, 0.5, 0.75, 1 - 2.0**-53, 1.0)
_DOMAINS = (
    [0.0, 1.0], [-3.0, 5.0], [1e15, 1e15 + 8], [0.0, 5e-324], [-1e-310, 1e-310], [0.0, 1.7e308],
    [-1.7e308, 1.7e308], [1.0, 1 + 2.0**-50], [1e-300, 1e300],
)  # fmt: skip


def written(content: dict[str, Any]) -> str:
    """The canonical text."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def steep(chance: random.Random) -> dict[str, Any]:
    """A spec of any kind with windows as hostile as readers accept, most of the time."""
    kind = chance.random()
    if kind < 0.55:
        return steep_window(chance)
    if kind < 0.75:
        domain, weights = (
            _domain(chance, False),
            chance.choice([[1, 1], [3, 5], [1, 1, 2], [1022, 1, 1], [2]]),
        )
        parts = [steep_window(chance, domain, one=kind < 0.62) for _ in weights]
        return {"format": "mixture/1", "weights": weights, "parts": parts}
    if kind < 0.85:
        return _steep_rows(chance)
    questions = [{"name": str(i), "spec": steep_window(chance)} for i in range(chance.randrange(1, 4))]
    sampled = chance.randrange(1, len(questions) + 1)
    return {"format": "survey/1", "epsilon": 16.0, "sampled": sampled, "questions": questions}


def steep_window(
    chance: random.Random, domain: dict[str, Any] | None = None, *, one: bool = False
) -> dict[str, Any]:
    """A window of runs of many kinds whose starts leap, or rise as steeply as readers accept."""
    domain = domain or _domain(chance, chance.random() < 0.35)
    circle, bits, stepwise = domain["circle"], chance.choice([33, 34, 40, 48, 51, 52]), chance.random() < 0.2
    count = [chance.choice([1, 1, 2, 7, 50, 5000]) for _ in range(1 if one else chance.randrange(1, 9))]
    share = chance.uniform(0.2, 0.95) * 2.0**bits / sum(count)
    uneven = chance.random() < 0.7
    a = [max(1, int(share * (chance.choice([1.0, 1.0, 0.3, 1e-4]) if uneven else 1.0))) for _ in count]
    length = 2**bits - sum(map(math.prod, zip(count, a, strict=True)))
    room = (2**53 - 2**bits + length) // (2 if circle else 1)  # for extra weights
    around = chance.choice([length, min(room, 2 * length), chance.randint(length, room), room])
    parts = [chance.choice([1.0, 1.0, 0.0, 1e-3, 3.0]) if uneven else 1.0 for _ in count]
    parts[-1] = parts[-1] or 1.0
    each = around / sum(map(math.prod, zip(count, parts, strict=True)))
    e = [int(each * part) for part in parts]
    e[-1] += max(0, length - sum(map(math.prod, zip(count, e, strict=True)))) // count[-1] + 1
    around = sum(map(math.prod, zip(count, e, strict=True)))
    top = max(0, 2 * around - 1 if circle else around - length)
    value = sorted(chance.uniform(0, 0.9) for _ in count)
    return {
        "format": "window/1", "epsilon": 16.0, "bits": bits, **domain,
        "cells": {"count": count, "background": a, "extra": e, "value": value, "step": [0.0] * len(count)},
        "start": {**_steep_starts(chance, top, one=one), "step": stepwise and not one},
    }  # fmt: skip


def _domain(chance: random.Random, circle: bool) -> dict[str, Any]:
    low, high = chance.choice(_DOMAINS[:6] if circle else _DOMAINS)
    scale = {"scale": "log"} if not circle and low > 0 and chance.random() < 0.5 else {}
    return {"domain": [low, high - low if circle else high], "circle": circle, **scale}


def _steep_starts(chance: random.Random, top: int, *, one: bool) -> dict[str, Any]:
    """Knots in bunches of a few ulps; one line alone reaches ±2^53 at the ends of the scale, or nearly."""
    if one or chance.random() < 0.2:
        half = min(0.5, max(2.0**-50, top / (2.0**55 - 2 * top)) * chance.choice([1 + 1e-12, 1.5, 1e3]))
        return {"t": [0.5 - half, 0.5 + half], "s": [0, top]}
    t = []
    for _ in range(chance.randrange(1, 4)):
        knot = chance.choice([*_PLACES, chance.random()])
        for _ in range(chance.randrange(1, 4)):
            t.append(min(knot, 1.0))
            knot = chance.choice([knot, float(np.nextafter(knot, 2.0)) if knot > 0.01 else knot + 2.0**-64])
    if chance.random() < 0.9:
        t += [0.0, 1.0]
    s = [chance.choice([0, 1, top // 2, top - 1, top, chance.randint(0, top)]) for _ in t]
    return {"t": sorted(t), "s": sorted(max(0, one) for one in s)}


def _steep_rows(chance: random.Random) -> dict[str, Any]:
    """Rows of counts from 1 to nearly 2^bits, for inputs an ulp apart."""
    domain, bits = _domain(chance, chance.random() < 0.3), chance.choice([33, 44, 52])
    inputs = sorted({0.0, *chance.sample([*_PLACES, 0.5 + 2.0**-53, 0.25 + 2.0**-54], 4)})
    cells = chance.choice([1, 2, 3, 40])
    most = chance.choice([2**bits // cells - 1, 5])
    rows = [[chance.randint(max(1, most // 5), max(1, most)) for _ in range(cells - 1)] for _ in inputs]
    return {
        "format": "rows/1", "epsilon": 16.0, "bits": bits, **domain, "inputs": inputs,
        "values": sorted(chance.choice([0.0, 0.5, chance.random()]) for _ in range(cells)),
        "rows": [[*row, 2**bits - sum(row)] for row in rows],
    }  # fmt: skip


def broken(text: str, chance: random.Random) -> str:
    """The same with one or two things changed."""
    content = json.loads(text)
    for _ in range(chance.choice([1, 1, 2])):
        owner, key = _place(content, chance)
        value = owner[key]
        change = chance.randrange(6)
        if change == 0 and isinstance(owner, dict):
            del owner[key]
        elif change == 1 and isinstance(value, list) and value:
            value.insert(chance.randrange(len(value)), chance.choice(value))
        elif change <= 3 and isinstance(value, int | float) and not isinstance(value, bool):
            near = chance.choice([1, -1]) if isinstance(value, int) else np.spacing(value)
            owner[key] = value + near if isinstance(value, int) else float(value + near)
        elif change == 4 and isinstance(value, int | float) and not isinstance(value, bool):
            owner[key] = chance.choice([value * 2, -value, value / 3])
        else:
            owner[key] = chance.choice(_ODD)
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def _place(content: Any, chance: random.Random) -> tuple[Any, Any]:
    """A random place in a tree."""
    owner, key = content, chance.choice(list(content))
    while isinstance(owner[key], dict | list) and owner[key] and chance.random() < 0.85:
        owner = owner[key]
        key = chance.choice(list(owner)) if isinstance(owner, dict) else chance.randrange(len(owner))
    return owner, key
