"""What a collector's results say, as tests read it."""

from __future__ import annotations

from typing import Any

import sottovoce as sv


def answer(content: dict[str, Any], question: str, item: str = "", p: float | None = None) -> dict[str, Any]:
    """The one answer to a question; of a quantile to the one about p."""
    asked = [one for one in content["answers"] if (one["question"], one["item"]) == (question, item)]
    [found] = [one for one in asked if p in (None, one["p"])]
    return found


def number(content: dict[str, Any], question: str, item: str = "", p: float | None = None) -> dict[str, Any]:
    """The one number of an answer."""
    [found] = answer(content, question, item, p)["numbers"]
    return found


def asked(content: dict[str, Any], item: str = "") -> list[str]:
    """What is answered of an item, each question once."""
    return list(dict.fromkeys(one["question"] for one in content["answers"] if one["item"] == item))


def as_shown(estimate: sv.Estimate, of: str) -> dict[str, Any]:
    """An estimate as a number of an answer."""
    return {"of": of, "value": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n}


def notes(estimate: sv.Estimate) -> list[str]:
    """What is said about an estimate."""
    return [*estimate.advice(), *estimate.notes]


def problems(content: dict[str, Any]) -> dict[str, str]:
    """Why there is no answer, by question."""
    return {one["question"]: one["problem"] for one in content["answers"] if one["problem"]}
