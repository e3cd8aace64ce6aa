"""A summary to send to somebody: one HTML file with every number, its interval and what it means.

Nothing is fetched from elsewhere: the pictures are inside. It reads well on a screen, dark or light, and on
paper.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Collection, Mapping
from html import escape
from typing import Any

from sottovoce.errors import require_extra
from sottovoce.estimates.answer.most_common_range import reading
from sottovoce.estimates.distribution import Distribution
from sottovoce.estimates.estimate import Estimate, explained, rounded
from sottovoce.estimates.honesty import Honesty
from sottovoce.estimates.tally import Tally
from sottovoce.plots.forest_plot import draw_forest
from sottovoce.reporters.law.disclosure import disclosure, frequencies

_STYLE = """
:root { --ink: #1c2733; --soft: #5b6b7b; --paper: #fff; --line: #d5dde5; --card: #f5f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e9ef; --soft: #9fb0c0; --paper: #12181f; --line: #33414f; --card: #1b242e; }
}
@media print { :root { --ink: #000; --soft: #333; --paper: #fff; --card: #fff; --line: #999; } }
body { margin: 0 auto; padding: 2rem 1.2rem 4rem; max-width: 46rem; font: 16px/1.55 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.lead, .note { color: var(--soft); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .45rem .8rem .45rem 0;
  border-bottom: 1px solid var(--line); }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
td.value { font-weight: 600; }
.note { font-size: .92rem; margin: .2rem 0 0; }
.alarm { border-left: 4px solid #b3261e; padding-left: .8rem; }
figure { margin: 1rem 0; padding: .6rem; background: #fff; border: 1px solid var(--line); border-radius: 6px;
  break-inside: avoid; }
figcaption { color: #444; font-size: .92rem; }
figure svg { width: 100%; height: auto; display: block; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .2rem 1rem .8rem;
  break-inside: avoid; }
code { font-size: .9em; overflow-wrap: anywhere; }
""".strip()


def summary(
    tally: Tally,
    answers: Mapping[str, Estimate],
    honesty: Honesty,
    *,
    subject: str = "the value",
    distribution: Distribution | None = None,
    together: Collection[str] = (),
    treated: str = "",
) -> str:
    """Write the summary of one question.

    Args:
        tally: The counts that everything rests on.
        answers: What is asked, in words, and its estimate, the most important first.
        honesty: Whether the reports can be what they should be.
        subject: What people were asked about, such as the name of a column.
        distribution: The reconstruction, for a picture.
        together: The names of answers in one unit, which are drawn one below the other.
        treated: What was done with missing values and those outside, if that is known.

    Returns:
        An HTML page.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    require_extra("analysis", "a summary", "matplotlib")
    pictures = []
    if distribution is not None:
        pictures = [
            _figure(distribution.plot, "The distribution that the reports suggest"),
            f"<p>{escape(distribution.sentence)}</p>",
            f'<p class="note">{escape(reading(distribution.shaped))}</p>',
        ]
    named = {name: one for name, one in answers.items() if name in together}
    if len(named) > 1:
        pictures.append(_figure(lambda: _all(named), "Each answer with its interval"))
    epsilon = tally.reporter.epsilon
    level = 100 * next(iter(answers.values())).confidence
    title = f"What {tally.n:,} people reported about {subject}"
    rows = "".join(_row(name, answer) for name, answer in answers.items())
    trust = (
        f'<p class="alarm">{escape(str(honesty))}.</p>' if honesty.alarm else f"<p>{_capital(honesty)}.</p>"
    )
    parts = (
        f"<h1>{escape(title)}</h1>",
        '<p class="lead">Nobody’s own number is in here. Every number became one noisy report before it was '
        f"looked at, and these answers come from all reports together. ε = {epsilon:g}.</p>",
        "<h2>Answers</h2>",
        f"<table><tr><th>What</th><th>Value</th><th>{level:.10g} % interval</th></tr>{rows}</table>",
        _explanations(answers),
        *pictures,
        f'<h2>What ε = {epsilon:g} means</h2><div class="card">{_privacy(tally)}</div>',
        f"<h2>How people answered</h2>{_mechanism(tally)}",
        f"<p>{_capital(treated)}.</p>" if treated else "",
        trust,
    )
    head = f"<title>{escape(title)}</title><style>{_STYLE}</style>"
    view = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    return f'<!doctype html>\n<html lang="en"><head>{view}{head}</head><body>{"".join(parts)}</body></html>\n'


def _row(name: str, answer: Estimate) -> str:
    value, low, high = rounded(answer.value, answer.low, answer.high)
    return (
        f'<tr><td>{_capital(name)}</td><td class="number value">{value}</td>'
        f'<td class="number">{low} to {high}</td></tr>'
    )


def _explanations(answers: Mapping[str, Estimate]) -> str:
    """What the intervals are, and every method and note once, with the answers that it is about."""
    first = next(iter(answers.values()))
    who = "everybody these people stand for" if first.estimand == "population" else "those who answered"
    intervals = (
        f"The intervals are for {who}. Of intervals made like this, {100 * first.confidence:.10g} in 100 "
        "hold the truth; both the noise of the reports and the number of people are in them."
    )
    about: dict[str, list[str]] = {}
    for name, answer in answers.items():
        for sentence in (*answer.advice(), *answer.notes, f"{answer.method}: {explained(answer.method)}"):
            about.setdefault(sentence, []).append(name)
    everybody = len(answers)
    lines = [
        _capital(sentence if len(names) == everybody else f"{', '.join(names)}: {sentence}")
        for sentence, names in about.items()
    ]
    return "".join(f'<p class="note">{line}</p>' for line in (intervals, *(f"{line}." for line in lines)))


def _all(named: Mapping[str, Estimate]) -> Any:
    axes = draw_forest(list(named), list(named.values()), "", None)
    axes.set_xlabel("value")
    return axes


def _privacy(tally: Tally) -> str:
    factor = math.exp(tally.reporter.epsilon)
    guess, base = frequencies(disclosure(tally.reporter).guess, round=math.ceil)
    return (
        "<p>Whatever somebody believes about one person, seeing that person’s report changes the odds "
        f"between any two values by a factor of at most {factor:.3g}. Somebody who knows that the value is "
        f"one of two guesses right with the report in at most {guess:,} of {base:,} cases; without it in 50 "
        "of 100. This holds for every single report, whoever sees it and whatever else they know, and was "
        "counted in exact integers.</p>"
        f"<p>{tally.reporter.cells:,} different reports are possible, and every one of them can come from "
        "every value.</p>"
    )


def _mechanism(tally: Tally) -> str:
    reporter: Any = tally.reporter
    made_for = getattr(reporter, "made_for", None)
    purpose = f", made for the question “{made_for}”" if made_for else ""
    return (
        f"<p>{tally.n:,} reports of the mechanism {escape(reporter.name)}{purpose}, for values in "
        f"{escape(str(reporter.domain))}. Its numbers are public; their fingerprint is "
        f"<code>{reporter.digest}</code>. Anybody who has the spec can count ε again: "
        "<code>sottovoce audit spec.json</code>.</p>"
    )


def _figure(draw: Callable[[], Any], caption: str) -> str:
    """A picture inside the page, as text that scales."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    text = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": caption, "font.family": "sans-serif"}):
        axes = draw()
        axes.figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(axes.figure)
    picture = re.sub(r"^.*?(?=<svg)", "", text.getvalue(), flags=re.DOTALL)
    picture = picture.replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1)
    return f"<figure>{picture}<figcaption>{escape(caption)}.</figcaption></figure>"


def _capital(text: object) -> str:
    words = str(text)
    return escape(words[:1].upper() + words[1:])
