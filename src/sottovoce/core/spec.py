"""Mechanisms as JSON: `window/1`, a canonical text with a SHA-256 digest, read with suspicion.

    {"bits": W, "cells": {"background": […], "count": […], "extra": […], "step": […], "value": […]},
     "circle": false, "domain": [low, high], "epsilon": ε, "format": "window/1",
     "start": {"s": […], "step": false, "t": […]}}

Entries of `cells` are runs of equal cells. `value`, `step` and `t` are in the unit coordinate of the
domain, all else are integers. A domain whose unit coordinate runs along the logarithm has `"scale": "log"`
as well. Canonical: keys sorted, no spaces, shortest round-trip floats. The text holds resolved numbers only:
nothing in it names code.

    {"format": "mixture/1", "parts": [window/1, …], "weights": [614, 410]}

is a public coin between windows; the weights are integers that add up to a power of two.

A spec of one number may have one more key, "task": the question that it was made for, such as "mean". It is
there for people and estimates, changes nothing, and is no part of the digest.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.core.arrays import FloatArray
from sottovoce.core.compact import Compact
from sottovoce.core.domains import Circle, Domain, Interval
from sottovoce.core.errors import ArgumentTypeError, SpecError
from sottovoce.core.exponential import MIN_BITS
from sottovoce.core.window import Window

FORMAT = "window/1"
MIXTURE = "mixture/1"
ROWS = "rows/1"
TRANSLATES = "translates/1"
POLAR = "polar/1"
SURVEY = "survey/1"
MAX_BYTES = 1 << 22
#: Steps that a look-up may take; every design of this library needs at most three.
MAX_STEPS = 4
_CROWD_BITS = 14
_LARGEST = 1 << 53
_TASK = "[a-z][a-z ]{0,30}"
#: A task in a canonical text. It is never the first key, and no string of valid JSON holds a bare quote.
_WRITTEN_TASK = f',"task":"{_TASK}"'


def canonical(content: dict[str, Any], task: str | None = None) -> str:
    """The canonical text of a spec: keys sorted, no spaces, shortest round-trip floats."""
    if task is not None:
        content = {**content, "task": _as_task(task)}
    import json

    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def write(epsilon: float, domain: Domain, window: Window, task: str | None = None) -> str:
    """The canonical text of a window."""
    content = {
        "format": FORMAT,
        "epsilon": epsilon,
        **write_domain(domain),
        "bits": window.bits,
        "cells": {
            "count": window.count.tolist(),
            "background": window.background.tolist(),
            "extra": window.extra.tolist(),
            "value": window.value.tolist(),
            "step": window.step.tolist(),
        },
        "start": {"t": window.knot_t.tolist(), "s": window.knot_s.tolist(), "step": window.stepwise},
    }
    return canonical(content, task)


def write_domain(domain: Domain) -> dict[str, Any]:
    """The keys of a spec that give the domain."""
    if isinstance(domain, Circle):
        return {"domain": [domain.origin, domain.circumference], "circle": True}
    scale = {"scale": domain.scale} if domain.is_log else {}
    return {"domain": [domain.low, domain.high], "circle": False, **scale}


def read_domain(content: dict[str, Any]) -> Domain:
    """The domain that these keys give."""
    first, second = as_list(content["domain"], "domain", as_float, length=2)
    circle = as_bool(content["circle"], "circle")
    if "scale" in content and (circle or content["scale"] != "log"):
        raise SpecError(
            f"scale must be 'log', of an interval, got {_short(content['scale'])}", argument="scale"
        )
    try:
        if circle:
            return Circle(second, origin=first)
        return Interval(first, second, "log" if "scale" in content else "linear")
    except ValueError as error:
        raise SpecError(f"domain: {error}", argument="domain") from None


def write_mixture(weights: Sequence[int], parts: Sequence[str], task: str | None = None) -> str:
    """The canonical text of a mixture, from those of its parts."""
    import json

    contents = [json.loads(untasked(part)) for part in parts]
    return canonical({"format": MIXTURE, "weights": list(weights), "parts": contents}, task)


def untasked(text: str) -> str:
    """The canonical text without the tasks in it: what identifies a mechanism."""
    return re.sub(_WRITTEN_TASK, "", text)


def read_task(content: dict[str, Any]) -> str | None:
    """The question that a spec says it was made for: words, nothing depends on them."""
    return _as_task(content["task"]) if "task" in content else None


def _as_task(task: Any) -> str:
    if not isinstance(task, str) or not re.fullmatch(_TASK, task):
        raise SpecError(f"task must be a few lowercase letters, got {_short(task)}", argument="task")
    return task


def digest(text: str) -> str:
    """SHA-256 of the canonical text without its tasks, in hexadecimal."""
    import hashlib  # it loads OpenSSL, 4 MB that drawing a report does not need

    return hashlib.sha256(untasked(text).encode()).hexdigest()


class Specified(Compact, ABC):
    """What is wholly given by its canonical spec: equal where the digests are."""

    @abstractmethod
    def to_json(self) -> str:
        """Write the canonical spec.

        Returns:
            JSON text: resolved numbers, nothing else.
        """

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical spec without its task; a tally and a campaign are tied to it."""
        return digest(self.to_json())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Specified) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def read_window(content: Any) -> tuple[float, Domain, Window]:
    """What a `window/1` spec says, checked for consistency but not yet for ε."""
    keys = {"format", "epsilon", "domain", "circle", "bits", "cells", "start"}
    check_keys(content, keys, "spec", optional={"scale"})
    if content["format"] != FORMAT:
        raise SpecError(f"format must be {FORMAT!r}, got {_short(content['format'])}")
    epsilon = as_float(content["epsilon"], "epsilon")
    domain = read_domain(content)
    if (bits := as_int(content["bits"], "bits")) < MIN_BITS:
        raise SpecError(f"bits must be at least {MIN_BITS}, got {bits}")
    cells, start = content["cells"], content["start"]
    check_keys(cells, {"count", "background", "extra", "value", "step"}, "cells")
    check_keys(start, {"t", "s", "step"}, "start")
    window = Window(
        wraps=domain.is_circle,
        bits=bits,
        count=np.array(as_list(cells["count"], "cells.count", as_int), dtype=np.int64),
        background=np.array(as_list(cells["background"], "cells.background", as_int), dtype=np.int64),
        extra=np.array(as_list(cells["extra"], "cells.extra", as_int), dtype=np.int64),
        value=np.array(as_list(cells["value"], "cells.value", as_float)),
        step=np.array(as_list(cells["step"], "cells.step", as_float)),
        knot_t=np.array(as_list(start["t"], "start.t", as_float)),
        knot_s=np.array(as_list(start["s"], "start.s", as_int), dtype=np.int64),
        stepwise=as_bool(start["step"], "start.step"),
    )
    if crowd(window) > MAX_STEPS:
        raise SpecError(
            f"at most {MAX_STEPS} runs or knots may begin in one of 2^14 equal buckets: a look-up must take "
            "as long for one value as for another",
            code="timing",
            argument="cells",
        )
    return epsilon, domain, window


