"""The mechanisms of the shared vectors: every design, every kind of table, every kind of domain.

The optimal designs are read from optimal.json: a solver's last digits may differ between machines.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.arrays import FloatArray
from sottovoce.designs.solver.integer_weights import background_window
from sottovoce.exact.rational_bounds import exp_lower
from sottovoce.exact.rows_that_keep_epsilon import repaired
from sottovoce.reporters.composites.functions_by_lot import Function, Functions
from sottovoce.reporters.rows import Rows
from sottovoce.reporters.translates import Translates
from sottovoce.reporters.window import Window
from sottovoce.values.domain import Domain
from sottovoce.values.interval import as_domain
from tests.vectors.steep import steep_composites, steep_mechanisms

_COIN = ((1.0, 16), (1.0, 64), (1.0, 1000))

AnyMechanism = sv.Mechanism | sv.Mixture | Rows


@cache
def mechanisms() -> dict[str, AnyMechanism]:
    made: dict[str, AnyMechanism] = {
        "ogpm": sv.ogpm(1.0, (0, 24), "l1"),
        "ogpm l2": sv.ogpm(1.0, (0, 1), "l2"),
        "ogpm at a point": sv.ogpm(2.0, (-40, 50), "l1", at=12.5),
        "ogpm of 3 cells": sv.ogpm(0.5, (0, 10), "l1", cells=3),
        "ogpm of 2^20 cells": sv.ogpm(4.0, (0, 1), "l1", cells=1 << 20),
        "ogpm, least epsilon": sv.ogpm(1e-6, (0, 1), "l1"),
        "ogpm, largest epsilon": sv.ogpm(16.0, (0, 1), "l1"),
        "circle of hours": sv.ogpm(1.0, sv.Circle(24), "l1"),
        "circle l2 from -pi": sv.ogpm(2.0, sv.Circle(2 * math.pi, origin=-math.pi), "l2"),
        "circle of 2 cells": sv.ogpm(1.0, sv.Circle(1.0), "l1", cells=2),
        "circle, large epsilon": sv.ogpm(12.0, sv.Circle(360.0), "l1"),
        "tiny circle": sv.ogpm(1.0, sv.Circle(1e-310), "l1"),
        "pm": sv.pm(1.0, (-1, 1)),
        "pm, epsilon 0.1": sv.pm(0.1, (0, 120)),
        "sw": sv.sw(1.0, (0, 1)),
        "sw, epsilon 4": sv.sw(4.0, (-20, 45.5), cells=1024),
        "ptt": sv.ptt(1.0, (-1, 1)),
        "ptt, q given": sv.ptt(3.0, (0, 7), 0.3),
        "duchi": sv.duchi(1.0, (-1, 1)),
        "duchi, epsilon 8": sv.duchi(8.0, (0, 1e6)),
        "ogpm unbiased": sv.ogpm_unbiased(1.0, (0, 1)),
        "pm truncated": sv.pm(2.0, (0, 1)).truncated(),
        "sw truncated": sv.sw(0.5, (3, 5)).truncated(),
        "sw compressed": sv.sw(1.0, (0, 1)).compressed(),
        "two scales": sv.two_scale(1.0, (0, 24)),
        "two scales on a circle": sv.two_scale(2.0, sv.Circle(24)),
        "coin of three": sv.Mixture(tuple(sv.sw(e, (0, 1), cells=n) for e, n in _COIN), (1, 2, 5)),
        "width beyond doubles": sv.ogpm(1.0, (-1.7e308, 1.7e308), "l1"),
        "one subnormal wide": sv.ogpm(1.0, (0, 5e-324), "l1"),
        "subnormal bounds": sv.sw(1.0, (-3e-320, 1e-318)),
        "far from zero": sv.ogpm(1.0, (1e15, 1e15 + 1), "l1"),
        "two neighbouring doubles": sv.ogpm(1.0, (1.0, 1.0 + 2.0**-52), "l1"),
    }
    made |= {
        "log scale": sv.ogpm(1.0, sv.Interval(1, 1e6, scale="log"), "l1"),
        "log scale, with a task": replace(sv.sw(2.0, sv.Interval(1, 1e6, scale="log")), made_for="mean"),
        "log scale, two scales": sv.two_scale(2.0, sv.Interval(0.02, 40, scale="log")),
        "log scale, narrow": sv.sw(1.0, sv.Interval(3, 3.0001, scale="log"), cells=1024),
        "log scale, all doubles": sv.pm(4.0, sv.Interval(1e-300, 1.7e308, scale="log")),
        "log scale, rows": _around(9, 17, 1.0, sv.Interval(0.5, 2e5, scale="log")),
    }
    made["a line of 600 segments"] = _many_segments(600)
    made["rows of 33 bits"] = _uneven_rows(1.0)
    made["rows of two"] = Rows.of(2.0, [[0.8, 0.2], [0.2, 0.8]], (0, 1))
    made["rows of one input"] = Rows.of(1.0, [[0.5, 0.25, 0.25]], (-1, 1), inputs=[0.0])
    made["rows on a circle"] = _around(7, 12, 1.0, sv.Circle(24, origin=-6))
    made["many rows"] = _around(40, 130, 3.0, sv.Interval(0, 100))
    for name, text in json.loads((Path(__file__).parent / "optimal.json").read_text()).items():
        made[name] = sv.from_json(text)
    for epsilon in (0.25, 1.0, 4.0):
        v, g = _bowl(epsilon)
        for unbiased in (False, True):
            name = f"atoms, epsilon {epsilon}, {'unbiased' if unbiased else 'nearest'}"
            v_out = (v - 0.5) * _reach(epsilon) + 0.5 if unbiased else v
            made[name] = background_window(
                epsilon, as_domain((0, 10)), positions=v_out, masses=g, unbiased=unbiased
            )
    for name, text in json.loads((Path(__file__).parent / "equal_cells.json").read_text()).items():
        made[name] = sv.from_json(text)
    made["mixture of unlike parts"] = sv.Mixture(
        (sv.duchi(1.0, (-3, 3)), _by_hand(1.0, as_domain((-3, 3)))), (1, 1)
    )
    made["mixed runs"] = _by_hand(1.0, as_domain((-3, 3)))
    made["mixed runs, stepwise"] = _by_hand(1.0, as_domain((-3, 3)), stepwise=True)
    made["mixed runs on a circle"] = _by_hand(1.0, sv.Circle(10, origin=5))
    made["mixed runs on a circle, stepwise"] = _by_hand(1.0, sv.Circle(10, origin=5), stepwise=True)
    return made | steep_mechanisms(made["mixed runs"], made["mixed runs on a circle"])


@cache
def composites() -> dict[str, sv.Survey | sv.Polar | Translates]:
    """Several questions in one report, positions, and choices."""
    age, start = sv.ogpm(1.0, (0, 120), "l1"), sv.ogpm(1.0, sv.Circle(24), "l1", cells=48)
    place = sv.Polar(
        2.0, "l2", sv.ogpm(1.0, (0, 10), "l1", cells=40), sv.ogpm(1.0, sv.Circle(), "l1", cells=360)
    )
    income = sv.ogpm(1.0, sv.Interval(500, 1e6, scale="log"), "l1", cells=64)
    kinds = {
        "coin": sv.two_scale(1.0, (0, 24)), "rows": _uneven_rows(1.0), "Größe, in m²": age, "place": place,
        "income": replace(income, made_for="mean"), "start": start,
        "way": sv.choice(1.0, ["car", "bike", "on foot"]),
        "where": sv.place(1.0, 3.0, points=8),
    }  # fmt: skip
    return {
        "polar": place,
        "place": sv.place(1.0, 10.0, points=32),
        "place in a box": sv.place(4.0, box=((-3, 9.5), (1e3, 1004)), points=48),
        "place in degrees": sv.place(2.0, 5.0, centre=(13.4, 52.5), degrees=True, points=16),
        "place on a torus": sv.place(0.5, 1e-3, edge="torus", points=17),
        "choice": sv.choice(1.0, ["car", "bike", "train", "on foot"]),
        "choice of two": sv.choice(4.0, ["yes", "no"]),
        "choice of ratings": sv.choice(0.5, list(range(-3, 4))),
        "choice of many": sv.choice(3.0, [f"Größe {i}" for i in range(91)]),
        "survey of a few": sv.Survey(1.0, {"age": age, "start": start}, sampled=1),
        "survey of all": sv.Survey(2.0, {"start": start, "age": age}, sampled=2),
        "survey of all kinds": sv.Survey(4.0, kinds, sampled=3),
        "survey of one question": sv.Survey(1.0, {"value": age}, sampled=1),
        "functions of numbers": _functions(),
        "a number within groups": _within(),
        **steep_composites(_by_hand(1.0, as_domain((-3, 3)))),
    }


def _functions() -> sv.Survey:
    """Every function of numbers and of an option, with a lot that is not even."""
    unit, age = sv.ogpm(1.0, (0, 1), "l1", cells=64), sv.ogpm(1.0, (0, 120), "l1", cells=50)
    inputs = {"age": age.domain, "pay": sv.Interval(1, 1e5, scale="log"), "way": sv.Options(("car", "bike"))}
    both = ("age", "pay")
    functions = {
        "age": Function("value", ("age",)), "way": Function("value", ("way",)),
        "age²": Function("square", ("age",)), "age + pay": Function("sum", both),
        "age - pay": Function("difference", both), "age² - pay²": Function("squares", both),
    }  # fmt: skip
    reporters = dict.fromkeys(functions, unit) | {"age": age, "way": sv.choice(1.0, ["car", "bike"])}
    of = Functions(inputs, tuple(functions.values()), (3, 5, 1, 4, 2, 1))
    return sv.Survey(1.0, reporters, 1, functions=of)


def _within() -> sv.Survey:
    """An option and a number in one choice, the number rounded by lot to one of three levels."""
    inputs = {"way": sv.Options(("car", "bike", "on foot")), "hours": sv.Interval(-1, 3)}
    of = Functions(inputs, (Function("level", ("way", "hours")),), (1,))
    return sv.Survey(1.0, {"hours by way": sv.choice(1.0, list(range(9)))}, 1, functions=of)


def _many_segments(many: int) -> sv.Mechanism:
    """A window whose start is a line with so many bends, more than one would hold in a small cache."""
    spec = json.loads(sv.sw(1.0, (0, 1), cells=50).to_json())
    k, end = np.arange(many + 1), spec["start"]["s"][-1]
    t = (k + 0.4 * np.sin(k) * (k > 0) * (k < many)) / many
    spec["start"] |= {"t": t.tolist(), "s": np.floor(end * t**2).astype(int).tolist()}
    mechanism = sv.from_json(json.dumps(spec))
    assert isinstance(mechanism, sv.Mechanism)
    return mechanism


def _uneven_rows(epsilon: float) -> Rows:
    """Counts of all sizes, inputs that are not evenly spaced, cells that stand for the same value."""
    background = np.array([1, 2**10 + 1, 3, 2**20, 12345, 2**31])
    background[-1] += 2**32 - background.sum()
    rows = np.array([background, background, background])
    for row, cells in zip(rows, ([0, 1, 2, 5], [3, 4, 5], [1, 5]), strict=True):
        row[cells] += background[cells]
        row[-1] += 2**33 - row.sum()
    return Rows(epsilon, as_domain((-2, 8)), [0.0, 0.3, 0.95], rows, [-1.0, 0.0, 0.25, 0.25, 0.5, 2.0])


def _around(inputs: int, cells: int, epsilon: float, domain: Domain) -> Rows:
    """Randomised response over neighbours: e^ε where input and cell are near, repaired to keep ε."""
    away = np.abs(np.arange(inputs)[:, None] / inputs - np.arange(cells) / cells)
    p = np.where(np.minimum(away, 1 - away) < 0.2, math.exp(epsilon), 1.0)
    rows = repaired(p / p.sum(axis=1, keepdims=True), epsilon)
    t, v = (np.arange(n) / n if domain.is_circle else np.linspace(0.0, 1.0, n) for n in (inputs, cells))
    return Rows(epsilon, domain, t, rows, v)


def _bowl(epsilon: float) -> tuple[FloatArray, FloatArray]:
    """A background with atoms that grow towards the ends, as the optimal designs have."""
    v = np.linspace(0, 1, 41)
    g = 0.2 + np.abs(2 * v - 1) ** 3
    return v, g / g.sum() * math.exp(-epsilon / 2)


def _reach(epsilon: float) -> float:
    return 2.2 / math.tanh(epsilon / 4)


def _by_hand(epsilon: float, domain: Domain, *, stepwise: bool = False) -> sv.Mechanism:
    """Runs of different weights, one without any extra, knots that coincide, a start that is held flat."""
    bits, q = 44, exp_lower(epsilon)
    count = np.array([7, 1, 300, 2, 50])
    a = np.array([9, 400, 11, 77, 13]) * 2**29
    e = np.array([math.floor(int(w) * q) - int(w) for w in a])
    e[3] = 0
    mass = int((count * a).sum())
    around = int((count * e).sum())
    a[2] += (int(0.6 * 2**bits) - mass) // 300
    e[2] = math.floor(int(a[2]) * q) - int(a[2])
    mass, around = int((count * a).sum()), int((count * e).sum())
    top = 2 * around - 1 if domain.is_circle else around - (2**bits - mass)
    return sv.Mechanism(epsilon, domain, _window(domain, bits, (count, a, e), top, stepwise))


def _window(domain: Domain, bits: int, runs: Sequence[Any], top: int, stepwise: bool) -> Window:
    t = np.array([0.0, 0.1, 0.1, 0.3, 0.55, 0.55, 0.9, 1.0])
    s = (np.array([0.0, 0.01, 0.2, 0.2, 0.5, 0.61, 0.97, 1.0]) * top).astype(np.int64)
    count, background, extra = runs
    return Window(
        wraps=domain.is_circle,
        bits=bits,
        count=count,
        background=background,
        extra=extra,
        value=np.array([0.0, 0.2, 0.2, 0.7, 0.75]),
        step=np.array([0.02, 0.0, 0.001, 0.01, 0.005]),
        knot_t=t,
        knot_s=s,
        stepwise=stepwise,
    )
