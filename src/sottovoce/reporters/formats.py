"""Every wire format: a spec that anybody may have written, read with suspicion.

    from_json(text)         the reporter, refused unless its counts give the ε it claims
    claim_and_ratio(text)   the ε it claims and the ratio that its integers give, believing nothing

A spec holds resolved numbers only: nothing in it names code. The classes of a format are loaded when one is
read: a device that reports one number has no use for the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from sottovoce.errors import (
    ArgumentError,
    ArgumentTypeError,
    ContractError,
    PrivacyError,
    SpecError,
    loss_exponent,
    positive_number,
)
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.composites.item_rules import check_items, product_of_largest
from sottovoce.reporters.mechanism import Mechanism
from sottovoce.reporters.window_format import read_window
from sottovoce.wire.canonical import MIXTURE, POLAR, ROWS, SURVEY, TRANSLATES, WINDOW, read_task
from sottovoce.wire.checked_json import MAX_BYTES, as_float, as_int, as_list, check_keys, parse_json

if TYPE_CHECKING:
    from fractions import Fraction

    from sottovoce.reporters.contract import Reporter

MAX_LARGE_BYTES = 1 << 24  # 256 optimal designs of 50 KB, or a table of half a million counts


Read = TypeVar("Read")


class Format(NamedTuple):
    """How one format is read."""

    read: Callable[[Any], Reporter]
    #: The claimed ε and the counted ratio.
    claim_and_ratio: Callable[[Any], tuple[float, Fraction]]


def from_json(text: str | bytes) -> Reporter:
    """Read a spec that anybody may have written.

    Args:
        text: What `to_json` of a reporter wrote: `window/1`, `mixture/1`, `rows/1`, `translates/1`,
            `polar/1` or `survey/1`.

    Returns:
        The reporter.

    Raises:
        SpecError: If the spec is malformed or contradicts itself.
        PrivacyError: If its counts do not give the ε it claims.
    """
    return _in_spec(_read, text)


def law_of(reporter: Reporter) -> ReporterBase:
    """The exact law of whatever reports, which estimates and plans work with.

    Args:
        reporter: Of this library, or of anybody's own class: then what its spec says is its law.

    Returns:
        A reporter of this library with the same digest, and so are its items, if their formats are known.

    Raises:
        ContractError: If its spec is in no format of this library, or is another's.
    """
    ours = reporter if isinstance(reporter, ReporterBase) else None
    if ours and all(isinstance(item, ReporterBase) for item in ours.items.values()):
        return ours
    try:
        law = _law_of_spec(reporter.to_json())
    except SpecError as error:
        if ours:
            return ours
        sentence = f"only the law of a spec in one of the formats {', '.join(FORMATS)} is known: {error}"
        raise ContractError(sentence, code="format", argument="reporter") from None
    if law.digest != reporter.digest:
        sentence = (
            f"digest: that of the spec is {law.digest[:12]}…, the reporter says {reporter.digest[:12]}…"
        )
        raise ContractError(sentence, code="digest", argument="reporter")
    return law


@lru_cache(maxsize=32)
def _law_of_spec(text: str) -> ReporterBase:
    return cast(ReporterBase, from_json(text))


def claim_and_ratio(text: str | bytes) -> tuple[float, Fraction]:
    """What a spec claims and what its integers give; refused as `from_json` refuses it, but for the claim.

    Args:
        text: A spec in any format.

    Returns:
        The claimed ε, and the largest ratio of the probabilities of one report under two inputs.

    Raises:
        SpecError: If the spec is malformed or contradicts itself.
    """
    return _in_spec(_ratio_of_readable, text)


def _in_spec(read: Callable[[Any], Read], text: str | bytes) -> Read:
    """What is read of a spec; an argument that is out of its range there is the spec's fault."""
    try:
        return read(_parsed(text))
    except ArgumentError as error:
        raise SpecError(str(error), argument=error.argument) from None


def _ratio_of_readable(content: Any) -> tuple[float, Fraction]:
    claim = _claim_and_ratio(content)
    try:
        _read(content)
    except (ArgumentError, SpecError, PrivacyError) as error:
        if error.argument != "epsilon":
            raise
    return claim


def _parsed(text: str | bytes) -> Any:
    content = parse_json(text, most=MAX_LARGE_BYTES)
    large = isinstance(content, dict) and content.get("format") in (ROWS, SURVEY)
    if len(text) > MAX_BYTES and not large:
        raise SpecError(f"a spec must be at most {MAX_BYTES} bytes, got {len(text)}")
    return content


def _read(content: Any, names: tuple[str, ...] | None = None) -> Reporter:
    form = _format(content, names)
    made_for, reporter = read_task(content), form.read(_untasked(content))
    if made_for is not None and content["format"] in TASKED:
        return cast("Reporter", replace(cast(Any, reporter), made_for=made_for))
    return reporter


def _claim_and_ratio(content: Any, names: tuple[str, ...] | None = None) -> tuple[float, Fraction]:
    form = _format(content, names)
    return form.claim_and_ratio(_untasked(content))


def _untasked(content: dict[str, Any]) -> dict[str, Any]:
    """Without its task, where it may have one: a survey's questions have theirs."""
    tasks = content["format"] in TASKED
    return {key: value for key, value in content.items() if not (tasks and key == "task")}


