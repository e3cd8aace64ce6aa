"""Everything that is shown about a tally, as JSON; what cannot be estimated is null and says why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.collector import logs
from sottovoce.estimates.tally import Tally

#: An answer that estimates nothing: what is shown below a campaign's minimum.
NOTHING: dict[str, Any] = {
    "mean": None,
    "circular_mean": None,
    "quantiles": [],
    "distribution": None,
    "honesty": None,
    "problems": {},
}


@dataclass(frozen=True)
class Question:
    """What is asked about a campaign."""

    confidence: float = 0.95
    quantiles: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 0.9)
    bins: int = 64


def answer(tally: Tally, question: Question) -> dict[str, Any]:
    """Mean or mean direction, quantiles, distribution and the honesty check, each with its uncertainty."""
    content: dict[str, Any] = {**NOTHING, "problems": {}}
    level = question.confidence

    def attempt(name: str, make: Callable[[], Any]) -> None:
        try:
            content[name] = make()
        except ValueError as error:
            content["problems"][name] = str(error)
        except Exception:
            logs.logger.exception("estimate_failed")
            content["problems"][name] = "it could not be computed"

    if tally.mechanism.domain.is_circle:
        attempt("circular_mean", lambda: _interval(sv.circular_mean(tally, confidence=level)))
    else:
        attempt("mean", lambda: _interval(sv.mean(tally, confidence=level)))
        attempt("quantiles", lambda: _quantiles(tally, question.quantiles, level))
    attempt("distribution", lambda: _distribution(tally, question))
    attempt("honesty", lambda: _honesty(tally))
    return content


def _quantiles(tally: Tally, wanted: tuple[float, ...], level: float) -> list[dict[str, Any]]:
    if not wanted:
        return []
    found = sv.quantile(tally, wanted, confidence=level)
    return [{"q": q, **_interval(estimate)} for q, estimate in zip(wanted, found, strict=True)]


def _interval(result: Any) -> dict[str, Any]:
    return {name: _number(getattr(result, name)) for name in ("value", "low", "high")}


def _number(value: Any) -> float | None:
    """JSON has no infinity: an open end is null."""
    number = float(value)
    return number if np.isfinite(number) else None


def _distribution(tally: Tally, question: Question) -> dict[str, Any]:
    found = sv.distribution(tally, bins=question.bins, confidence=question.confidence)
    names = ("edges", "probabilities", "low", "high")
    return {name: np.asarray(getattr(found, name), dtype=float).tolist() for name in names}


def _honesty(tally: Tally) -> dict[str, Any]:
    found = sv.honesty(tally)
    return {"alarm": bool(found.alarm), "p_value": _number(found.p_value), "message": str(found)}
