"""One HTML page of everything that was regenerated, with its pictures inside."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

from papers.findings import Finding, Run, Verdict
from papers.registry import PAPERS, Entry

_MARK = {Verdict.REPRODUCED: "yes", Verdict.CORRECTED: "fixed", Verdict.FAILED: "no", Verdict.OURS: "ours"}

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
body { color: #1a1a1a }
h2 { margin-top: 3rem; border-bottom: 2px solid #1a1a1a } h3 { margin-top: 2.2rem }
table { border-collapse: collapse; width: 100%; font-size: 14px } img { max-width: 100%; margin: .6rem 0 }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ccc }
.yes { color: #00603f } .fixed { color: #004f7c } .no { color: #9a3800 } .ours { color: #555 }
td:nth-child(4) { font-weight: 600; white-space: nowrap } .note { color: #444 } nav a { margin-right: .8rem }
.wrap { overflow-x: auto }
"""


def write_report(folder: Path, run: Run, found: Sequence[tuple[Entry, Sequence[Finding]]]) -> Path:
    """report.html in the folder."""
    data = "MotionSense" if run.motionsense else "a synthetic stand-in for MotionSense"
    size = "quick" if run.quick else "full"
    counts = Counter(finding.verdict for _, findings in found for finding in findings)
    tally = " · ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>The papers, regenerated</title><style>{_STYLE}</style>",
        "<h1>The papers, regenerated</h1>",
        f"<p>A {size} run, seed {run.seed}, on {data}. {escape(tally)}.</p>",
        "<nav>" + "".join(f"<a href='#{paper}'>{paper}</a>" for paper in PAPERS) + "</nav>",
    ]
    last = ""
    for one, findings in found:
        if one.paper != last:
            parts.append(f"<h2 id={one.paper}>{escape(PAPERS[one.paper])}</h2>")
            last = one.paper
        parts.append(_section(folder, one, findings))
    path = folder / "report.html"
    path.write_text("\n".join(parts) + "\n", "utf-8")
    return path


def _section(folder: Path, one: Entry, findings: Sequence[Finding]) -> str:
    files = json.loads((folder / f"{one.key}.json").read_text("utf-8"))["files"]
    rows = "".join(
        f"<tr><td>{escape(f.claim)}<td>{escape(f.paper)}<td>{escape(f.ours)}"
        f"<td class={_MARK[f.verdict]}>{escape(f.verdict)}<td class=note>{escape(f.note)}"
        for f in findings
    )
    head = "<tr><th>statement<th>paper<th>ours<th>verdict<th>why"
    pictures = "".join(
        f"<img alt='{escape(one.title)}' src='data:image/png;base64,{_inline(folder / name)}'>"
        for name in files
        if name.endswith(".png")
    )
    tables = " ".join(f"<a href='{name}'>{name}</a>" for name in files if name.endswith(".csv"))
    return (
        f"<h3 id={one.key}>{escape(_heading(one.name))}: {escape(one.title)}</h3>"
        f"<div class=wrap><table>{head}{rows}</table></div>{pictures}<p>{tables}</p>"
    )


def _heading(name: str) -> str:
    """ "example-3-5" is example 3.5, "theorems-3-6" are theorems 3–6."""
    kind, *numbers = name.split("-")
    return f"{kind} {('–' if kind == 'theorems' else '.').join(numbers)}".strip()


def _inline(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
