"""A window as JSON, `window/1`: a canonical text with a SHA-256 digest, read with suspicion.

    {"bits": W, "cells": {"background": […], "count": […], "extra": […], "step": […], "value": […]},
     "circle": false, "domain": [low, high], "epsilon": ε, "format": "window/1",
     "start": {"s": […], "step": false, "t": […]}}

Entries of `cells` are runs of equal cells. `value`, `step` and `t` are in the unit coordinate of the
domain, all else are integers. A domain whose unit coordinate runs along the logarithm has `"scale": "log"`
as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import SpecError
from sottovoce.exact.exponential import MIN_BITS
from sottovoce.reporters.window import Window
from sottovoce.values.domain import Domain
from sottovoce.values.domain_format import read_domain, write_domain
from sottovoce.wire.canonical import WINDOW, canonical
from sottovoce.wire.checked_json import as_bool, as_float, as_int, as_list, check_keys, excerpt

#: Steps that a look-up may take; every design of this library needs at most three.
MAX_STEPS = 4
_CROWD_BITS = 14


def write_window(epsilon: float, domain: Domain, window: Window, task: str | None = None) -> str:
    """The canonical text of a window."""
    content = {
        "format": WINDOW,
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


def read_window(content: Any) -> tuple[float, Domain, Window]:
    """What a `window/1` spec says, checked for consistency but not yet for ε."""
    keys = {"format", "epsilon", "domain", "circle", "bits", "cells", "start"}
    check_keys(content, keys, "spec", optional={"scale"})
    if content["format"] != WINDOW:
        raise SpecError(f"format must be {WINDOW!r}, got {excerpt(content['format'])}")
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
