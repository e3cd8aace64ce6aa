"""Reading changes nothing: what functions return is the same before and after, whoever reads at once."""

from __future__ import annotations

import inspect
import pickle
import re
import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from papers.pieces import solve_pieces
from tests.reporters.catalogue import build, cases, others

import sottovoce as sv
from sottovoce import central

THREADS = 8
DAY = (0.0, 24.0)
X = np.random.default_rng(2).beta(2, 5, 2000) * 24
OPTIONS = ["a", "b", "c"]
AGES = {"age": (0, 120), "hours": (0, 80)}
COLUMNS = {"age": X * 5, "hours": X * 3}

#: Public classes that nobody has as a result: they change on purpose, or are there to be derived from.
NOT_RESULTS = {"Accountant", "Client", "Designed", "Ledger", "None", "Question", "Reporter"}


def tally(m: Any, x: Any = X, seed: int = 1) -> sv.Tally:
    return sv.Tally(m, m.report(x, rng=seed))


@cache
def tallies() -> tuple[sv.Tally, sv.Tally]:
    m = sv.design("value", 1.0, DAY)  # made for something else: its estimates have advice
    return tally(m), tally(m, seed=2)


def on_circle() -> sv.Tally:
    return tally(sv.ogpm(1.0, sv.Circle(24.0)))


def places() -> sv.Tally:
    return tally(sv.place(2.0, 10.0, points=8), np.stack((X / 4, X / 6), axis=1) - 2)


def around() -> sv.Tally:
    return tally(sv.polar(4.0, 10.0), np.stack((X / 4, X / 6), axis=1) - 2)


def options() -> sv.Tally:
    return tally(sv.choice(1.0, OPTIONS), np.array(OPTIONS)[(X % 3).astype(int)])


def in_groups() -> sv.Tally:
    m = sv.within(4.0, OPTIONS, (0, 24))
    return tally(m, {"group": np.array(OPTIONS)[(X % 3).astype(int)], "number": X})


def both() -> sv.Tally:
    return tally(sv.pair(2.0, AGES), COLUMNS)


#: Everything that public functions return, made anew at each call.
MAKERS: dict[str, Callable[[], Any]] = {
    **{
        f"{f.__name__} of {name}": partial(lambda f, more: f(tallies()[0], **more), f, more)
        for f, name, more in [
            (sv.mean, "a number", {}),
            (sv.mean, "a number at every look", {"sequential": True}),
            (sv.variance, "a number", {}),
            (sv.quantile, "a number", {"p": 0.5}),
            (sv.quantile, "a declared number", {"p": 0.5, "shape": "unimodal"}),
            (sv.quantile, "several numbers", {"p": [0.2, 0.5]}),
            (sv.probability, "a range", {"low": 3, "high": 9}),
            (sv.probabilities, "bins", {}),
            (sv.distribution, "a number", {}),
            (sv.honesty, "a number", {}),
            (sv.fakes, "a number", {"k": 10, "places": 5}),
        ]
    },
    "tally": lambda: tallies()[0],
    "circular mean": lambda: sv.circular_mean(on_circle()),
    "concentration": lambda: sv.concentration(on_circle()),
    "shares": lambda: sv.shares(options()),
    "groups": lambda: sv.groups(in_groups()),
    "heatmap": lambda: sv.heatmap(places()),
    "polar heatmap": lambda: sv.heatmap(around()),
    "summary": lambda: sv.summary(tallies()[0]),
    "answer": lambda: sv.summary(options())["shares"],
    "mean position": lambda: sv.mean_position(places()),
    "region share": lambda: sv.region_share(places(), [(0, 0), (0, 5), (5, 0)]),
    "correlation": lambda: sv.correlation(both()),
    "covariances": lambda: sv.covariances(both()),
    "slope": lambda: sv.slope(both()),
    "sum": lambda: sv.probability(tallies()[0], 3, 9) + 2 * sv.probability(tallies()[1], 3, 9),
    "ratio": lambda: sv.mean(tallies()[0]) / sv.mean(tallies()[1]),
    "difference": lambda: sv.difference(*tallies(), question="probability", between=(3, 9)),
    "weighted": lambda: sv.weighted(dict(zip("ab", tallies(), strict=True)), {"a": 1, "b": 2}),
    "comparison": lambda: sv.compare(dict(zip("ab", tallies(), strict=True))),
    "trend": lambda: sv.trend(dict(enumerate(tallies()))),
    "plan": lambda: sv.plan("mean", 1.0, 1000, DAY),
    "plan of a difference": lambda: sv.plan("difference", 1.0, 1000, DAY, shift=1.0),
    "plan of ways": lambda: sv.plan("pair", 1.0, 1000, AGES),
    "audit": lambda: sv.audit(sv.sw(1.0), 100),
    "disclosure": lambda: sv.disclosure(sv.sw(1.0)),
    "shuffled": lambda: sv.shuffled(sv.sw(1.0), 100),
    "curve": lambda: sv.shuffled(sv.sw(1.0), 100, None),
    "split": lambda: sv.split_budget(2.0, [sv.sw, sv.pm]),
    "pieces": lambda: solve_pieces(1.0, 3),
    "pair rounds": lambda: sv.pair_rounds(2.0, AGES),
    "two rounds": lambda: sv.two_rounds(1.0),
    **{f"rounds of {task}": partial(sv.rounds, task, 1.0) for task in ("mean",)},
    "rounds of quantile": lambda: sv.rounds("quantile", 1.0, p=0.5),
    "rounds of range": lambda: sv.rounds("range", 1.0, largest=1e6),
    "rounds of direction": lambda: sv.rounds("direction", 1.0, sv.Circle(24.0)),
    "Area": lambda: sv.Area((0, 1), (0, 1)),
    "Disc": sv.Disc,
    "Options": lambda: sv.Options(("a", "b")),
    "count of groups": lambda: central.count([1, 2, 1], 1.0, by=[1, 2, 1], groups=[1, 2]),
    "central mean": lambda: central.mean([1.0, 2.0], 1.0, (0, 3), rng=1),
    **{f"{case}": partial(build.__wrapped__, case) for case in cases() if case.epsilon == 1.0},
    **others(),
}
#: They hold functions that are made where they are needed.
UNPICKLED = {"curve", "plan", "split"}


