"""No argument is accepted and ignored: what a question does not take is refused, the rest has an effect."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from papers.pieces import solve_pieces
from tests.house.test_frozen import (
    AGES,
    DAY,
    OPTIONS,
    X,
    both,
    in_groups,
    on_circle,
    options,
    places,
    read,
    tallies,
    tally,
)

import sottovoce as sv
from sottovoce import central
from sottovoce.errors import ArgumentError, ArgumentTypeError

CIRCLE = sv.Circle(24.0)

#: Something else than the default, for every option. A new word fails until somebody says what to try.
VALUES: dict[str, Any] = {
    "accountant": central.Accountant(5),
    "again": 0.5,
    "at": 3.0,
    "attempts": 3,
    "band": False,
    "batch": 7,
    "between": (6.0, 9.0),
    "bins": 9,
    "bits": 40,
    "box": ((0, 1), (0, 1)),
    "by": [1, 2, 2],
    "candidates": [sv.ogpm],
    "caution": 0.5,
    "cell": "other",
    "cells": 300,
    "central": (0.5, 1e-6),
    "centre": (3.0, 3.0),
    "clip": True,
    "column": "wait",
    "confidence": 0.8,
    "count": "other",
    "create": False,
    "degrees": True,
    "delta": 1e-3,
    "density": 0.2,
    "design": sv.pm,
    "polar design": "ogpm",
    "domain": (0.0, 5.0),
    "draws": 2,
    "edge": "torus",
    "epsilon": 0.7,
    "estimand": "respondents",
    "estimate": sv.variance,
    "fakes": 5,
    "false_alarm": 1e-3,
    "first": 0.5,
    "gap": 0.01,
    "losses": "l1",
    "question": "value",
    "questions": [sv.Question("mean")],
    "trend question": "variance",
    "grid": 10,
    "groups": [1, 2],
    "interval": "finite",
    "items": ["value"],
    "quantiles": (0.5,),
    "also": [sv.Question("variance")],
    "failed": str,
    "k": 1,
    "survey k": 2,
    "largest": 100.0,
    "ledger": "given with its file",
    "least": 2,
    "levels": 3,
    "loss": "l1",
    "mechanism": "staircase2d",
    "method": "raw",
    "missing": "drop",
    "Ledger.enrol missing": 3.0,
    "neighbours": "remove",
    "option": "a",
    "outside": "clip",
    "outbox": "outbox.db",
    "output": (-1.0, 30.0),
    "over": "pairs",
    "p": 0.25,
    "path": "file",
    "people": 500,
    "per": "week",
    "period": "day",
    "pieces": 2,
    "places": 3,
    "points": 9,
    "power": 0.7,
    "prior": "uniform",
    "optimal prior": [0.3, 0.4],
    "progress": lambda *_: None,
    "q": 0.3,
    "radius": 3.0,
    "read": lambda text: sv.from_json(text),
    "relations": [("0", "1")],
    "repeat": "once",
    "repetitions": 2,
    "reporter": sv.duchi(1.0),
    "rng": 3,
    "sample": X[:50],
    "sends": 5,
    "sequential": True,
    "shape": "unimodal",
    "shift": 1.0,
    "signed": False,
    "simulate": True,
    "slack": 0.2,
    "steepness": 0.1,
    "strategy": "split",
    "target": 0.5,
    "time_limit": 5.0,
    "timeout": 3.0,
    "token": "t",
    "tolerance": 0.5,
    "unit": 2.0,
    "wait": 1.0,
    "weights": [1.0, 2.0],
    "survey weights": [1.0, 2.0, 3.0],
    "witness": None,
    "x": "x",
    "y": "y",
}


class Case(NamedTuple):
    """A call that is in order, and the options that belong to its question."""

    call: Callable[..., Any]
    given: dict[str, Any]
    taken: str


def of(function: Callable[..., Any], taken: str = "", /, **given: Any) -> Case:
    return Case(function, given, taken)


def cases(folder: Path) -> Iterator[tuple[str, Case]]:
    """For each function and question what it takes; everything else has to be refused."""
    number, other = tallies()
    unbiased = tally(sv.pm(1.0, DAY))
    groups = {"a": number, "b": other}
    plan = partial(sv.plan, epsilon=1.0, people=1000)
    plan_taken = "target confidence sample candidates repetitions progress"
    table = {"wait": [1.0, 2.0, 3.0], "team": [1, 2, 2]}
    who = "estimand confidence"
    compared = f"{who} sequential fakes"

    def enrolled(**more: Any) -> list[Any]:
        name = next(counter)
        ledger = sv.Ledger(folder / f"{name}.ledger", 9)
        ledger.enrol("c", sv.duchi(1.0, DAY), **more)
        return [entry.get("terms") for entry in ledger.entries()]

    def reported(**more: Any) -> list[Any]:
        ledger = sv.Ledger(folder / f"{next(counter)}.ledger", 9)
        ledger.enrol("c", sv.ogpm(1.0, DAY))
        ledger.report("c", 3.0, **{"rng": 1, **more})
        *_, last = ledger.entries()
        return [{name: last[name] for name in sorted(last.keys() - {"key", "at"})}]

    enrolled.__signature__ = inspect.signature(partial(sv.Ledger.enrol, None, "c", None))
    reported.__signature__ = inspect.signature(partial(sv.Ledger.report, None, "c", 3.0))
    counter = itertools.count()
    yield "any_of", of(sv.any_of, epsilon=1.0, options=OPTIONS)
    yield "audit", of(sv.audit, "people", mechanism=sv.sw(1.0))
    yield "audit of people", of(sv.audit, "delta", mechanism=sv.sw(1.0), people=100)
    yield "check_reporter", of(sv.check_reporter, "rng draws false_alarm read", reporter=sv.duchi(1.0))
    yield "choice", of(sv.choice, epsilon=1.0, options=OPTIONS)
    yield "circular_mean", of(sv.circular_mean, who, tally=on_circle())
    spreads = dict.fromkeys(("variance", "standard_deviation"), who)
    for what, taken in {"mean": compared, **spreads, "quantile": f"p {who}"}.items():
        yield f"compare {what}", of(sv.compare, f"over {taken}", groups=groups, question=what)
        yield f"difference of {what}", of(sv.difference, taken, a=number, b=other, question=what)
    ranged = {"question": "probability", "between": (3, 9)}
    yield "compare probability", of(sv.compare, f"over {compared}", groups=groups, **ranged)
    yield "difference of probability", of(sv.difference, compared, a=number, b=other, **ranged)
    shares = {"question": "share", "option": "b"}
    yield (
        "difference of share",
        of(sv.difference, "confidence", a=options(), b=tally(sv.choice(1.0, OPTIONS), ["a"] * 50), **shares),
    )
    yield "concentration", of(sv.concentration, who, tally=on_circle())
    for function in (sv.correlation, sv.covariance, sv.slope):
        yield function.__name__, of(function, "confidence", tally=both(), x="age", y="hours")
    yield "covariances", of(sv.covariances, "confidence", tally=both())
    own = {"value": "loss"}
    for question in ("mean", "distribution", "value"):
        yield (
            f"design {question}",
            of(sv.design, own.get(question, ""), question=question, epsilon=1.0, domain=DAY),
        )
    yield "design probability", of(sv.design, question="probability", epsilon=1.0, domain=DAY, between=(3, 9))
    yield "design quantile", of(sv.design, question="quantile", epsilon=1.0, domain=DAY, p=0.5)
    yield "design direction", of(sv.design, question="direction", epsilon=1.0, domain=CIRCLE)
    yield "distribution", of(sv.distribution, "bins band confidence", tally=unbiased)
    yield "distribution without a band", of(sv.distribution, "bins", tally=unbiased, band=False)
    for function in (sv.pm, sv.ptt, sv.sw, sv.ogpm_unbiased, sv.two_scale):
        taken = "domain cells q" if function is sv.ptt else "domain cells"
        yield function.__name__, of(function, taken, epsilon=1.0)
    yield "duchi", of(sv.duchi, "domain", epsilon=1.0)
    yield "ogpm", of(sv.ogpm, "loss at cells", epsilon=1.0, domain=DAY)
    yield "ogpm on a circle", of(sv.ogpm, "loss cells", epsilon=1.0, domain=CIRCLE)
    yield "fakes", of(sv.fakes, "estimate places", tally=number, k=10)
    yield "from_json", of(sv.from_json, text=sv.sw(1.0).to_json())
    yield "groups", of(sv.groups, "confidence", tally=in_groups())
    yield "heatmap", of(sv.heatmap, tally=places())
    yield "honesty", of(sv.honesty, "false_alarm", tally=number)
    declared = "shape density steepness"
    yield "mean", of(sv.mean, f"interval {declared} sequential fakes {who}", tally=number)
    yield "mean at every look", of(sv.mean, f"fakes {who}", tally=unbiased, sequential=True)
    yield "mean by bootstrap", of(sv.mean, f"rng fakes {who}", tally=unbiased, interval="bootstrap")
    yield "mean of a shape", of(sv.mean, "confidence", tally=number, shape="unimodal")
    yield "median", of(sv.median, f"{declared} {who}", tally=number)
    yield "mean_position", of(sv.mean_position, "confidence", tally=places())
    yield "optimal", of(sv.optimal, "domain question prior slack tolerance", epsilon=1.0)
    yield "optimal value", of(sv.optimal, "domain loss prior tolerance", epsilon=1.0, question="value")
    yield "optimal with slack", of(sv.optimal, "domain prior", epsilon=1.0, slack=0.1)
    yield (
        "optimal on a circle",
        of(sv.optimal, "loss tolerance", epsilon=1.0, domain=CIRCLE, question="value"),
    )
    yield "pair", of(sv.pair, epsilon=1.0, domains=AGES)
    yield "pair_rounds", of(sv.pair_rounds, "first", epsilon=1.0, domains=AGES)
    yield "place", of(sv.place, "centre degrees edge points", epsilon=1.0, radius=10.0)
    yield "place in a box", of(sv.place, "degrees edge points", epsilon=1.0, box=((0, 4), (-1, 0)))
    for question in ("mean", "quantile", "distribution", "value"):
        given = {"p": 0.5} if question == "quantile" else {}
        taken = "loss" if question == "value" else ""
        yield f"plan {question}", of(plan, f"{plan_taken} {taken}", question=question, domain=DAY, **given)
    yield "plan probability", of(plan, plan_taken, question="probability", domain=DAY, between=(3, 9))
    yield "plan direction", of(plan, plan_taken, question="direction", domain=CIRCLE)
    yield "plan difference", of(plan, "confidence sample", question="difference", domain=DAY, shift=2.0)
    asked = partial(sv.plan, epsilon=1.0, people=None)
    yield (
        "plan people of a difference",
        of(asked, "power confidence sample", question="difference", domain=DAY, shift=2.0),
    )
    yield "plan pair", of(plan, question="pair", domain=AGES)
    yield "plan choice", of(plan, question="choice", domain=OPTIONS)
    yield "plan choices", of(plan, question="choices", domain=OPTIONS)
    yield "plan group", of(plan, question="group", domain=(OPTIONS, (0, 3)))
    yield "plan place", of(plan, question="place", domain=sv.Disc(10.0))
    yield "polar", of(sv.polar, "loss weights design", epsilon=4.0, radius=5.0)
    yield "probabilities", of(sv.probabilities, f"bins {who}", tally=number)
    yield "probability", of(sv.probability, f"{declared} {compared}", tally=number, low=3, high=9)
    yield (
        "probability at every look",
        of(sv.probability, "fakes confidence", tally=number, low=3, high=9, sequential=True),
    )
    yield "quantile", of(sv.quantile, f"{declared} {who}", tally=number, p=0.5)
    yield "region_share", of(sv.region_share, "confidence", tally=places(), region=[(0, 0), (0, 5), (5, 0)])
    yield "rounds mean", of(sv.rounds, "caution", question="mean", epsilon=1.0, domain=DAY)
    yield "rounds quantile", of(sv.rounds, "first", question="quantile", epsilon=1.0, domain=DAY, p=0.5)
    yield "rounds direction", of(sv.rounds, question="direction", epsilon=1.0, domain=CIRCLE)
    yield "rounds range", of(sv.rounds, "unit signed", question="range", epsilon=1.0, largest=1e6)
    yield "shares", of(sv.shares, "confidence", tally=options())
    yield "shuffled", of(sv.shuffled, "delta neighbours", reporter=sv.duchi(1.0), people=100)
    pieces = {"epsilon": 1.0, "domain": DAY, "output": DAY}
    yield "solve_pieces", of(solve_pieces, "pieces loss", **pieces)
    yield "solve_pieces by a bracket", of(solve_pieces, "pieces loss gap", method="bracket", **pieces)
    yield "standard_deviation", of(sv.standard_deviation, who, tally=number)
    yield "split_budget", of(sv.split_budget, "weights losses", epsilon=2.0, mechanisms=[sv.sw, sv.pm])
    yield "summary", of(sv.summary, "questions items also quantiles confidence failed", tally=number)
    yield (
        "survey",
        of(
            sv.survey,
            "strategy k prior design weights relations",
            epsilon=2.0,
            items=[(0, 9), (0, 1), (0, 1)],
        ),
    )
    yield (
        "survey of all",
        of(
            sv.survey,
            "prior design weights",
            epsilon=2.0,
            items=[(0, 9), (0, 1), (0, 1)],
            strategy="split",
        ),
    )
    series = {f"2026-03-0{day}": one for day, one in enumerate(tallies(), 1)}
    yield "trend", of(sv.trend, f"question per {who} fakes", series=series)
    yield "trend of numbers", of(sv.trend, f"question {who} fakes", series=dict(enumerate(tallies())))
    yield "two_rounds", of(sv.two_rounds, "caution", epsilon=1.0, domain=DAY)
    yield "variance", of(sv.variance, who, tally=number)
    yield "weighted", of(sv.weighted, compared, groups=groups, weights={"a": 1, "b": 2})
    yield "within", of(sv.within, "levels", epsilon=1.0, options=OPTIONS, domain=DAY)
    released, kept = "confidence accountant", {"epsilon": 1.0, "rng": 1}
    limited = f"missing outside clip grid {released}"
    yield "central.count", of(central.count, released, values=[1, 2, 3], **kept)
    yield (
        "central.mean",
        of(central.mean, f"mechanism {limited}", values=[1.0, 2.0, 3.0], domain=(0, 9), **kept),
    )
    yield (
        "central.mean of a table",
        of(
            central.mean,
            f"mechanism {limited}",
            values=table,
            domain=(0, 9),
            column="wait",
            by="team",
            groups=[1, 2],
            **kept,
        ),
    )
    yield "central.sum", of(central.sum, limited, values=[1.0, 2.0, 3.0], domain=(0, 9), **kept)
    for repeat, taken in {"fresh": "sends", "once": "sends"}.items():
        yield f"Ledger.enrol {repeat}", of(enrolled, f"{taken} missing outside", repeat=repeat)
    yield "Ledger.enrol bins", of(enrolled, "again bins missing outside", repeat="bins", draws=2, sends=9)
    yield "Ledger.report", of(reported, "period token rng")
    cells = pa.table({"cell": [0, 1, 1], "other": [1, 0, 0]})
    yield "Tally.from_arrow", of(sv.Tally.from_arrow, "cell count", reporter=sv.duchi(1.0), data=cells)
    yield "Tally.from_json", of(sv.Tally.from_json, "reporter", text=sv.Tally(sv.duchi(1.0), [1]).to_json())
    yield (
        "Ledger",
        of(sv.Ledger, "create witness wait", path=sv.Ledger(folder / "one.ledger", 3).path, budget=3),
    )
    yield "Tally.required", of(number.required, "least")


#: What has an effect that the answer does not show: how long is waited, who is told, what a rule would do.
UNSEEN = """accountant clip create draws failed false_alarm items least missing outside places progress
quantiles read reporter rng tolerance wait weights witness"""
#: It takes minutes, and what it does is what repetitions do.
LONG = {"simulate"}
#: They need a collector, or are made anew in tests of their own.
ELSEWHERE = {"Client"}


def seen(answer: Any) -> list[str]:
    """What an answer says of itself."""
    if isinstance(answer, list | tuple):
        return [text for one in answer for text in seen(one)]
    return [answer.to_json()] if hasattr(answer, "to_json") else read(answer)


def given_to(case: Case) -> set[str]:
    return {*case.given, *getattr(case.call, "keywords", ())}


def optional(case: Case) -> list[str]:
    given = given_to(case) | LONG
    parameters = inspect.signature(case.call).parameters.values()
    return [one.name for one in parameters if one.default is not one.empty and one.name not in given]


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions, and the methods of what is used and not only read."""
    for name in sv.__all__:
        if inspect.isfunction(getattr(sv, name)):
            yield name, getattr(sv, name)
    yield from ((f"central.{name}", getattr(central, name)) for name in ("count", "mean", "sum"))
    for kind in (sv.Tally, sv.Ledger, sv.Client):
        yield kind.__name__, kind
        for name in vars(kind):
            if not name.startswith("_") and callable(getattr(kind, name)):
                yield f"{kind.__name__}.{name}", getattr(kind, name)


