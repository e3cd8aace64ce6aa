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
`options = […]` or `radius = 10`. `relations = [["age", "commute"]]`, before the questions, asks how two
numbers vary together. The other keys are those of a campaign.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sottovoce as sv
from sottovoce.collector.refusals import Refusal
from sottovoce.errors import ArgumentError, real_number
from sottovoce.estimates.limits.weighted_counts import normal_quantile
from sottovoce.reporters.contract import described
from sottovoce.reporters.law.moments import resultant
from sottovoce.surveys.item_worth import even_spread_of, worth
from sottovoce.surveys.survey import ItemLike

_AGREEMENT = math.exp(-((2 * math.pi / 8) ** 2) / 2)  # length of the mean of e^{iθ} for an eighth of a turn
_SQUARES = 1 / 15 - 1 / 36  # variance of ((p + q)/2)² of two numbers spread evenly from −1 to 1
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
    except RecursionError:
        raise Refusal("invalid", f"{path}: nested too deeply") from None
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
    questions, epsilon, relations = (rest.pop(key, None) for key in ("questions", "epsilon", "relations"))
    survey = designed(epsilon, questions, relations)
    texts = {
        name: {word: one[word] for word in _WORDS if word in one}
        for name, one in questions.items()
        if any(word in one for word in _WORDS)
    }
    return {**rest, "spec": survey.to_json(), "texts": texts}


def designed(epsilon: object, questions: Any, relations: Any = None) -> sv.Survey:
    """The survey that asks some questions.

    Args:
        epsilon: What one person's whole report may cost.
        questions: Tables by name, as in a file.
        relations: Lists of two names each, of numbers whose relation is wanted.

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
            relations=_pairs(relations or []),
        )
    except (ArgumentError, TypeError) as error:
        argument = getattr(error, "argument", None)
        raise Refusal("invalid", str(error), "questions" if argument == "items" else argument) from None


def expected(survey: sv.Survey, people: int, confidence: float = 0.95) -> dict[str, float | None]:
    """What will be known: half the width of the interval of each question's mean, direction or average share.

    From the exact variances that the survey was designed by, and how much people differ themselves: the worst
    truth of a number, options that are chosen alike, places everywhere alike. Directions are assumed to
    spread like a normal distribution with an eighth of a turn as standard deviation (on a clock 3 hours),
    and numbers whose correlation is asked evenly.

    Args:
        survey: The survey.
        people: How many answer.
        confidence: How often the intervals should hold.

    Returns:
        By question, in its units; of options a share. None of a number on a log scale, which has no mean.
        Of a relation the correlation, under "x and y".

    Raises:
        ArgumentError: If a question has a mechanism that surveys are not designed with.
    """
    z = normal_quantile((1 - confidence) / 2)
    each = [(None, ())] * len(survey.items) if survey.functions is None else survey.functions.each
    widths: dict[str, float | None] = {}
    products: dict[str, float] = {}
    for (name, part), share, (function, of) in zip(survey.items.items(), survey.shares, each, strict=True):
        if not isinstance(part, sv.Mechanism | sv.Translates):
            raise _undesigned(part)
        if function in ("sum", "difference"):  # of numbers from −1 to 1 their difference is the mean product
            both = " and ".join(of)
            products[both] = products.get(both, 0.0) + (worth(part) + _SQUARES) / share
        elif function in (None, "value"):
            widths[name] = _half_width(part, share, z / math.sqrt(people))
    return widths | {both: z * 3 * math.sqrt(variance / people) for both, variance in products.items()}


def _half_width(part: sv.Mechanism | sv.Translates, share: float, factor: float) -> float | None:
    domain = part.domain
    if isinstance(domain, sv.Options):
        alike = 1 / len(domain)
        return factor * math.sqrt(worth(part, share) + alike * (1 - alike))
    if isinstance(domain, sv.Area):
        spread = even_spread_of(domain)
        return factor * math.sqrt(worth(part, share) + spread) * (domain.x[1] - domain.x[0])
    if isinstance(part, sv.Translates):
        raise _undesigned(part)
    if isinstance(domain, sv.Interval):
        return None if domain.is_log else factor * math.sqrt(worth(part, share)) * domain.width
    across = 1 / (resultant(part) * math.sqrt(2 * share))  # noise to either side, of two coordinates one
    return factor * across / _AGREEMENT * domain.width / (2 * math.pi)


def _undesigned(part: sv.Reporter) -> ArgumentError:
    sentence = f"survey must be one that `sottovoce.survey` designs, one of its items is of {described(part)}"
    return ArgumentError(sentence, code="kind", argument="survey")


def _pairs(relations: Any) -> list[tuple[str, str]]:
    """Names two by two."""
    if not isinstance(relations, list) or any(
        not isinstance(one, list) or len(one) != 2 for one in relations
    ):
        raise ArgumentError("relations must be lists of two names each", argument="relations")
    return [(str(x), str(y)) for x, y in relations]


def _question(name: str, one: Any) -> ItemLike:
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