def _format(content: Any, names: tuple[str, ...] | None = None) -> Format:
    if not isinstance(content, dict):
        raise SpecError("spec must be an object", argument="spec")
    form = content.get("format")
    allowed = tuple(FORMATS) if names is None else names
    if not isinstance(form, str) or form not in allowed:
        words = " or ".join(map(repr, allowed))
        raise SpecError(f"format must be {words}, got {json.dumps(form)[:40]}", argument="format")
    return FORMATS[form]


def _read_window(content: Any) -> Mechanism:
    return Mechanism(*read_window(content))


def _count_window(content: Any) -> tuple[float, Fraction]:
    epsilon, _, window = read_window(content)
    return epsilon, window.largest_ratio


def _read_mixture(content: Any) -> Reporter:
    from sottovoce.reporters.mixture import Mixture

    weights, parts = _coin(content)
    return Mixture(tuple(Mechanism(*part) for part in parts), tuple(weights))


def _count_mixture(content: Any) -> tuple[float, Fraction]:
    _, parts = _coin(content)
    return parts[0][0], max(window.largest_ratio for _, _, window in parts)


def _coin(content: Any) -> tuple[list[int], list[Any]]:
    from sottovoce.reporters.mixture import check_coin

    check_keys(content, {"format", "parts", "weights"}, "spec")
    weights = as_list(content["weights"], "weights", as_int)
    parts = as_list(content["parts"], "parts", lambda part, _: read_window(part))
    check_coin(weights, parts)  # before any claim is counted, as in the other clients
    return weights, parts


def _read_rows(content: Any) -> Reporter:
    from sottovoce.reporters import rows

    return rows.Rows(*rows.read(content))


def _count_rows(content: Any) -> tuple[float, Fraction]:
    from sottovoce.reporters import rows

    epsilon, _, _, table, _ = rows.read(content)
    return epsilon, rows.largest_ratio(table)


def _read_translates(content: Any) -> Reporter:
    from sottovoce.reporters import base_sets
    from sottovoce.reporters.translates import Translates

    return Translates(**base_sets.read(content))


def _count_translates(content: Any) -> tuple[float, Fraction]:
    from fractions import Fraction

    from sottovoce.reporters import base_sets

    parts = base_sets.read(content)
    return parts["epsilon"], Fraction(parts["background"] + parts["extra"], parts["background"])


def _read_survey(content: Any) -> Reporter:
    from sottovoce.reporters.composites.functions_by_lot import read_functions
    from sottovoce.reporters.composites.survey import Survey

    names, specs = _questions(content)
    questions = {name: _read(one, ITEMS) for name, one in zip(names, specs, strict=True)}
    of = read_functions(content) if "inputs" in content else None
    return Survey(content["epsilon"], questions, content["sampled"], functions=of)


def _count_survey(content: Any) -> tuple[float, Fraction]:
    _, specs = _questions(content)
    ratios = [_claim_and_ratio(one, ITEMS)[1] for one in specs]
    return content["epsilon"], product_of_largest(ratios, content["sampled"])


def _questions(content: Any) -> tuple[list[str], list[Any]]:
    more, each = ({"inputs", "weights"}, {"function", "of"}) if "inputs" in content else (set(), set())
    check_keys(content, {"epsilon", "format", "questions", "sampled"} | more, "spec")
    as_float(content["epsilon"], "epsilon")
    questions = as_list(content["questions"], "questions", lambda one, _: one)
    for one in questions:
        check_keys(one, {"name", "spec"} | each, "a question")
    names = [one["name"] for one in questions]
    check_items(names, content["sampled"])
    return names, [one["spec"] for one in questions]


def _read_polar(content: Any) -> Reporter:
    from sottovoce.reporters.composites.polar import Polar

    distance, angle = (_read_window(part) for part in _both(content))
    one, two = (positive_number(weight, "weights") for weight in content["weights"])
    try:
        loss = loss_exponent(content["loss"])
    except ArgumentTypeError as error:
        raise SpecError(str(error), argument="loss") from None
    return Polar(content["epsilon"], loss, distance, angle, (one, two))


def _count_polar(content: Any) -> tuple[float, Fraction]:
    ratios = [_count_window(part)[1] for part in _both(content)]
    return content["epsilon"], product_of_largest(ratios, 2)


def _both(content: Any) -> list[Any]:
    check_keys(content, {"epsilon", "format", "loss", "parts", "weights"}, "spec")
    as_float(content["epsilon"], "epsilon")
    as_list(content["weights"], "weights", as_float, 2)
    return as_list(content["parts"], "parts", lambda part, _: part, 2)


FORMATS = {
    WINDOW: Format(_read_window, _count_window),
    MIXTURE: Format(_read_mixture, _count_mixture),
    ROWS: Format(_read_rows, _count_rows),
    TRANSLATES: Format(_read_translates, _count_translates),
    POLAR: Format(_read_polar, _count_polar),
    SURVEY: Format(_read_survey, _count_survey),
}
#: What may say which question it was made for.
TASKED = (WINDOW, MIXTURE, ROWS)
#: What can be a question of a survey.
ITEMS = tuple(form for form in FORMATS if form != SURVEY)
