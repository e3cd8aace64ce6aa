"""Holding a client in any language against the shared vectors: the same cells, audits and refusals.

A client answers questions, a JSON object per line on its standard input, one per line on its standard output:

    {"do": "audit", "spec": "…"}
        {"ratio": ["p", "q"], "epsilon": 0.99…, "claimed": 1.0, "holds": true}
    {"do": "report", "spec": "…", "values": [7.5, …], "words": ["0123456789abcdef", …]}
        {"digest": "…", "cells": 65536, "width": 1, "reports": [[4711], …]}    null where a value is outside
    {"error": "spec"} or {"error": "privacy"}                                where a spec is refused

`docs/reference/client-formats.md` says what the words of a draw are.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.errors import ArgumentError, SpecError
from sottovoce.reporters.contract import described, line_of
from sottovoce.reporters.formats import from_json, law_of

_SHIPPED = Path(__file__).parents[1] / "vectors"
_CHECKOUT = Path(__file__).parents[3] / "tests" / "vectors"


@dataclass(frozen=True)
class Case:
    """A question to a client.

    Attributes:
        name: What it is about.
        question: What the client reads.
        expected: What its answer must hold.
        bulk: Of a question with many draws, the SHA-256 of their cells as 32-bit integers; else empty.
    """

    name: str
    question: dict[str, Any]
    expected: dict[str, Any]
    bulk: str = ""

    def wrong(self, answer: dict[str, Any]) -> str | None:
        """Tell how an answer differs.

        Args:
            answer: What the client wrote.

        Returns:
            A sentence, or None if it is right.
        """
        if self.bulk:
            cells = np.array(answer.get("reports", []), dtype="<u4")
            same = hashlib.sha256(cells.tobytes()).hexdigest() == self.bulk
            return None if same else f"{self.name}: the cells of many draws differ"
        for key, value in self.expected.items():
            if (given := answer.get(key)) != value:
                return f"{self.name}: {key} is {_difference(given, value)}"
        return None


def _difference(given: Any, value: Any) -> str:
    if isinstance(given, list) and isinstance(value, list) and len(given) == len(value):
        at = next(i for i, pair in enumerate(zip(given, value, strict=True)) if pair[0] != pair[1])
        return f"{given[at]!r} at {at}, not {value[at]!r}"
    return f"{given!r:.80}, not {value!r:.80}"


def cases(folder: Path | None = None) -> Iterator[Case]:
    """The shared vectors as questions.

    Args:
        folder: Where sampling.json and specs.json are; those of this package, if not given.

    Returns:
        One case after the other.

    Raises:
        ArgumentError: If there are none.
    """
    place = folder or (_SHIPPED if _SHIPPED.is_dir() else _CHECKOUT)
    try:
        sampling, specs = (json.loads((place / f"{name}.json").read_text()) for name in ("sampling", "specs"))
    except OSError as error:
        raise ArgumentError(f"there are no vectors in {place}: {error.strerror}", argument="folder") from None
    for one in specs["audits"]:
        keys = ("ratio", "epsilon", "claimed", "holds")
        yield Case(one["name"], {"do": "audit", "spec": one["spec"]}, {key: one[key] for key in keys})
        yield Case(f"{one['name']}, read", _report(one["spec"]), {"error": one["error"]})
    for one in specs["refused"]:
        text = _unpacked(one["spec"])
        yield Case(one["name"], _report(text), {"error": one["error"]})
        yield Case(f"{one['name']}, audited", {"do": "audit", "spec": text}, {"error": one["audit"]})
    for one in sampling["mechanisms"]:
        reports = [[cell] for cell in one["expected"]]
        expected = {"digest": one["digest"], "cells": one["cells"], "reports": reports}
        words = [word.ljust(32, "0") if len(word) > 16 else word for word in one["words"]]
        yield Case(one["name"], _report(one["spec"], one["x"], words), expected)
        yield Case(f"{one['name']}, many", _many(one["spec"], sampling["bulk_count"]), {}, one["bulk"])
    for one in sampling["composites"]:
        expected = {key: one[key] for key in ("digest", "cells", "width")} | {"reports": one["expected"]}
        yield Case(one["name"], _report(one["spec"], one["values"], one["words"]), expected)


def _report(spec: str, values: Any = (), words: Any = ()) -> dict[str, Any]:
    return {"do": "report", "spec": spec, "values": list(values), "words": list(words)}


def _many(spec: str, count: int) -> dict[str, Any]:
    """Values spread over the domain, and words, from a counter alone."""
    law = law_of(from_json(spec))
    i, d = np.arange(count, dtype=np.uint32) * np.uint32(4), line_of(law)
    if d is None:
        raise SpecError(f"a draw of many values is of one number, not of {described(law)}", argument="spec")
    hi, lo, place, coins = (mix32(i + np.uint32(k)) for k in range(4))
    t = place / 2.0**32
    x = np.minimum(np.maximum(d.low * (1 - t) + d.high * t, d.low), d.high)
    coin = [f"{word:08x}00000000" if law.draws == 2 else "" for word in coins.tolist()]
    words = [f"{a:08x}{b:08x}{c}" for a, b, c in zip(hi.tolist(), lo.tolist(), coin, strict=True)]
    return _report(spec, x.tolist(), words)


def mix32(counter: Any) -> Any:
    """The finaliser of MurmurHash3: pseudo-random words that any language makes from a counter."""
    h = counter.astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    return h


def _unpacked(spec: str | list[list[Any]]) -> str:
    """A text, or pieces and how often each is repeated."""
    return spec if isinstance(spec, str) else "".join(sign * times for sign, times in spec)


class Client:
    """A client that runs as a program.

    Args:
        command: How to start it.
    """

    def __init__(self, command: str) -> None:
        self._process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Ask one question.

        Args:
            question: What to ask.

        Returns:
            The client's answer; {"error": "none"} if it ended or wrote something else.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):
            return {"error": "none"}
        return answer if isinstance(answer, dict) else {"error": "none"}

    def close(self) -> None:
        """Let the program end."""
        self._process.communicate()


def check(command: str, folder: Path | None = None) -> tuple[int, list[str]]:
    """Ask a client everything.

    Args:
        command: How to start it.
        folder: Where the vectors are; those of this package, if not given.

    Returns:
        How many questions there were, and a sentence for each wrong answer.

    Raises:
        ArgumentError: If there are no vectors.
    """
    client, sentences, count = Client(command), [], 0
    for case in cases(folder):
        count += 1
        if (sentence := case.wrong(client.ask(case.question))) is not None:
            sentences.append(sentence)
    client.close()
    return count, sentences
