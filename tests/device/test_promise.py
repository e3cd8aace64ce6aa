"""The ε that a ledger states is true of what was sent: all transcripts of short campaigns, counted.

A transcript is the sequence of sent cells, and the secret is the whole sequence of values. The rules run for
real (`State.draw` and `State.apply`, without the file); their law is enumerated here in exact fractions.
"""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import sottovoce as sv
from sottovoce.device.ledger_state import Account, State
from sottovoce.device.terms import Terms, agree
from sottovoce.exact.rational_bounds import exp_upper
from sottovoce.reporters.randomised_response import response

M = sv.ogpm(1.0, (0, 1), cells=3)
VALUES = (0.1, 0.5, 0.9)  # the middles of three bins, near enough: one value per bin
Law = dict[tuple[int, ...], Fraction]


@cache
def agreed(**terms: object) -> Terms:
    options = {name: value for name, value in terms.items() if name != "repeat"}
    return agree(M, str(terms["repeat"]), options)


def play(values: tuple[float, ...], rng: np.random.Generator | None = None, **terms: object) -> State:
    state = State()
    state.apply({"kind": "open", "at": "0", "ledger": "x", "budget": "1000"})
    state.accounts["c"] = Account("c", agreed(**terms))
    for period, value in enumerate(values):
        entry = state.draw(state.accounts["c"], value, rng)
        base = {"kind": "report", "at": "0", "campaign": "c", "period": str(period), "key": "k"}
        state.apply(json.loads(json.dumps(base | entry)))
    return state


def sent(state: State) -> tuple[int, ...]:
    return tuple(report.cells[0] for report in state.accounts["c"].reports.values())


@cache
def exactly(m: sv.Mechanism, x: float) -> list[Fraction]:
    return [Fraction(int(c), m.window.total) for c in m.counts([x])[0]]


@cache
def _response(epsilon: float) -> sv.Mechanism:
    return response(epsilon, 3)


def law(values: tuple[float, ...], **terms: object) -> Law:
    """The probability of every transcript, from the published rules."""
    bins = [VALUES.index(v) for v in values]
    rows = {b: exactly(M, (b + 0.5) / 3) for b in range(3)}
    out: Law = {}
    if terms["repeat"] == "fresh":
        for cells in product(range(3), repeat=len(bins)):
            p = Fraction(1)
            for value, cell in zip(values, cells, strict=True):
                p *= exactly(M, value)[cell]
            out[cells] = p
        return out
    if terms["repeat"] == "once":
        return {(cell,) * len(bins): p for cell, p in enumerate(exactly(M, values[0]))}
    again: Any = terms.get("again")
    second = [exactly(_response(again), float(c)) for c in range(3)] if again else None
    distinct = list(dict.fromkeys(bins))
    for kept in product(range(3), repeat=len(distinct)):
        table = dict(zip(distinct, kept, strict=True))
        p = Fraction(1)
        for b, cell in table.items():
            p *= rows[b][cell]
        path = [table[b] for b in bins]
        if second is None:
            out[tuple(path)] = out.get(tuple(path), Fraction(0)) + p
            continue
        for cells in product(range(3), repeat=len(bins)):
            q = p
            for cell, start in zip(cells, path, strict=True):
                q *= second[start][cell]
            out[cells] = out.get(cells, Fraction(0)) + q
    return out


RULES = [
    {"repeat": "fresh"},
    {"repeat": "once"},
    {"repeat": "bins", "bins": 3, "draws": 3},
    {"repeat": "bins", "bins": 3, "draws": 3, "again": 1.0, "sends": 3},
]


@pytest.mark.parametrize("terms", RULES, ids=["fresh", "once", "bins", "again"])
def test_the_rules_give_the_law_that_is_counted(terms: dict[str, object]) -> None:
    values, runs = (0.1, 0.9, 0.1), 1000  # as many as tell sequences apart, by all rules
    rng = np.random.default_rng(5)
    seen = Counter(sent(play(values, rng, **terms)) for _ in range(runs))
    expected = {cells: float(p) * runs for cells, p in law(values, **terms).items()}
    assert set(seen) <= set(expected)
    statistic = sum((seen[cells] - e) ** 2 / e for cells, e in expected.items())
    assert statistic < chi2.isf(1e-6, len(expected) - 1)
    # The check can fail: another sequence of values is told apart.
    other = {cells: float(p) * runs for cells, p in law((0.9, 0.1, 0.1), **terms).items()}
    wrong = sum((seen[cells] - e) ** 2 / e for cells, e in other.items())
    assert not set(seen) <= set(other) or wrong > chi2.isf(1e-6, len(other) - 1)


def ratio(one: Law, two: Law) -> Fraction | None:
    """The largest ratio of two probabilities of one transcript; None when it is infinite."""
    if any(two.get(cells, 0) == 0 for cells, p in one.items() if p):
        return None
    return max(p / two[cells] for cells, p in one.items() if p)


def pattern(values: tuple[float, ...]) -> tuple[int, ...]:
    """Which periods share a bin, without saying which bin."""
    first = list(dict.fromkeys(values))
    return tuple(first.index(v) for v in values)


@pytest.mark.parametrize("terms", RULES, ids=["fresh", "once", "bins", "again"])
def test_what_is_stated_holds_for_all_sequences_of_values(terms: dict[str, object]) -> None:
    sequences = list(product(VALUES, repeat=3))
    laws = {values: law(values, **terms) for values in sequences}
    hides = agreed(**terms).hides_changes
    stated = {values: exp_upper(play(values, **terms).spent) for values in sequences}
    infinite = 0
    for one, two in product(sequences, repeat=2):
        r = ratio(laws[one], laws[two])
        if hides or pattern(one) == pattern(two):
            assert r is not None
            assert r <= stated[one]
        elif r is None:
            infinite += 1
    # For bins alone nothing could be stated about sequences that change differently: a change is proof.
    assert (infinite > 0) == (not hides)


def test_a_charge_per_send_of_the_first_step_only_would_be_false() -> None:
    """The mutant: charging T sends of the *composite* ε, which is smaller, is not true of repeated sends."""
    terms = {"repeat": "bins", "bins": 3, "draws": 3, "again": 2.0, "sends": 3}
    both = M.probabilities(np.linspace(0, 1, 41)) @ response(2.0, 3).probabilities([0.0, 1.0, 2.0])
    composite = float(np.log((both.max(axis=0) / both.min(axis=0)).max()))
    worst = ratio(law((0.1, 0.1, 0.1), **terms), law((0.9, 0.1, 0.5), **terms))
    assert worst is not None
    assert worst > exp_upper(3 * composite)
    assert worst <= exp_upper(play((0.1, 0.1, 0.1), **terms).spent)
