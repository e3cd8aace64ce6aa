"""A survey as an administrator writes it down: questions in words, and everything else follows.

    name = "town"
    title = "Our town"
    epsilon = 2.0

    [questions.age]
    text = "How old are you?"
    unit = "years"
    range = [0, 120]

    [questions.transport]
    text = "How do you get to work?"
    options = ["car", "bike", "train"]
    weight = 2

A question has one of `range = [low, high]` (with `log = true` for factors), `clock = true`, `circle = 360`,
`options = […]` or `radius = 10`. The other keys are those of a campaign.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sottovoce as sv
from sottovoce.collector.refusals import Refusal
from sottovoce.compose.selection import worth
from sottovoce.compose.strategies import QuestionLike
from sottovoce.core.errors import ArgumentError, real_number

_KINDS = ("range", "clock", "circle", "options", "radius")
_WORDS = ("text", "unit")
_KEYS = {*_KINDS, *_WORDS, "log", "weight"}


def read_survey(path: Path) -> dict[str, Any]:
    """The fields of a new campaign from a TOML file.

    Args:
        path: The file.

    Returns:
        What `NewCampaign.of` takes.

    Raises:
        Refusal: If the file cannot be read, or a question is none.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Refusal("invalid", f"{path}: {error}") from None
    return declared(content)


def declared(content: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a new campaign: `questions` and `epsilon` become its spec and its texts.

    Args:
        content: Fields of a campaign, with questions and ε in place of a spec.

    Returns:
        What `NewCampaign.of` takes.

    Raises:
        Refusal: If there is no question or ε, or a question is none.
    """
    rest = dict(content)
    questions, epsilon = rest.pop("questions", None), rest.pop("epsilon", None)
    survey = designed(epsilon, questions)
    texts = {
        name: {word: one[word] for word in _WORDS if word in one}
        for name, one in questions.items()
        if any(word in one for word in _WORDS)
    }
    return {**rest, "spec": survey.to_json(), "texts": texts}


def designed(epsilon: object, questions: Any) -> sv.Survey:
    """The survey that asks some questions.

    Args:
        epsilon: What one person's whole report may cost.
        questions: Tables by name, as in a file.

    Returns:
        The reporter.

    Raises:
        Refusal: If there is no question or ε, or a question is none.
    """
    if not isinstance(questions, Mapping) or not questions:
        raise Refusal("invalid", "questions must be given, each under its name", "questions")
    try:
        return sv.survey(
            real_number(epsilon, "epsilon"),
            {name: _question(name, one) for name, one in questions.items()},
            weights={name: real_number(one.get("weight", 1.0), "weight") for name, one in questions.items()},
        )
    except (ArgumentError, TypeError) as error:
        raise Refusal("invalid", str(error), getattr(error, "argument", None)) from None


def expected(survey: sv.Survey, people: int, confidence: float = 0.95) -> dict[str, float | None]:
    """What will be known: half the width of the interval of each question's mean, direction or average share.

    From the exact variances that the survey was designed by: the worst truth of a number, options that are
    chosen alike. A direction is known so well only where all people agree.

    Args:
        survey: The survey.
        people: How many answer.
        confidence: How often the intervals should hold.

    Returns:
        By question, in its units; of options a share. None of a number on a log scale, which has no mean.
    """
    from scipy.special import ndtri

    z, share = float(ndtri((1 + confidence) / 2)), float(survey.share)
    widths: dict[str, float | None] = {}
    for name, part in survey.questions.items():
        assert isinstance(part, sv.Mechanism | sv.Translates)
        domain = part.domain
        if isinstance(domain, sv.Area):
            unit = domain.x[1] - domain.x[0]
        else:
            unit = 1.0 if isinstance(domain, sv.Options) else domain.width
        log = isinstance(domain, sv.Interval) and domain.is_log
        widths[name] = None if log else z * math.sqrt(worth(part, share) / people) * unit
    return widths


def _question(name: str, one: Any) -> QuestionLike:
    """Where the answers to one question lie."""
    where = f"questions.{name}"
    if not isinstance(one, Mapping):
        raise ArgumentError(f"{where} must be a table", argument=where)
    if unknown := sorted(set(one) - _KEYS):
        raise ArgumentError(f"{where} has an unknown key {unknown[0]!r}", argument=where)
    kinds = [kind for kind in _KINDS if kind in one]
    if len(kinds) != 1:
        raise ArgumentError(f"{where} needs one of {', '.join(_KINDS)}, got {len(kinds)}", argument=where)
    [kind] = kinds
    value = one[kind]
    if kind == "options":
        return sv.Options(value)
    if kind == "range":
        if not isinstance(value, list) or len(value) != 2:
            raise ArgumentError(f"{where}.range must be [low, high]", argument=where)
        low, high = value
        return sv.Interval(low, high, scale="log" if one.get("log") else "linear")
    if kind == "radius":
        return sv.Disc(value)
    return sv.Circle(24) if kind == "clock" else sv.Circle(value)
