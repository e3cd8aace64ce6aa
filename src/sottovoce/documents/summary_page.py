"""A summary to send to somebody: one HTML file with every sentence, picture and number.

Nothing is fetched from elsewhere: the pictures are inside. It reads well on a screen, dark or light, and on
paper.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from itertools import starmap
from typing import Any

from sottovoce.errors import require_extra
from sottovoce.estimates.answer.most_common_range import reading
from sottovoce.estimates.estimate import Estimate, explained
from sottovoce.estimates.honesty import Honesty
from sottovoce.estimates.sentences import Said, numbers, shares_in_words
from sottovoce.estimates.summary import TABLE, Answer, Summary, draw_together
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.base import ReporterBase
from sottovoce.reporters.contract import described
from sottovoce.reporters.law.disclosure import disclosure, frequencies

_STYLE = """
:root { --ink: #1c2733; --soft: #5b6b7b; --paper: #fff; --line: #d5dde5; --card: #f5f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e9ef; --soft: #9fb0c0; --paper: #12181f; --line: #33414f; --card: #1b242e; } }
@media print { :root { --ink: #000; --soft: #333; --paper: #fff; --card: #fff; --line: #999; } }
body { margin: 0 auto; padding: 2rem 1.2rem 4rem; max-width: 46rem; font: 16px/1.55 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); }
h1, h2, dt, code { overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.lead, .note { color: var(--soft); }
.note, figcaption, code { font-size: .92rem; margin: .2rem 0 0; }
dl > div { margin: .7rem 0; }
dd { margin: 0; }
dt, td.value { font-weight: 600; }
@media (min-width: 40rem) { dl > div { display: grid; grid-template-columns: 11rem 1fr; gap: 1rem; } }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0;
  border-bottom: 1px solid var(--line); }
td:first-child { overflow-wrap: anywhere; min-width: 7.5rem; }
td.value { white-space: nowrap; }
.alarm { border-left: 4px solid #b3261e; padding-left: .8rem; }
details { margin: .8rem 0; }
summary { cursor: pointer; }
figure, .card { border: 1px solid var(--line); border-radius: 6px; break-inside: avoid; }
figure { margin: 1rem 0; padding: .6rem; background: #fff; color: #444; }
figure svg { width: 100%; max-height: 32rem; height: auto; display: block; }
.card { background: var(--card); padding: 0 1rem; }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body>
<h1>{title}</h1>
<p class="lead">Nobody’s own answer is in here. Every answer became one noisy report before it was looked at,
and these results come from all reports together. ε = {epsilon:g}.</p>
{sections}
<h2>What an interval says</h2>
<p>The intervals are for {whom}. Of intervals made like this, {level:.10g} in 100 hold the truth; both the
noise of the reports and the number of people are in them.</p>
<h2>What ε = {epsilon:g} means</h2>
<div class="card"><p>Whatever somebody believes about one person, seeing that person’s report changes the odds
between any two answers by a factor of at most {factor:.3g}. Somebody who knows that the answer is one of two
guesses right with the report in at most {guess:,} of {base:,} cases; without it in 50 of 100. This holds for
every single report, whoever sees it and whatever else they know, and was counted in exact integers.</p></div>
<h2>How people answered</h2>
<p>{n:,} reports about {about}{purpose}. What they were made with is public; its fingerprint is
<code>{digest}</code>. Anybody who has the spec can count ε again: <code>sottovoce audit spec.json</code>.
{treated}</p>
</body></html>
"""
_CAPTIONS = {
    "bars": "Each option with its interval.",
    "forest": "Each group with its interval.",
    "interval": "Each number with its interval.",
    "map": "Darker means more people, as far as these reports tell; do not read single spots.",
}


def page(tally: Tally, found: Summary, *, subject: str = "the value", treated: str = "") -> str:
    """Write a summary as a page.

    Args:
        tally: The counts that everything rests on.
        found: Its summary.
        subject: What people were asked about, such as the name of a column.
        treated: What was done with missing values and those outside, if that is known.

    Returns:
        An HTML page.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    require_extra("analysis", "a page", "matplotlib")
    law = tally.law
    guess, base = frequencies(disclosure(law).guess, round=math.ceil)
    estimands = {number.estimand for one in found for number in one.numbers.values()}
    return _PAGE.format(
        style=_STYLE,
        title=escape(f"What {tally.n:,} people reported about {subject}"),
        epsilon=law.epsilon,
        sections="\n".join(starmap(_section, sections(tally, found))),
        whom="those who answered" if "respondents" in estimands else "everybody these people stand for",
        level=100 * found.confidence,
        factor=math.exp(law.epsilon),
        guess=guess,
        base=base,
        n=tally.n,
        about=escape(described(law)),
        purpose=f", made for the question “{escape(law.made_for)}”" if law.made_for else "",
        digest=tally.digest,
        treated=f"{_capital(treated)}." if treated else "",
    )


def sections(tally: Tally, found: Summary) -> Iterator[tuple[str, Tally, Summary]]:
    """The parts of a summary: of each item its name, tally and answers; last, those about several."""
    whole = "All together" if len(found.items) > 1 else ""
    for item in sorted(found.items, key=lambda name: not name):
        answers = tuple(one for one in found if one.question.item == item)
        yield item or whole, tally[item] if item else tally, replace(found, answers=answers)


def _section(name: str, tally: Tally, answers: Summary) -> str:
    said, cells = "", ""
    about: dict[str, list[str]] = {}  # every note and method once, with the answers that it is about
    for one in answers:
        alarm = ' class="alarm"' if isinstance(one.estimate, Honesty) and one.estimate.alarm else ""
        said += f"<div{alarm}><dt>{_capital(one.label)}</dt><dd>{_capital(one.said)}</dd></div>"
        for of, number in one.numbers.items():
            what = _capital(of if of == one.label else f"{one.label}, {of}")
            value, low, high = _texts(one, number, tally.law)
            cells += f'<tr><td>{what}</td><td class="value">{value}</td><td>{low} and {high}</td></tr>'
        methods = dict.fromkeys(number.method for number in one.numbers.values())
        for sentence in (*one.notes, *(f"{method}: {explained(method)}" for method in methods)):
            about.setdefault(sentence, []).append(one.label)
    notes = (_capital(f"{', '.join(labels)}: {sentence}.") for sentence, labels in about.items())
    text = "".join(f'<p class="note">{note}</p>' for note in notes)
    level = f"Between, with {100 * answers.confidence:.10g} % confidence"
    table = f"<table><tr><th></th><th>Value</th><th>{level}</th></tr>{cells}</table>" if cells else ""
    details = f"<details><summary>How these numbers were computed</summary>{text}</details>" if about else ""
    head = f"<h2>{escape(name or 'Answers')}</h2>"
    head += f'<p class="note">{tally.n:,} people, {escape(described(tally.law))}.</p>'
    return f"{head}<dl>{said}</dl>{''.join(map(_figure, answers.drawn))}{table}{details}"


def _texts(answer: Answer, estimate: Estimate, law: ReporterBase) -> list[str]:
    """A number and its limits as people write them."""
    said = TABLE[answer.question.name].said
    if isinstance(said, Said):
        return said.texts(estimate, law)
    write = shares_in_words if answer.picture == "bars" else numbers
    return write(estimate.value, estimate.low, estimate.high)


def _figure(several: Sequence[Answer]) -> str:
    """A picture inside the page, as text that scales."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    first, text = several[0], io.StringIO()
    spread = first.picture in ("ribbon", "rose")
    caption = reading(first.estimate.shaped) if spread else _CAPTIONS[first.picture]
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": first.label, "font.family": "sans-serif"}):
        figure: Any = draw_together(several).figure
        figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
    picture = re.sub(r"^.*?(?=<svg)", "", text.getvalue(), flags=re.DOTALL)
    picture = picture.replace("<svg", f'<svg role="img" aria-label="{escape(first.label)}"', 1)
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"


def _capital(text: object) -> str:
    words = str(text)
    return escape(words[:1].upper() + words[1:])
