"""What `sottovoce estimate` prints and writes, whatever was asked, and what it asks of choices and pairs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

import sottovoce as sv
from sottovoce.core.survey import Survey
from sottovoce.estimates.estimate import explained
from sottovoce.estimates.honesty import Honesty

Writers = Mapping[str, Callable[[Path], object]]


def tell(
    tally: sv.Tally,
    answers: Sequence[sv.Estimate],
    subject: str,
    *,
    data: Path,
    as_json: bool,
    output: Path | None,
    writers: Writers,
    honest: Honesty | None = None,
) -> None:
    """Print answers with what they rest on, or as JSON, and write what the file's ending asks for.

    Args:
        tally: What they were estimated from.
        answers: The answers.
        subject: What the reports are of, for the first line.
        data: The file of reports, which says what became of missing values.
        as_json: Whether to print JSON.
        output: Where to write, if anywhere.
        writers: What writes a file, by its ending; .json is written anyway.
        honest: Whether the reports look honest, where that was looked at.
    """
    content: dict[str, Any] = {
        "n": tally.n,
        "epsilon": tally.reporter.epsilon,
        "digest": tally.digest,
        "estimates": [answer.to_dict() for answer in answers],
        "treated": treated(data),
    }
    if honest is not None:
        names = ("alarm", "p_value", "fabricated")
        content["honesty"] = {name: getattr(honest, name) for name in names}
    text = json.dumps(content, allow_nan=False)
    if output is not None:
        possible: Writers = {".json": lambda path: path.write_text(text), **writers}
        if (suffix := output.suffix.lower()) not in possible:
            raise ValueError(f"--output: these answers are written as {', '.join(possible)}, got {suffix}")
        possible[suffix](output)
    if as_json:
        typer.echo(text)
        return
    typer.echo(f"{tally.n} reports, ε = {tally.reporter.epsilon:g}, {subject} {tally.digest[:12]}")
    for answer in answers:
        typer.echo(str(answer))
    for method in dict.fromkeys(part for answer in answers for part in answer.method.split(", ")):
        if explained(method):
            typer.echo(f"({method}: {explained(method)})")
    for line in (content["treated"], str(honest or ""), f"wrote {output}" if output else ""):
        if line:
            typer.echo(line)


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
    from sottovoce.bulk.sources import POLICY, Source, arrow_label, list_files

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
