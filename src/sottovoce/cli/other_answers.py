"""What `sottovoce estimate` asks of choices, pairs, private groups and places, and the page it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sottovoce as sv
from sottovoce.cli import PICTURES, save_picture
from sottovoce.estimates.honesty import Honesty
from sottovoce.reporters.composites.survey import Survey


def of_kind(tally: sv.Tally, confidence: float) -> list[sv.Estimate]:
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
            getattr(one.domain, "names", None) == (0, 1) for one in reporter.items.values()
        )
        if not flags and not isinstance(reporter.domain, sv.Options):
            return []
        shares = sv.shares(tally, **of)
        return [*shares.estimates, *([] if shares.mean is None else [shares.mean])]
    if functions.each[-1].name == "level":
        return [one for group in sv.groups(tally, **of).values() for one in (group.share, group.mean)]
    both = [one.of for one in functions.each if one.name == "sum"]
    return [ask(tally, x, y, **of) for x, y in both for ask in (sv.correlation, sv.slope, sv.covariance)]


def of_places(
    tally: sv.Tally, confidence: float
) -> tuple[list[sv.Estimate], dict[str, Callable[[Path], object]]]:
    """The mean position, and what draws and writes the map."""
    writers: dict[str, Callable[[Path], object]] = {
        **dict.fromkeys(PICTURES, lambda path: save_picture(path, sv.heatmap(tally).plot)),
        ".geojson": lambda path: sv.heatmap(tally).to_geojson(path),
    }
    return list(sv.mean_position(tally, confidence=confidence)), writers


def written(
    tally: sv.Tally,
    answers: Sequence[sv.Estimate],
    honest: Honesty,
    levels: Sequence[float],
    subject: str | None,
    path: Path,
    treated: str,
) -> str:
    """The page about some answers; what people were asked about is read from the file if it is not given."""
    from sottovoce.documents.results_page import summary

    named = {_lay_words(answer, levels): answer for answer in answers}
    apart = ("variance", "concentration", "probability")
    return summary(
        tally,
        named,
        honest,
        subject=subject or _subject(path),
        distribution=sv.distribution(tally, confidence=answers[0].confidence),
        together=[name for name, one in named.items() if not one.what.startswith(apart)],
        treated=treated,
    )


def _lay_words(answer: sv.Estimate, levels: Sequence[float]) -> str:
    """What an answer says, for a reader who knows no statistics."""
    words = {f"{p:.12g}-quantile": "half" if p == 0.5 else f"{100 * p:.10g} %" for p in levels}
    share = words.get(answer.what)
    return answer.what if share is None else f"{share} of the people are below"


def _subject(path: Path) -> str:
    """What people were asked about: the only column of reports, or the file's name."""
    if path.suffix.lower() == ".json":
        return path.stem
    from sottovoce.bulk.count import labelled_column

    return labelled_column(path)
