"""Every client on the same broken and whole specs: a seeded part of what benchmarks/client_fuzz.py runs."""

from __future__ import annotations

from typing import Any

from tests.clients.fuzz import fuzz

from sottovoce.auditing.clients import Client

NODE = "node clients/js/tests/check.js"


def test_same_cell_or_same_refusal(classes: str) -> None:
    commands = {"js": NODE, "js, many": f"{NODE} --many", "java": f"java -cp {classes} sottovoce.Check"}
    clients = {name: Client(command) for name, command in commands.items()}
    outcome = fuzz(clients, specs=250, each=40, seed=23)
    for client in clients.values():
        client.close()
    assert outcome.wrong == []
    assert outcome.triples > 3000
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