def results() -> set[str]:
    """Every public class whose objects people get, and what public functions say that they return."""
    every = [getattr(part, name) for part in (sv, central) for name in part.__all__]
    found = {one.__name__ for one in every if inspect.isclass(one) and not inspect.isabstract(one)}
    for function in filter(inspect.isfunction, every):
        found |= set(re.findall("[A-Z]\\w+", str(inspect.signature(function).return_annotation)))
    return found - NOT_RESULTS


def parts_of(made: Any) -> Iterator[Any]:
    """An object, and the public objects that it holds."""
    if isinstance(made, list | tuple):
        for one in made:
            yield from parts_of(one)
    else:
        yield made
        for one in vars(made).values() if hasattr(made, "__dict__") else ():
            if type(one).__module__.startswith("sottovoce"):
                yield one


def read(one: Any) -> list[str]:
    """The text of every public attribute, and of what is written of it."""
    names = [name for name in dir(one) if not name.startswith("_")]
    values = [getattr(one, name, None) for name in names]
    values = [sorted(value) if isinstance(value, frozenset) else value for value in values]
    texts = [f"{name} {value!r}" for name, value in zip(names, values, strict=True) if not callable(value)]
    methods = (getattr(one, name, None) for name in ("advice", "to_dict", "_repr_html_"))
    called = [method() for method in methods if callable(method)]
    return [re.sub(" at 0x[0-9a-f]+", "", text) for text in (*texts, repr(one), str(one), *map(repr, called))]


def read_at_once(one: Any) -> list[list[str]]:
    """What threads read that begin together."""
    together, found, faults = threading.Barrier(THREADS), [], []

    def reader() -> None:
        together.wait(60)
        try:
            found.append(read(one))
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=reader) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults
    assert len(found) == THREADS
    return found


def test_every_public_result_is_read() -> None:
    made = {type(one).__name__ for make in MAKERS.values() for one in parts_of(make())}
    assert results() - made == set()


@pytest.mark.parametrize("name", MAKERS)
def test_threads_read_the_same(name: str) -> None:
    for one in parts_of(MAKERS[name]()):
        texts = read_at_once(one)
        assert all(text == texts[0] for text in texts)


@pytest.mark.parametrize("name", sorted(MAKERS.keys() - UNPICKLED))
def test_reading_changes_nothing(name: str) -> None:
    for one in parts_of(MAKERS[name]()):
        before = pickle.dumps(one)
        again = pickle.loads(before)
        texts = read(one)
        assert pickle.dumps(one) == before
        assert read(again) == texts


def test_advice_is_the_same_whenever_it_is_asked() -> None:
    """Sums keep that of their terms, which says nothing twice; copies have it too."""
    value, coin = sv.design("value", 1.0, DAY), sv.duchi(1.0, DAY)
    for m, ask in (
        (value, sv.mean),
        (coin, partial(sv.quantile, p=0.5)),
        (coin, partial(sv.probability, low=3, high=9)),
    ):
        first, second = (ask(tally(m, np.tile(X, 6), seed)) for seed in (1, 2))
        said = first.advice()
        assert said
        assert said == first.advice() == pickle.loads(pickle.dumps(first)).advice()
        assert not set(said) & set(first.notes)
        assert (first + second).advice() == tuple(dict.fromkeys((*said, *second.advice())))
        assert first.to_dict()["notes"] == [*said, *first.notes]
        assert len(pickle.dumps(first)) < 40_000
