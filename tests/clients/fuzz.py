"""The same specs, values and words for every client: the same cells, or the same refusal.

Specs (`tests.clients.specs`) are those of the vectors, random small windows, hostile ones that are accepted,
and broken ones: a number, a key, a list or a letter changed. Python's own samplers, numpy's and numba's, one
value at a time and all at once, are compared as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.clients.specs import spec_texts
from tests.vectors.make import cells_of, report_of, value_of, words_of

import sottovoce as sv
from sottovoce.auditing.client_vectors import Client
from sottovoce.errors import PrivacyError
from sottovoce.exact.exponential import MAX_BITS
from sottovoce.reporters.number import Number
from sottovoce.reporters.sampling.dispatch import fill_translates
from sottovoce.reporters.translates import Translates
from sottovoce.wire.canonical import digest


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


def fuzz(
    clients: Mapping[str, Client], specs: int, each: int, seed: int, texts: Iterable[str] | None = None
) -> Outcome:
    """Ask every client the same, and compare with Python.

    Args:
        clients: Clients by name.
        specs: How many specs.
        each: How many values and words for each.
        seed: Which ones.
        texts: Other specs than those of the seed.
    """
    outcome, rng = Outcome(), np.random.default_rng(seed)
    for text in spec_texts(specs, seed) if texts is None else texts:
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
    with np.errstate(over="ignore"):
        x = d.from_unit(rng.choice([0.0, 1.0, 0.5, *_knots(reporter), *rng.uniform(size=30)], size=count))
        beside = rng.choice([0.0, -np.inf, np.inf], size=count, p=[0.4, 0.3, 0.3])
        x = np.where(beside != 0, np.nextafter(x, beside), x)
        x = np.where(rng.uniform(size=count) < 0.02, d.high + abs(d.high) + 1, x)
    x = np.where(np.isfinite(x), x, d.low)
    inside = d.contains(x)
    clipped = np.where(inside, x, d.low)
    _aim(reporter, clipped, words, rng)
    coins = words[:, -1] >> np.uint64(32)
    cells = cells_of(reporter, clipped, words[:, 0], coins)
    _compare_compiled(reporter, clipped, words, cells, wrong)
    expected = [[cell] if ok else None for cell, ok in zip(cells.tolist(), inside.tolist(), strict=True)]
    return x.tolist(), _hex(words), expected


def _parts(reporter: Any) -> tuple[sv.Mechanism, ...]:
    parts = reporter.parts if isinstance(reporter, sv.Mixture) else (reporter,)
    return tuple(part for part in parts if isinstance(part, sv.Mechanism))


def _knots(reporter: Any) -> list[float]:
    """Where starts turn, or the nearest row changes."""
    if isinstance(reporter, sv.Rows):
        return list(reporter._borders)[:30]
    return [t for part in _parts(reporter) for t in part.window.knot_t.tolist()[:30]]


def _aim(reporter: Any, x: Any, words: Any, rng: np.random.Generator) -> None:
    """Half of the words draw what lies on an edge: of the background, of a cell, of the window."""
    for part in _parts(reporter):
        w, some = part.window, rng.uniform(size=len(x)) < 0.5 / len(_parts(reporter))
        back = np.cumsum(w.count * w.background)[rng.integers(0, len(w.count), len(x))]
        into = (w.edge[rng.integers(0, len(w.edge), len(x))] - w.starts(part.domain.to_unit(x))) % w.around
        into = np.where((into < w.length) & (rng.uniform(size=len(x)) < 0.8), w.mass + into, back)
        draw = np.clip(into - rng.integers(0, 2, len(x)), 0, w.total - 1).astype(np.uint64)
        low = words[:, 0] & np.uint64((1 << (64 - w.bits)) - 1)
        words[:, 0] = np.where(some, draw << np.uint64(64 - w.bits) | low, words[:, 0])


def _hex(words: Any) -> list[str]:
    return ["".join(f"{word:016x}" for word in row) for row in words.tolist()]


def _compare_compiled(reporter: Any, x: Any, words: Any, cells: Any, wrong: list[str]) -> None:
    """numba, and what is public, against numpy: all at once, and the first of them one by one."""
    for offset, part in enumerate(_parts(reporter)):
        compiled = np.empty(len(x), dtype=np.uint32)
        assert part._sampler.fill(compiled, words[:, 0].copy(), x, compiled=True) == 0
        side = np.ones(len(x), dtype=bool)
        base = 0
        if isinstance(reporter, sv.Mixture):
            base = int(reporter.offsets[offset])
            side = (cells >= base) & (cells < int(reporter.offsets[offset + 1]))
        if (compiled[side].astype(np.int64) + base != cells[side]).any():
            wrong.append(f"numba differs for {reporter.to_json()[:2000]}")
    if isinstance(reporter, sv.Mixture) and reporter._sampler:  # one word draws and tosses
        alone, compiled = words[:, 0].copy(), np.empty(len(x), dtype=np.uint32)
        plain = cells_of(reporter, x, alone, alone << np.uint64(MAX_BITS) >> np.uint64(32))
        assert reporter._sampler.fill(compiled, alone, x, compiled=True) == 0
        if (compiled != plain).any():
            wrong.append(f"numba's coin differs for {reporter.to_json()[:2000]}")
    if (reporter.report_from(words, x) != cells).any():
        wrong.append(f"report_from differs for {reporter.to_json()[:2000]}")
    for i in range(min(4, len(x))):
        if reporter.report_from(words[i], x[i]) != cells[i]:
            wrong.append(f"report_from differs for one value of {reporter.to_json()[:2000]}")


def _compare_choices(reporter: Translates, values: Any, words: Any, expected: Any, wrong: list[str]) -> None:
    out = np.empty(len(values), dtype=reporter.dtype)
    element = reporter.domain.elements(reporter.domain.numbers(values), words[:, 0])
    fill_translates(out, words[:, 0].copy(), element, reporter._tables, compiled=True)
    if [[int(cell)] for cell in out] != expected:
        wrong.append(f"numba differs for {reporter.to_json()[:2000]}")
