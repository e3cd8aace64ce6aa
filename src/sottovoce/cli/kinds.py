"""Answers about what is not one number: choices, pairs, and a number within private groups."""

from __future__ import annotations

from typing import Any

import sottovoce as sv
from sottovoce.core.survey import Survey


def estimates(tally: sv.Tally, confidence: float) -> list[sv.Estimate]:
    """All that is known about choices, pairs or private groups; nothing of other reports.

    Args:
        tally: Counts of reports.
        confidence: Of every interval.

    Returns:
        Shares; correlations, slopes and covariances; or shares and means by group.
    """
    reporter: Any = tally.reporter
    of = {"confidence": confidence}
    functions = reporter.functions if isinstance(reporter, Survey) else None
    if functions is None:
        flags = isinstance(reporter, Survey) and all(
            getattr(one.domain, "names", None) == (0, 1) for one in reporter.questions.values()
        )
        if not flags and not isinstance(reporter.domain, sv.Options):
            return []
        shares = sv.shares(tally, **of)
        return [*shares.estimates, *([] if shares.mean is None else [shares.mean])]
    if functions.each[-1].name == "level":
        return [one for group in sv.groups(tally, **of).values() for one in (group.share, group.mean)]
    both = [one.of for one in functions.each if one.name == "sum"]
    return [ask(tally, x, y, **of) for x, y in both for ask in (sv.correlation, sv.slope, sv.covariance)]


def reporter(epsilon: float, options: str | None, pair: list[str] | None) -> Any:
    """What --options or --pair names, or None.

    Args:
        epsilon: Privacy parameter ε.
        options: Options between commas; whole numbers are ratings.
        pair: NAME=LOW:HIGH of each number.

    Returns:
        A choice or a pair.

    Raises:
        ValueError: If they are not written so.
    """
    if options is not None and pair:
        raise ValueError("give either --options or --pair, not both")
    if options is not None:
        return sv.choice(epsilon, options_in(options))
    return sv.pair(epsilon, domains_in(pair)) if pair else None


def options_in(text: str) -> list[str] | list[int]:
    """Options between commas; whole numbers are ratings."""
    names = [name.strip() for name in text.split(",")]
    whole = all(name.removeprefix("-").isdigit() for name in names)
    return [int(name) for name in names] if whole else names


def domains_in(pair: list[str]) -> dict[str, tuple[float, float]]:
    """The intervals of numbers, written NAME=LOW:HIGH each.

    Raises:
        ValueError: If they are not written so.
    """
    domains = {}
    for text in pair:
        name, equals, ends = text.rpartition("=")
        low, colon, high = ends.partition(":")
        try:
            domains[name] = (float(low), float(high))
        except ValueError:
            equals = ""
        if not (name and equals and colon):
            raise ValueError(f"--pair must be NAME=LOW:HIGH, got {text}")
    return domains
