"""The same specs, values and words for every client: the same cells, or the same refusal.

Specs are those of the vectors, random small windows, and both of them broken: a number, a key, a list or a
letter changed. Python's own two samplers, numpy's and numba's, are compared as well.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.vectors.hostile import hostile_specs
from tests.vectors.make import cells_of, report_of, value_of, words_of
from tests.vectors.mechanisms import composites, mechanisms

import sottovoce as sv
from sottovoce.auditing.clients import Client
from sottovoce.core.errors import PrivacyError
from sottovoce.core.kernels import blocks
from sottovoce.core.number import Number
from sottovoce.core.spec import digest
from sottovoce.core.translates import Translates

_ODD = (
    0, 1, -1, 2, 0.5, -0.0, 1e-300, 1e308, 1 << 53, (1 << 53) + 1, 1 << 70, None, True, "x", [], {}, math.inf,
)  # fmt: skip


@dataclass
class Outcome:
    """What was compared.

    Attributes:
        triples: How many (spec, value, word) were; a refused spec counts once.
        refused: How many specs were refused.
        wrong: What differed.
    """

    triples: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)


def fuzz(clients: Mapping[str, Client], specs: int, each: int, seed: int) -> Outcome:
    """Ask every client the same, and compare with Python.

    Args:
        clients: Clients by name.
        specs: How many specs.
        each: How many values and words for each.
        seed: Which ones.
    """
    outcome, rng = Outcome(), np.random.default_rng(seed)
    for text in spec_texts(specs, seed):
        question = {"do": "report", "spec": text, "values": [], "words": []}
        reporter, error = read(text)
        if reporter is not None:
            question["values"], question["words"], expected = draws(reporter, each, rng, outcome.wrong)
            answer: dict[str, Any] = {"reports": expected, "digest": digest(text)}
        else:
            answer = {"error": error}
            outcome.refused += 1
        outcome.triples += max(1, len(question["values"]))
        for name, client in clients.items():
            given = client.ask(question)
            if any(given.get(key) != value for key, value in answer.items()):
                outcome.wrong.append(f"{name}: {_short(given, answer)} for {text[:2000]}")
    return outcome


def _short(given: dict[str, Any], answer: dict[str, Any]) -> str:
    if "reports" in given and "reports" in answer:
        pairs = zip(given["reports"], answer["reports"], strict=True)
        return next((f"{a}, not {b}, at {i}" for i, (a, b) in enumerate(pairs) if a != b), "another digest")
    return f"{given.get('error')}, not {answer.get('error')}"


def read(text: str) -> tuple[Any, str | None]:
    """A reporter, or why it is refused."""
    try:
        return sv.from_json(text), None
    except PrivacyError:
        return None, "privacy"
    except ValueError:
        return None, "spec"


def draws(
    reporter: Any, each: int, rng: np.random.Generator, wrong: list[str]
) -> tuple[list[Any], list[str], list[Any]]:
    """Values, words and what they draw; some values lie outside."""
    count = each if isinstance(reporter, Number) else max(1, each // 20)
    words = rng.integers(0, 1 << 64, size=(count, words_of(reporter)), dtype=np.uint64)
    if not isinstance(reporter, sv.Survey):  # whose lot has no order among equal words
        words[rng.uniform(size=count) < 0.05] = rng.choice(np.array([0, 1, (1 << 64) - 1], dtype=np.uint64))
    if not isinstance(reporter, Number):
        values = [value_of(reporter, rng) for _ in range(count)]
        expected = [report_of(reporter, value, row) for value, row in zip(values, words, strict=True)]
        if isinstance(reporter, Translates):
            _compare_choices(reporter, values, words, expected, wrong)
        return values, _hex(words), expected
    d = reporter.domain
    x = d.from_unit(rng.choice([0.0, 1.0, 0.5, *rng.uniform(size=30)], size=count))
    x = np.where(rng.uniform(size=count) < 0.1, np.nextafter(x, rng.choice([-np.inf, np.inf])), x)
    x = np.where(rng.uniform(size=count) < 0.02, d.high + abs(d.high) + 1, x)
    x = np.where(np.isfinite(x), x, d.low)
    inside = d.contains(x)
    coins = words[:, -1] >> np.uint64(32)
    cells = cells_of(reporter, np.where(inside, x, d.low), words[:, 0], coins)
    _compare_compiled(reporter, np.where(inside, x, d.low), words, cells, wrong)
    expected = [[cell] if ok else None for cell, ok in zip(cells.tolist(), inside.tolist(), strict=True)]
    return x.tolist(), _hex(words), expected


def _hex(words: Any) -> list[str]:
    return ["".join(f"{word:016x}" for word in row) for row in words.tolist()]


def _compare_compiled(reporter: Any, x: Any, words: Any, cells: Any, wrong: list[str]) -> None:
    """numba against numpy."""
    parts = reporter.parts if isinstance(reporter, sv.Mixture) else (reporter,)
    for offset, part in enumerate(parts):
        if not isinstance(part, sv.Mechanism):
            continue
        compiled = np.empty(len(x), dtype=np.uint32)
        assert part._sampler.fill(compiled, words[:, 0].copy(), x, compiled=True) == 0
        side = np.ones(len(x), dtype=bool)
        base = 0
        if isinstance(reporter, sv.Mixture):
            base = int(reporter.offsets[offset])
            side = (cells >= base) & (cells < int(reporter.offsets[offset + 1]))
        if (compiled[side].astype(np.int64) + base != cells[side]).any():
            wrong.append(f"numba differs for {reporter.to_json()[:2000]}")


def _compare_choices(reporter: Translates, values: Any, words: Any, expected: Any, wrong: list[str]) -> None:
    out = np.empty(len(values), dtype=reporter.dtype)
    element = reporter.domain.elements(reporter.domain.numbers(values), words[:, 0])
    blocks.fill(out, words[:, 0].copy(), element, reporter._tables, compiled=True)
    if [[int(cell)] for cell in out] != expected:
        wrong.append(f"numba differs for {reporter.to_json()[:2000]}")


# -- specs --------------------------------------------------------------------------------------------


def spec_texts(count: int, seed: int) -> Iterator[str]:
    """Specs, about a third of them whole."""
    chance = random.Random(seed)
    good = [m.to_json() for m in {**mechanisms(), **composites()}.values()]
    good = [text for text in good if len(text) < 20_000]
    hostile = [text for _, text in hostile_specs() if len(text) < 20_000]
    for _ in range(count):
        kind = chance.random()
        base = chance.choice(good) if chance.random() < 0.5 else small_window(chance)
        if kind < 0.35:
            yield base
        elif kind < 0.4:
            yield chance.choice(hostile)
        elif kind < 0.9:
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
