"""The report of `sottovoce estimate --output report.html`, in words for readers without statistics."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import sottovoce as sv
from sottovoce.estimates.honesty import Honesty


def written(
    tally: sv.Tally,
    answers: Sequence[sv.Estimate],
    honest: Honesty,
    levels: Sequence[float],
    subject: str | None,
    path: Path,
) -> str:
    """The page about some answers; what people were asked about is read from the file if it is not given."""
    from sottovoce.estimates.report import report

    named = {_lay_words(answer, levels): answer for answer in answers}
    apart = ("variance", "concentration", "probability")
    return report(
        tally,
        named,
        honest,
        subject=subject or _subject(path),
        distribution=sv.distribution(tally, confidence=answers[0].confidence),
        together=[name for name, one in named.items() if not one.what.startswith(apart)],
        treated=treated(path),
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
    from sottovoce.bulk.tallies import labelled_column

    return labelled_column(path)


def treated(path: Path) -> str:
    """What became of missing values and those outside, where the file of reports says it."""
    if path.suffix.lower() == ".json":
        return ""
    from sottovoce.bulk.labels import POLICY, arrow_label
    from sottovoce.bulk.sources import Source, list_files

    first = (list_files(path) or [path])[0]  # of a folder: its files were made with the same policy
    text = arrow_label(Source(first, []).schema.metadata).get(POLICY)  # CSV says nothing
    if text is None:
        return ""
    policy = json.loads(text)
    rules = {
        "missing": {
            "uniform": "filled in by draws from the whole domain",
            "drop": "left out",
            "keep": "left out",
        },
        "outside": {"clip": "brought to the nearest end", "missing": "treated as missing"},
    }
    words = [
        f"values {kind} were {how[rule]}" for kind, how in rules.items() if (rule := policy[kind]) in how
    ]
    if isinstance(number := policy["missing"], float):
        words.insert(0, f"{number:g} stands in for missing values")
    return f"{'; '.join(words)} (how many, only who randomised them may know)" if words else ""
