"""Every client on the same broken and whole specs: a seeded part of what benchmarks/client_fuzz.py runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.clients.fuzz import fuzz

import sottovoce as sv
from sottovoce.auditing.client_vectors import Client
from sottovoce.designs.optimal import most_epsilon
from sottovoce.errors import MAX_EPSILON, loss_exponent

NODE = "node clients/js/tests/check.js"
CIRCLE = sv.Circle(24)
#: Every question, with what it needs.
QUESTIONS: list[tuple[str, Any, dict[str, Any]]] = [
    ("mean", (0, 24), {}), ("quantile", (0, 24), {"p": 0.9}), ("distribution", (0, 24), {}),
    ("probability", (0, 24), {"between": (3, 7)}), ("value", (0, 24), {}), ("value", (0, 24), {"loss": "l1"}),
    ("direction", CIRCLE, {}), ("distribution", CIRCLE, {}), ("value", CIRCLE, {}),
    ("probability", CIRCLE, {"between": (22, 3)}), ("mean", sv.Interval(1, 1e6, scale="log"), {}),
    ("choice", ["car", "bike", "train"], {}), ("choices", ["car", "bike", "train"], {}),
    ("place", ((0, 4), (-1, 0)), {}), ("pair", [(0, 120), (0, 3)], {}), ("group", (["a", "b"], (0, 3)), {}),
]  # fmt: skip


@pytest.fixture
def clients(classes: str) -> Iterator[dict[str, Client]]:
    commands = {"js": NODE, "js, many": f"{NODE} --many", "java": f"java -cp {classes} sottovoce.Check"}
    started = {name: Client(command) for name, command in commands.items()}
    yield started
    for client in started.values():
        client.close()


def largest(task: str, domain: Any, *, loss: str | float = "l2", **_: Any) -> float:
    """The largest ε that there is a design for."""
    certified = task in ("mean", "value") and not isinstance(domain, sv.Circle)
    return most_epsilon(loss_exponent(loss)) if certified else MAX_EPSILON


def test_every_design_of_every_question_is_read(clients: dict[str, Client]) -> None:
    texts = [
        sv.design(task, e, domain, **more).to_json()
        for task, domain, more in QUESTIONS
        for e in (0.001, 0.1, 1.0, 3.0, 6.0, largest(task, domain, **more))
    ]
    for text in texts:
        question = {"do": "report", "spec": text, "values": [], "words": []}
        digests = {name: client.ask(question).get("digest") for name, client in clients.items()}
        assert digests == dict.fromkeys(clients, sv.from_json(text).digest), text[:200]


def test_same_cell_or_same_refusal(clients: dict[str, Client]) -> None:
    outcome = fuzz(clients, specs=250, each=1000, seed=23)
    assert outcome.wrong == []
    assert outcome.triples >= 100_000
    assert 50 < outcome.refused < 200


class Careless(Client):
    """A client that draws every hundredth cell one too high, and believes what a spec claims."""

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        answer = super().ask(question)
        if answer.get("error") == "privacy":
            return {"reports": []}
        for report in answer.get("reports", [])[::100]:
            if report is not None:
                report[0] += 1
        return answer


def test_a_careless_client_is_noticed() -> None:
    client = Careless(NODE)
    outcome = fuzz({"careless": client}, specs=1000, each=5, seed=23)
    client.close()
    assert any("not privacy" in sentence for sentence in outcome.wrong)
    assert any(", at 0 for" in sentence for sentence in outcome.wrong)