def crowd(window: Window) -> int:
    """The most runs or knots that begin in one of 2^14 equal buckets."""
    knots, tables = np.append(window.segments[0], np.inf), window.tables
    most = _most_in_a_bucket(knots, 1.0, 2.0**_CROWD_BITS)
    for left in (tables.back, tables.more):
        per_bucket = 2.0 ** min(0, _CROWD_BITS - int(left[-1]).bit_length())
        most = max(most, _most_in_a_bucket(left, left[-1], per_bucket))
    return most


def _most_in_a_bucket(left: FloatArray, end: float, per_bucket: float) -> int:
    buckets = int(end * per_bucket) + 1
    first = np.ceil(left[:-1] * per_bucket).astype(np.int64)  # the first bucket that begins in an entry
    entry = np.maximum(np.cumsum(np.bincount(first, minlength=buckets)[:buckets]) - 1, 0)
    return int(np.diff(entry, append=len(left) - 2).max())


def parse_json(text: str | bytes, name: str = "a spec", most: int = MAX_BYTES) -> Any:
    """JSON without its loopholes: no duplicate keys, no NaN, no surprise sizes."""
    if not isinstance(text, str | bytes):
        raise ArgumentTypeError(f"{name} must be JSON text, got {type(text).__name__}", argument=name)
    if len(text) > most:
        raise SpecError(f"{name} must be at most {most} bytes, got {len(text)}")
    import json  # two milliseconds that a device which makes its mechanism itself does not need

    try:
        return json.loads(
            text,
            object_pairs_hook=_no_duplicates,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_bounded,
        )
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"not valid JSON: {error}") from None
    except RecursionError:
        raise SpecError("not valid JSON: nested too deeply", code="too_deep") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise SpecError("an object has the same key twice", code="duplicate_key")
    return content


def _no_constant(name: str) -> float:
    raise SpecError(f"numbers must be finite, got {name}")


def _finite(digits: str) -> float:
    number = float(digits)
    if not abs(number) < float("inf"):
        raise SpecError("numbers must be finite, got one beyond the range of doubles")
    return number


def _bounded(digits: str) -> int:
    if len(digits) > 20:
        raise SpecError("an integer has more than 20 digits")
    return int(digits)


def check_keys(content: Any, expected: set[str], where: str, optional: Set[str] = frozenset()) -> None:
    if not isinstance(content, dict):
        raise SpecError(f"{where} must be an object, got {_short(content)}")
    if unknown := sorted(set(content) - expected - optional):
        raise SpecError(f"{where} has an unknown key {_short(unknown[0])}")
    if missing := sorted(expected - set(content)):
        raise SpecError(f"{where} lacks the key {missing[0]!r}")


def as_list(content: Any, where: str, item: Any, length: int | None = None) -> list[Any]:
    if not isinstance(content, list) or (length is not None and len(content) != length):
        raise SpecError(
            f"{where} must be a list{'' if length is None else f' of {length}'}, got {_short(content)}"
        )
    return [item(entry, where) for entry in content]


def as_int(content: Any, where: str) -> int:
    if type(content) is not int or abs(content) > _LARGEST:
        raise SpecError(f"{where} must hold integers up to 2^53, got {_short(content)}")
    return content


def as_float(content: Any, where: str) -> float:
    if type(content) not in (int, float) or not abs(content) < float("inf"):
        raise SpecError(f"{where} must hold finite numbers, got {_short(content)}")
    return float(content)


def as_bool(content: Any, where: str) -> bool:
    if type(content) is not bool:
        raise SpecError(f"{where} must be true or false, got {_short(content)}")
    return content


def _short(content: Any) -> str:
    text = repr(content)
    return text if len(text) <= 40 else text[:37] + "..."
