"""Starts as steep as readers accept, knots an ulp apart, starts at both ends: every kind of reporter."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

import sottovoce as sv
from sottovoce.reporters.composites.functions_by_lot import Function, Functions
from sottovoce.reporters.rows import Rows
from sottovoce.values.interval import as_domain

ULP = 2.0**-53  # below 1, and above 1/2
LEAST = 2.0**-64  # between two knots

#: Knots, and their starts as shares of the largest one.
STARTS: dict[str, tuple[list[float], list[float]]] = {
    "a last line an ulp long": ([0.0, 1 - ULP, 1.0], [0.0, 0.5, 1.0]),
    "a first line of 2^-64": ([0.0, LEAST, 2.0**-30, 1.0], [0.0, 0.4, 0.6, 1.0]),
    "knots an ulp apart": ([0.0, 0.25, 0.25 + ULP / 2, 0.5, 0.5 + ULP, 1.0], [0.0, 0.0, 0.3, 0.3, 1.0, 1.0]),
    "starts that leap at both ends": ([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0]),
}
STEPS = [0.0, LEAST, 0.5, 0.5 + ULP, 1 - ULP, 1.0], [0.0, 0.3, 0.3, 0.7, 0.9, 1.0]


def restarted(m: sv.Mechanism, t: list[float], shares: list[float], *, step: bool = False) -> sv.Mechanism:
    """The same cells with other starts."""
    s = np.array([math.floor(share * m.window.top) for share in shares])
    return replace(m, window=replace(m.window, knot_t=np.array(t), knot_s=s, stepwise=step), name="steep")


def steepest(m: sv.Mechanism) -> sv.Mechanism:
    """The same cells with one line through the middle that reaches ±2^53 at the ends, or nearly."""
    top = m.window.top
    half = min(0.5, top / (2.0**55 - 2 * top) * (1 + 1e-12))
    return restarted(m, [0.5 - half, 0.5 + half], [0.0, 1.0])


def steep_mechanisms(
    mixed: sv.Mechanism, around: sv.Mechanism
) -> dict[str, sv.Mechanism | sv.Mixture | Rows]:
    """Windows, coins and rows; from two windows of unlike runs, one on a circle."""
    two, even = sv.duchi(1.0986, (0, 1)), sv.pm(1.0, (-3, 5), cells=512)
    bases = {
        "two cells": two, "even cells": even, "mixed runs": mixed, "mixed runs on a circle": around,
        "circle": sv.ogpm(1.0, sv.Circle(24), "l1", cells=512),
        "log scale": sv.pm(2.0, sv.Interval(0.5, 4e4, scale="log"), cells=100),
        "the widest domain": sv.ogpm(1.0, (0, 1.7e308), "l1", cells=1024),
    }  # fmt: skip
    made: dict[str, sv.Mechanism | sv.Mixture | Rows] = {}
    for i, (name, base) in enumerate(bases.items()):
        some = list(STARTS) if name == "two cells" else [list(STARTS)[i % 4], list(STARTS)[(i + 1) % 4]]
        made |= {f"{name}, {how}": restarted(base, *STARTS[how]) for how in some}
        made[f"{name}, as steep as may be"] = steepest(base)
        leap = [0.75, 0.75 + ULP, 1.0], [0.0, 1.0, 1.0]  # far below 0 where values are before its knots
        made[f"{name}, a leap as the first line"] = restarted(base, *leap)
    made["the widest domain, to the last start"] = sv.pm(9.0, (0, 1.7e308), cells=512).truncated()
    made["two cells, steps an ulp apart"] = restarted(two, *STEPS, step=True)
    made["mixed runs on a circle, steps an ulp apart"] = restarted(around, *STEPS, step=True)
    sides = tuple(steepest(sv.pm(e, (0, 1), cells=64)) for e in (1.0, 1.0))
    made["a coin between steep lines"] = sv.Mixture(sides, (3, 5))
    unlike = steepest(sv.duchi(1.0, (-3, 3))), restarted(mixed, *STARTS["knots an ulp apart"])
    made["a coin between unlike steep lines"] = sv.Mixture(unlike, (1, 1))
    inputs = [0.0, LEAST, 0.5, 0.5 + ULP, 1 - ULP]
    rows = np.array([[2**31 + r, 2**32 - 2 * r, 2**31 + r] for r in (0, 2**29, 0, 2**29, 0)])
    made["rows of inputs an ulp apart"] = Rows(1.0, as_domain((0, 1)), inputs, rows, [0.0, 0.5, 1.0])
    return made


def steep_composites(mixed: sv.Mechanism) -> dict[str, sv.Survey | sv.Polar]:
    """Positions and surveys whose parts have such starts."""
    how = STARTS["knots an ulp apart"]
    distance = restarted(sv.ogpm(1.0, (0, 10), "l1", cells=40), *how)
    angle = restarted(sv.ogpm(1.0, sv.Circle(), "l1", cells=360), *how)
    polar = sv.Polar(2.0, "l2", distance, angle)
    last = restarted(sv.duchi(1.0, (0, 1)), *STARTS["a last line an ulp long"])
    leap = restarted(sv.ogpm(1.0, sv.Circle(24), "l1", cells=48), *STARTS["starts that leap at both ends"])
    widest = sv.Interval(0, 1.7e308)
    inputs = {"one": widest, "other": sv.Interval(-1.6e308, 0)}
    of = Functions(inputs, (Function("square", ("one",)), Function("difference", ("one", "other"))), (1, 3))
    return {
        "polar, steep": polar,
        "survey of steep questions": sv.Survey(3.0, {"last": last, "leap": leap, "mixed": mixed}, 3),
        "survey of one steep question": sv.Survey(2.0, {"place": polar, "last": last}, 1),
        "functions of the widest numbers": sv.Survey(
            1.0, {"one²": last, "one - other": last}, 1, functions=of
        ),
    }