def test_every_public_function_with_options_is_walked(tmp_path: Path) -> None:
    walked = {label.split()[0] for label, _ in cases(tmp_path)} | {"Tally"}  # cells are what it counts
    with_options = {
        name
        for name, function in public()
        if any(one.default is not one.empty for one in inspect.signature(function).parameters.values())
    }
    assert {name for name in with_options - walked if name.split(".")[0] not in ELSEWHERE} == set()


def test_no_option_is_accepted_and_ignored(tmp_path: Path) -> None:
    wrong = []

    for label, case in cases(tmp_path):
        taken, plain = case.taken.split(), None
        unknown = {*taken} - {*inspect.signature(case.call).parameters}
        wrong += [f"{label} has no {name}" for name in sorted(unknown)]
        if not optional(case) and taken:
            wrong.append(f"{label} is not walked")
        for name in optional(case):
            value = VALUES.get(f"{label.split()[0]} {name}", VALUES[name])
            try:
                answer = case.call(**case.given, **{name: value})
            except (ArgumentError, ArgumentTypeError) as refusal:
                if name in taken or refusal.argument not in {name, *given_to(case)}:
                    wrong.append(f"{label}({name}): {refusal}")
                continue
            except Exception as fault:
                wrong.append(f"{label}({name}): {fault!r}")
                continue
            if name not in taken:
                wrong.append(f"{label}({name}) is accepted")
            elif name not in UNSEEN.split():
                plain = seen(case.call(**case.given)) if plain is None else plain
                if seen(answer) == plain:
                    wrong.append(f"{label}({name}) has no effect")
    assert not wrong, "\n".join(wrong)
