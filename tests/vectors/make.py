"""Writes the vectors that all clients share:  python -m tests.vectors.make

- sampling.json: specs, and the cell that a 64-bit word draws at x. Values and words lie on the boundaries of
  every table; `bulk` is the SHA-256 of the cells (32-bit, little-endian) of many cases made from a counter.
- specs.json: specs with their audit, and specs that every reader must refuse.
- answers.json: what people may answer, and what is refused before anything is drawn (`answers.py` here).
- ledger.json: what a ledger gives, step by step, and the one spelling of a campaign's address (`ledger.py`).

A word is 16 hexadecimal digits, with 8 more for a mixture: the leading half of the word that tosses its coin.
For surveys and positions (`composites`) all words of a draw stand one after the other, 16 digits each;
positions that are outside, if only just, give null.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.arrays import FloatArray, IntArray, Words
from sottovoce.errors import DataError, PrivacyError
from sottovoce.randomness.word_source import WordSource
from sottovoce.reporters.rows import Rows
from sottovoce.reporters.sampling import numpy_loops
from sottovoce.wire.canonical import digest
from tests.vectors import answers, ledger
from tests.vectors.hostile import hostile_specs
from tests.vectors.mechanisms import AnyMechanism, composites, mechanisms

HERE = Path(__file__).parent
BULK = 20_000


def mix32(counter: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The finaliser of MurmurHash3: pseudo-random words that any language makes from a counter."""
    h = counter.astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    return h


def cells_of(m: AnyMechanism, x: FloatArray, words: Words, coins: Words) -> IntArray:
    """What the plain sampler draws; a mixture's coin is tossed with the leading half of a word."""
    if isinstance(m, sv.Mixture):
        side = m._coin.sides(coins << np.uint64(32))
        cells = np.stack([cells_of(part, x, words, coins) for part in m.parts])
        return cells[side, np.arange(len(x))] + m.offsets[side]
    if isinstance(m, Rows):
        return m.report_from(words[None], x).astype(np.int64)
    return np.floor(numpy_loops.sample(m.window.tables, words.copy(), m.domain.to_unit(x))).astype(np.int64)


def bulk(m: AnyMechanism, count: int = BULK) -> tuple[FloatArray, Words, Words]:
    """`count` values spread over the domain, words and coins, from counters alone."""
    i = np.arange(count, dtype=np.uint32) * np.uint32(4)
    hi, lo, place, coins = (mix32(i + np.uint32(k)).astype(np.uint64) for k in range(4))
    t = place / 2.0**32
    x = np.minimum(np.maximum(m.domain.low * (1 - t) + m.domain.high * t, m.domain.low), m.domain.high)
    return x, hi << np.uint64(32) | lo, coins


def boundaries(m: AnyMechanism) -> tuple[FloatArray, Words, Words]:
    """Every value where a table turns, against every draw where one does, on every side of the coin."""
    if not isinstance(m, sv.Mixture):
        x, words = _row_turns(m) if isinstance(m, Rows) else _turns(m)
        return x, words, np.zeros_like(words)
    ends = np.cumsum(m.weights)
    shift = 32 - (int(ends[-1]).bit_length() - 1)
    x, words, coins = [], [], []
    for part, first, end in zip(m.parts, [0, *ends], ends, strict=False):
        for side in (first, end - 1):
            x_part, words_part = _turns(part)
            x.append(x_part)
            words.append(words_part)
            coins.append(np.full(len(x_part), (int(side) << shift) | ((1 << shift) - 1), dtype=np.uint64))
    return np.concatenate(x), np.concatenate(words), np.concatenate(coins)


