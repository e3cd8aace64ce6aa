"""Writes the vectors that Python and JavaScript share:  python -m tests.vectors.make

- sampling.json: specs, and which cell a 64-bit word draws at x. `cases` lists words and values on the
  boundaries of every table; `bulk` is the SHA-256 of the cells of many counter-based pseudo-random cases.
- specs.json: specs with their audit, and specs that every reader must refuse.

A word is written as 16 hexadecimal digits, a value as the shortest decimal that reads back as the same double.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.kernels import plain
from tests.vectors.hostile import hostile_specs
from tests.vectors.mechanisms import mechanisms

HERE = Path(__file__).parent
BULK = 20_000


def mix32(counter: np.ndarray) -> np.ndarray:
    """The finaliser of MurmurHash3: pseudo-random words that any language makes from a counter."""
    h = counter.astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    return h


def cells_of(m: sv.Mechanism, x: np.ndarray, words: np.ndarray) -> np.ndarray:
    """What the plain sampler draws; the compiled one is held against the same file."""
    return np.floor(plain.sample(m.window.tables, words.copy(), m.domain.to_unit(x))).astype(np.int64)


def bulk(m: sv.Mechanism, count: int = BULK) -> tuple[np.ndarray, np.ndarray]:
    """`count` values spread over the domain, and words, from counters alone."""
    i = np.arange(count, dtype=np.uint32) * np.uint32(3)
    hi, lo, place = mix32(i), mix32(i + np.uint32(1)), mix32(i + np.uint32(2))
    t = place / 2.0**32
    x = np.minimum(np.maximum(m.domain.low * (1 - t) + m.domain.high * t, m.domain.low), m.domain.high)
    return x, hi.astype(np.uint64) << np.uint64(32) | lo


def boundaries(m: sv.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Every value where a table turns, against every draw where one does."""
    w, rng = m.window, np.random.default_rng(8)
    x = m.domain.from_unit(_some(w.knot_t, 6))
    near = np.concatenate((x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)))
    ends = [m.domain.low, m.domain.high, m.domain.low / 2 + m.domain.high / 2]
    ends += [np.nextafter(m.domain.low, np.inf), np.nextafter(m.domain.high, -np.inf), 0.0, -0.0]
    values = np.unique(np.concatenate((near, ends)))
    values = values[m.domain.contains(values)]
    x, draw = [], []
    for value in values:
        s = int(w.starts(m.domain.to_unit(value)))
        edges = np.concatenate(([0], np.cumsum(w.count * w.extra)))
        cell = w.edge[np.searchsorted(w.edge, s + w.length // 2) - 1]
        inside = (np.concatenate((edges, [cell, cell + 1])) - s) % w.around
        back = np.concatenate(([0], np.cumsum(w.count * w.background)))
        turns = np.concatenate((_some(back, 8), w.mass + _some(inside[inside < w.length], 8)))
        turns = np.concatenate((turns, turns - 1, turns + 1, [0, w.mass - 1, w.mass, w.total - 1]))
        turns = np.unique(turns[(turns >= 0) & (turns < w.total)])
        x += [value] * len(turns)
        draw += turns.tolist()
    shift = 64 - w.bits
    low_bits = rng.integers(0, 1 << shift, size=len(draw), dtype=np.uint64)
    return np.array(x), (np.array(draw, dtype=np.uint64) << np.uint64(shift)) | low_bits


def _some(sorted_values: Any, most: int) -> np.ndarray:
    """At most `most` of the values: the first, the last and some between."""
    values = np.unique(np.asarray(sorted_values))
    return values[np.unique(np.linspace(0, len(values) - 1, most).round().astype(int))]


def sampling() -> dict[str, Any]:
    content = []
    for name, m in mechanisms().items():
        x, words = boundaries(m)
        x_bulk, words_bulk = bulk(m)
        cells = cells_of(m, x, words).tolist()
        content.append(
            {
                "name": name,
                "spec": m.to_json(),
                "digest": m.digest,
                "cells": m.cells,
                "x": x.tolist(),
                "words": [f"{word:016x}" for word in words.tolist()],
                "expected": cells,
                "decoded": [float(m.decode(cell)) for cell in (0, m.cells // 2, m.cells - 1)],
                "bulk": hashlib.sha256(cells_of(m, x_bulk, words_bulk).astype("<u4").tobytes()).hexdigest(),
            }
        )
    return {"bulk_count": BULK, "mechanisms": content}


def specs() -> dict[str, Any]:
    audits = []
    for name, text in [(name, m.to_json()) for name, m in mechanisms().items()] + overclaiming():
        found = sv.audit(text)
        audits.append(
            {
                "name": name,
                "spec": text,
                "digest": hashlib.sha256(text.encode()).hexdigest(),
                "ratio": [str(found.ratio.numerator), str(found.ratio.denominator)],
                "epsilon": found.epsilon,
                "claimed": found.claimed,
                "holds": found.holds,
            }
        )
    return {"audits": audits, "refused": [{"name": name, "spec": text} for name, text in hostile_specs()]}


def overclaiming() -> list[tuple[str, str]]:
    """Well-formed specs whose counts are worse than they claim, some by a hair."""
    text = sv.ogpm(1.0, (0, 24)).to_json()
    content = json.loads(text)
    lies = [("claims half", {**content, "epsilon": 0.5})]
    lies.append(("claims one ulp less", {**content, "epsilon": float(np.nextafter(sv.audit(text).epsilon, 0))}))
    cells = {**content["cells"], "extra": [content["cells"]["extra"][0] + 1]}
    lies.append(("one extra weight too many", {**content, "cells": cells}))
    return [(name, json.dumps(lie, sort_keys=True, separators=(",", ":"))) for name, lie in lies]


def main() -> None:
    for name, content in (("sampling", sampling()), ("specs", specs())):
        (HERE / f"{name}.json").write_text(json.dumps(content, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
