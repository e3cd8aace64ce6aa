"""The vectors shared with JavaScript are what today's code makes, and both samplers agree on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.vectors import make
from tests.vectors.hostile import hostile_specs
from tests.vectors.mechanisms import mechanisms

import sottovoce as sv
from sottovoce.errors import SpecError
from sottovoce.reporters import formats

VECTORS = Path(make.__file__).parent


def read(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def test_files_are_up_to_date() -> None:
    assert read("sampling") == make.sampling(), "run python -m tests.vectors.make"
    assert read("specs") == make.specs(), "run python -m tests.vectors.make"


@pytest.mark.parametrize("name", [name for name, m in mechanisms().items() if isinstance(m, sv.Mechanism)])
def test_compiled_sampler_draws_the_same(name: str) -> None:
    vector = next(entry for entry in read("sampling")["mechanisms"] if entry["name"] == name)
    m = sv.from_json(vector["spec"])
    assert isinstance(m, sv.Mechanism)
    words = np.array([int(word, 16) for word in vector["words"]], dtype=np.uint64)
    cells = np.empty(len(words), dtype=np.uint32)
    assert m._sampler.fill(cells, words, np.array(vector["x"]), compiled=True) == 0
    assert cells.tolist() == vector["expected"]


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in hostile_specs()])
@pytest.mark.attack("N9", "refused")
def test_hostile_specs_are_refused(text: str) -> None:
    """Whatever reads them; an audit says what counting finds only where nothing but the claim is wrong."""
    with pytest.raises(ValueError, match=r"\w") as refused:
        sv.from_json(text)
    about = getattr(refused.value, "argument", None)
    assert make.refusal(text, sv.audit) == (None if about == "epsilon" and _counts(text) else "spec")


def _counts(text: str) -> bool:
    """Whether the integers of a spec can be counted."""
    try:
        formats._claim_and_ratio(formats._parsed(text))
    except ValueError:
        return False
    return True


@pytest.mark.attack("N9", "succeeds")
def test_counting_alone_passes_specs_that_no_client_reads() -> None:
    """An audit did nothing else."""
    texts = {name: text for name, text in hostile_specs() if name.startswith("functions")}
    passed = [name for name in texts if _counts(texts[name]) and make.refusal(texts[name]) == "spec"]
    assert len(passed) > 15
    for name in passed:
        with pytest.raises(SpecError):
            sv.audit(texts[name])


def test_boundaries_are_reached() -> None:
    """Words on both sides of the background's end, and at the ends of the draw."""
    for vector in read("sampling")["mechanisms"]:
        m = mechanisms()[vector["name"]]
        if not isinstance(m, sv.Mechanism):
            continue
        draws = {int(word[:16], 16) >> (64 - m.window.bits) for word in vector["words"]}
        assert {0, m.window.mass - 1, m.window.mass, m.window.total - 1} <= draws
