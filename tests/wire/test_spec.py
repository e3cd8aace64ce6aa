"""Specs: canonical, digested, and read with suspicion."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from benchmarks.timing import crowded

import sottovoce as sv
from sottovoce.errors import PrivacyError, SpecError
from sottovoce.reporters.window_format import crowd

HONEST = sv.ogpm(epsilon=1.0, domain=(0, 24), cells=256)


def changed(change: Callable[[dict[str, Any]], Any]) -> str:
    content = json.loads(HONEST.to_json())
    change(content)
    return json.dumps(content)


def test_digest_is_of_the_canonical_text() -> None:
    text = HONEST.to_json()
    assert HONEST.digest == hashlib.sha256(text.encode()).hexdigest()
    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) == text
    assert sv.from_json(json.dumps(json.loads(text), indent=3)).digest == HONEST.digest
    assert sv.from_json(text.encode()).digest == HONEST.digest
    assert sv.ogpm(epsilon=1.0, domain=(0, 25), cells=256) != HONEST
    assert len({HONEST, sv.from_json(text)}) == 1


HOSTILE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "unknown key": (lambda c: c.update(extra=1), "unknown key 'extra'"),
    "missing key": (lambda c: c.pop("bits"), "lacks the key 'bits'"),
    "version": (lambda c: c.update(format="window/2"), "format must be 'window/1'"),
    "format as list": (lambda c: c.update(format=["window/1"]), "format must be"),
    "bool as integer": (lambda c: c["cells"].update(count=[True]), "integers"),
    "float as integer": (lambda c: c["cells"].update(count=[256.0]), "integers"),
    "huge integer": (lambda c: c["cells"].update(background=[10**30]), "20 digits"),
    "above 2^53": (lambda c: c["cells"].update(background=[2**53 + 1]), "integers up to"),
    "count 2^40": (lambda c: c["cells"].update(count=[2**40]), "at most 1048576 cells"),
    "negative extra": (lambda c: c["cells"].update(extra=[-1]), "must not be negative"),
    "zero background": (lambda c: c["cells"].update(background=[0]), "at least 1"),
    "no cells": (lambda c: c["cells"].update(count=[], background=[], extra=[], value=[], step=[]), "empty"),
    "uneven runs": (lambda c: c["cells"].update(step=[0.1, 0.1]), "one entry per run"),
    "values decrease": (lambda c: c["cells"].update(step=[-0.1]), "must not decrease"),
    "value as text": (lambda c: c["cells"].update(value=["0"]), "finite numbers"),
    "few bits": (lambda c: c.update(bits=20), "bits must be at least 33"),
    "many bits": (lambda c: c.update(bits=60), "bits must be at most 52"),
    "start beyond": (lambda c: c["start"].update(s=[0, 2**53]), "start.s must lie in"),
    "start backwards": (lambda c: c["start"].update(s=[5, 0]), "start.s must not decrease"),
    "knots backwards": (lambda c: c["start"].update(t=[0.9, 0.1]), "start.t must not decrease"),
    "knots too close": (lambda c: c["start"].update(t=[0.0, 5e-324]), "start.t must not decrease"),
    "knot outside": (lambda c: c["start"].update(t=[0.1, 1.5]), "between 0 and 1"),
    "one knot": (lambda c: c["start"].update(t=[0.1], s=[0]), "two if it is not a step table"),
    "step as number": (lambda c: c["start"].update(step=0), "true or false"),
    "circle as text": (lambda c: c.update(circle="no"), "true or false"),
    "reversed domain": (lambda c: c.update(domain=[24, 0]), "low < high"),
    "three bounds": (lambda c: c.update(domain=[0, 1, 2]), "list of 2"),
    "cells as list": (lambda c: c.update(cells=[]), "cells must be an object"),
    "no window": (lambda c: c["cells"].update(background=[2**44], extra=[1]), "room for the window"),
    "no room": (lambda c: c["cells"].update(extra=[1]), "hold the window"),
    "overflowing sum": (lambda c: c["cells"].update(background=[2**52], extra=[2**53]), "2\\^53"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_specs_are_refused(name: str) -> None:
    change, words = HOSTILE[name]
    with pytest.raises(SpecError, match=words):
        sv.from_json(changed(change))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "nested too deeply|not valid JSON"),
        ("7", "spec must be an object"),
        ('{"bits": NaN}', "finite"),
        ('{"bits": -Infinity}', "finite"),
        ('{"bits": 1, "bits": 2}', "same key twice"),
        (b"\xff\xfe", "not valid JSON"),
        (" " * (1 << 25), "at most"),
        ("{}" + " " * (1 << 23), "at most"),
    ],
)
def test_broken_texts_are_refused(text: str | bytes, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        sv.from_json(text)


def test_from_json_wants_text() -> None:
    with pytest.raises(TypeError, match="JSON text"):
        sv.from_json(json.loads(HONEST.to_json()))


def test_a_float_that_overflows_is_refused() -> None:
    text = HONEST.to_json().replace('"domain":[0.0,24.0]', '"domain":[0.0,1e999]')
    with pytest.raises(SpecError, match="finite"):
        sv.from_json(text)


def test_a_false_claim_is_refused_and_audited() -> None:
    """More extra weight than ε = 1 allows; the audit says what it really is."""
    lie = sv.ogpm(epsilon=1.3, domain=(0, 24), cells=256).to_json().replace('"epsilon":1.3', '"epsilon":1.0')
    with pytest.raises(
        PrivacyError, match=r"the counts give epsilon=1\.3, more than the claimed epsilon=1\.0"
    ):
        sv.from_json(lie)
    audit = sv.audit(lie)
    assert not audit.holds
    assert audit.claimed == 1.0
    assert audit.epsilon == pytest.approx(1.3, abs=1e-6)
    assert "DOES NOT HOLD" in str(audit)
    with pytest.raises(ValueError, match="epsilon must be"):
        sv.from_json(HONEST.to_json().replace('"epsilon":1.0', '"epsilon":99'))


def test_claims_are_judged_as_the_decimal_they_print() -> None:
    """0.1 as a double is above one tenth; the promise is the smaller of the two."""
    assert sv.audit(sv.duchi(0.1)).holds
    assert sv.audit(sv.duchi(0.1)).epsilon <= 0.1


def test_a_small_text_of_many_cells_costs_little_to_audit() -> None:
    """Fifty kilobytes that stand for 170 million cells: counted run by run, never spelt out."""
    part = json.loads(sv.ogpm(0.01, cells=1 << 20).to_json())
    questions = [{"name": str(i), "spec": part} for i in range(170)]
    text = json.dumps({"format": "survey/1", "epsilon": 2.0, "questions": questions, "sampled": 170})
    tracemalloc.start()
    try:
        with pytest.raises(SpecError, match="at most 16777216 cells in all"):
            sv.audit(text)  # no client reads it
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


@pytest.mark.attack("C1", "refused")
def test_look_ups_take_as_long_for_one_value_as_for_another() -> None:
    """650,000 knots in one bucket made a collector read yes or no from the time of one report."""
    for many in (5, 60_000):
        for read in (sv.from_json, sv.audit):
            with pytest.raises(SpecError, match="as long for one value as for another") as refusal:
                read(crowded(many))
            assert refusal.value.code == "timing"
    m = sv.from_json(crowded(4))
    assert crowd(m.window) == 4  # type: ignore[attr-defined]
    assert sv.audit(crowded(4)).holds


def test_every_design_looks_up_in_few_steps() -> None:
    for epsilon in (0.1, 1.0, 8.0):
        for m in (sv.optimal(epsilon), sv.optimal(epsilon, question="value"), sv.sw(epsilon), sv.pm(epsilon)):
            assert crowd(m.window) <= 3