def _turns(m: sv.Mechanism) -> tuple[FloatArray, Words]:
    w, rng = m.window, np.random.default_rng(8)
    x = m.domain.from_unit(_some(w.knot_t, 6))
    near = np.concatenate((x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)))
    ends = [m.domain.low, m.domain.high, m.domain.low / 2 + m.domain.high / 2, 0.0]
    ends += [np.nextafter(m.domain.low, np.inf), np.nextafter(m.domain.high, -np.inf)]
    values = np.unique(np.concatenate((near, ends)))
    x, draw = [], []
    for value in values[m.domain.contains(values)].tolist():
        s = int(w.starts(m.domain.to_unit(value)))
        runs = np.concatenate(([0], np.cumsum(w.count * w.extra)))
        middle = w.edge[np.searchsorted(w.edge, (s + w.length // 2) % w.around) - 1]
        inside = (np.concatenate((runs, [middle, s])) - s) % w.around
        back = np.concatenate(([0], np.cumsum(w.count * w.background)))
        turns = np.concatenate((_some(back, 5), w.mass + _some(inside[inside < w.length], 5)))
        turns = np.concatenate((turns, turns - 1, turns + 1, [0, w.mass - 1, w.mass, w.total - 1]))
        turns = np.unique(turns[(turns >= 0) & (turns < w.total)])
        x += [value] * len(turns)
        draw += turns.tolist()
    shift = 64 - w.bits
    low_bits = rng.integers(0, 1 << shift, size=len(draw), dtype=np.uint64)
    return np.array(x), (np.array(draw, dtype=np.uint64) << np.uint64(shift)) | low_bits


def _row_turns(m: Rows) -> tuple[FloatArray, Words]:
    """Values on both sides of where the nearest input changes, and draws where the cell does."""
    x = m.domain.from_unit(_some(np.concatenate(([0.0, 0.5, 1.0], m._borders)), 12))
    values = np.unique(np.concatenate((x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf))))
    values = values[m.domain.contains(values)]
    shift = 65 - m.total.bit_length()
    x, draw = [], []
    for value, row in zip(values.tolist(), m.counts(values), strict=True):
        ends = _some(np.cumsum(row), 9)
        turns = np.unique(np.clip(np.concatenate((ends - 1, ends, [0])), 0, m.total - 1))
        x += [value] * len(turns)
        draw += turns.tolist()
    low_bits = np.random.default_rng(8).integers(0, 1 << shift, size=len(draw), dtype=np.uint64)
    return np.array(x), (np.array(draw, dtype=np.uint64) << np.uint64(shift)) | low_bits


def _some(sorted_values: Any, most: int) -> NDArray[Any]:
    """At most `most` of the values: the first, the last and some between."""
    values = np.unique(np.asarray(sorted_values))
    return values[np.unique(np.linspace(0, len(values) - 1, most).round().astype(int))]


class Replay(WordSource):
    """Given words, one after the other: a source that a reporter takes for randomness."""

    def __init__(self, words: Words) -> None:
        self.left = words

    def words(self, count: int) -> Words:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "there are too few words"
        return taken.copy()  # those who draw wipe what they drew with


def words_of(reporter: Any) -> int:
    """How many 64-bit words one report takes."""
    if isinstance(reporter, sv.Survey):
        if reporter.functions is not None:  # the lot, or the word that rounds a number, and that of the draw
            return 2
        lot = 0 if reporter.sampled == len(reporter.items) else len(reporter.items)
        return lot + sum(map(words_of, reporter.items.values()))
    return 2 if isinstance(reporter, sv.Polar) else int(reporter.draws)


def value_of(reporter: Any, rng: np.random.Generator) -> Any:
    """A value of any reporter, sometimes at an end: a number, a position, or a list of these."""
    if isinstance(reporter, sv.Survey):
        if reporter.functions is not None:
            return [_number_or_option(space, rng) for space in reporter.functions.inputs.values()]
        return [value_of(question, rng) for question in reporter.items.values()]
    if isinstance(reporter.domain, sv.Area):
        word = rng.integers(0, 1 << 64, size=1, dtype=np.uint64)
        position = reporter.domain.spread(word) * rng.choice([1.0, 1e3, 0.0])
        return [float(c) for c in reporter.domain.bring_inside(position)[0]]
    if isinstance(reporter, sv.Polar):
        turn, away = rng.uniform(0, 2 * np.pi), reporter.radius * rng.choice([0.0, 0.3, 1.0, rng.uniform()])
        return [float(away * np.cos(turn)), float(away * np.sin(turn))]
    return _number_or_option(reporter.domain, rng)


def _number_or_option(space: Any, rng: np.random.Generator) -> Any:
    if isinstance(space, sv.Options):
        return space.names[int(rng.integers(len(space)))]
    between = 2 * rng.uniform(space.low / 2, space.high / 2)  # the width may be beyond doubles
    return float(rng.choice([space.low, space.high, between]))


def beyond(reporter: Any) -> list[list[float]]:
    """Positions that are outside by a billionth of the area, in all directions."""
    if not isinstance(reporter.domain, sv.Disc | sv.Area):
        return []
    turn = np.linspace(0, 2 * np.pi, 9)
    rim = reporter.domain.bring_inside(1e6 * np.stack((np.cos(turn), np.sin(turn)), axis=-1))
    middle = (rim.max(axis=0) + rim.min(axis=0)) / 2
    outside: list[list[float]] = (middle + (rim - middle) * (1 + 1e-9)).tolist()
    return outside


def report_of(reporter: Any, value: Any, words: Words) -> list[int] | None:
    """What given words draw; None where the value is outside."""
    source = Replay(words)
    named = dict(zip(reporter.domain, value, strict=True)) if isinstance(reporter, sv.Survey) else value
    try:
        report = reporter.report(named, rng=source)
    except DataError:
        return None
    assert not len(source.left), "there are words left"
    return [int(cell) for cell in np.atleast_1d(report)]


def composite_draws() -> list[dict[str, Any]]:
    content, rng = [], np.random.default_rng(23)
    for name, reporter in composites().items():
        values = [value_of(reporter, rng) for _ in range(200)] + beyond(reporter)
        words = rng.integers(0, 1 << 64, size=(len(values), words_of(reporter)), dtype=np.uint64)
        content.append(
            {
                "name": name,
                "spec": reporter.to_json(),
                "digest": reporter.digest,
                "cells": reporter.cells,
                "width": reporter.width,
                "values": values,
                "words": ["".join(f"{word:016x}" for word in row) for row in words.tolist()],
                "expected": [report_of(reporter, *draw) for draw in zip(values, words, strict=True)],
            }
        )
    return content


def sampling() -> dict[str, Any]:
    content = []
    for name, m in mechanisms().items():
        x, words, coins = boundaries(m)
        coin = [f"{c:08x}" for c in coins.tolist()] if isinstance(m, sv.Mixture) else [""] * len(x)
        drawn = cells_of(m, *bulk(m)).astype("<u4").tobytes()
        content.append(
            {
                "name": name,
                "spec": m.to_json(),
                "digest": m.digest,
                "cells": m.cells,
                "x": x.tolist(),
                "words": [f"{word:016x}{c}" for word, c in zip(words.tolist(), coin, strict=True)],
                "expected": cells_of(m, x, words, coins).tolist(),
                "decoded": m.decode([0, m.cells // 2, m.cells - 1]).tolist(),
                "bulk": hashlib.sha256(drawn).hexdigest(),
            }
        )
    return {"bulk_count": BULK, "mechanisms": content, "composites": composite_draws()}


def specs() -> dict[str, Any]:
    audits = []
    reporters = {**mechanisms(), **composites()}
    for name, text in [(name, m.to_json()) for name, m in reporters.items()] + overclaiming():
        found = sv.audit(text)
        audits.append(
            {
                "name": name,
                "spec": text,
                "digest": digest(text),
                "ratio": [str(found.ratio.numerator), str(found.ratio.denominator)],
                "epsilon": found.epsilon,
                "claimed": found.claimed,
                "holds": found.holds,
                "error": refusal(text),
            }
        )
    refused = [
        {"name": name, "spec": _packed(text), "error": refusal(text), "audit": refusal(text, sv.audit)}
        for name, text in hostile_specs()
    ]
    return {"audits": audits, "refused": refused}


def _packed(text: str) -> str | list[list[Any]]:
    """A text, or where one character repeats for long, its pieces and how often each is repeated."""
    if len(text) < 100_000:
        return text
    return [[run.group(1), len(run.group(0))] for run in re.finditer(r"(.)\1*", text, re.DOTALL)]


def refusal(text: str, read: Callable[[str], object] = sv.from_json) -> str | None:
    """Why a spec is refused: "privacy" if its counts break its claim, else "spec"; None if it is not."""
    try:
        read(text)
    except PrivacyError:
        return "privacy"
    except ValueError:
        return "spec"
    return None


def overclaiming() -> list[tuple[str, str]]:
    """Well-formed specs whose counts are worse than they claim, some by a hair, and senseless claims."""
    text = sv.ogpm(1.0, (0, 24), "l1").to_json()
    content = json.loads(text)
    lies = [("claims half", {**content, "epsilon": 0.5})]
    lies.append(
        ("claims one ulp less", {**content, "epsilon": float(np.nextafter(sv.audit(text).epsilon, 0))})
    )
    cells = {**content["cells"], "extra": [content["cells"]["extra"][0] + 1]}
    lies.append(("one extra weight too many", {**content, "cells": cells}))
    for claim in (-1.0, 0.0, 16.5, 36.9, 37.0, 1e6, 1e300):
        lies.append((f"claims {claim}", {**content, "epsilon": claim}))
    survey = json.loads(composites()["survey of all"].to_json())
    for claim in (1.9, 1.99999, 80.0):
        lies.append((f"a survey that claims {claim}", {**survey, "epsilon": claim}))
    place = json.loads(composites()["polar"].to_json())
    lies.append(("a position that claims 1.9", {**place, "epsilon": 1.9}))
    return [(name, json.dumps(lie, sort_keys=True, separators=(",", ":"))) for name, lie in lies]


def main() -> None:
    made = {
        "sampling": sampling(),
        "specs": specs(),
        "ledger": ledger.content(),
        "answers": answers.content(),
    }
    for name, content in made.items():
        (HERE / f"{name}.json").write_text(json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
