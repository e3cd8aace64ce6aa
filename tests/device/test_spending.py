"""Spending is enforced where people are: one budget over all collectors, one spelling, no way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.vectors import ledger as vectors

import sottovoce as sv
from sottovoce.device.address import Origin
from sottovoce.device.ledger import LEDGER
from sottovoce.storage.journal import Head, Journal

VECTORS = json.loads((Path(vectors.__file__).parent / "ledger.json").read_text())


def play(story: dict[str, Any], folder: Path) -> list[tuple[Any, Any]]:
    """(what it gives, what is expected) for every step, with the words of the step and no others."""
    player, pairs = vectors.Player(folder, story["budget"]), []
    for step in story["steps"]:
        source = vectors.Given(step["words"])
        gives = player.play(step, VECTORS["specs"], source)
        pairs.append((gives, step["expected"]))
        assert source.taken == step["words"]
    return pairs


def story(name: str) -> dict[str, Any]:
    return next(story for story in VECTORS["ledgers"] if story["name"] == name)


@pytest.mark.attack("M7", "refused")
@pytest.mark.parametrize("name", [story["name"] for story in VECTORS["ledgers"]])
def test_a_ledger_step_by_step(name: str, tmp_path: Path) -> None:
    for gives, expected in play(story(name), tmp_path):
        assert gives == expected


@pytest.mark.attack("M7", "succeeds")
def test_a_ledger_that_lags_one_entry_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: a program knew an entry of its own only when it read the file again."""
    monkeypatch.setattr(Journal, "_remember", lambda self, head: None)
    for name in ("an older copy under a running ledger", "an acknowledgement taken back"):
        folder = tmp_path / name
        folder.mkdir()
        gives, expected = zip(*play_anyway(story(name), folder), strict=True)
        assert {"error": "older"} in expected
        assert {"error": "older"} not in gives


def play_anyway(story: dict[str, Any], folder: Path) -> list[tuple[Any, Any]]:
    player, source = vectors.Player(folder, story["budget"]), vectors.Counter()
    return [(player.play(step, VECTORS["specs"], source), step["expected"]) for step in story["steps"]]


def test_an_address_has_one_spelling() -> None:
    for case in VECTORS["origins"]:
        assert vectors.spelling(case["url"]) == case["origin"], case["url"]
        if case["origin"] is not None:  # it is a spelling itself
            assert str(Origin.parse(case["origin"])) == case["origin"]
    for case in VECTORS["accounts"]:
        assert Origin.parse(case["url"]).campaign(case["campaign"]) == case["account"]


def test_an_address_with_a_password_is_not_repeated() -> None:
    with pytest.raises(ValueError, match="url must be like") as caught:
        sv.Client("https://me:geheim@collector.example", "a", epsilon=1.0)
    assert "geheim" not in str(caught.value)


def test_seals() -> None:
    head = Head.first(LEDGER)
    assert head.seal == VECTORS["seals"]["first"]
    for entry in VECTORS["seals"]["entries"]:
        head = head.then(entry["body"])
        assert head.seal == entry["seal"]
