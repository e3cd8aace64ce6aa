"""Reconstructed distributions: the default against SW + EMS, on circles against OGPM + EMS.

Wasserstein error (share of the domain × 1000, mean ± standard error over repetitions) of

- the published standard: the square wave (on a circle OGPM) with EMS on 1024 bins;
- the default of this library: `two_scale` reports and `distribution`;
- the raw histogram of OGPM reports, as the OGPM paper reads them.

Every repetition draws new people and reports; the same people go to all three. Ratios are of mean errors,
with the standard error by the delta method. `SOTTOVOCE_REPETITIONS` sets the repetitions (default 12);
results are written to benchmarks/results/reconstruction.md and from there into
docs/measurements/distributions.md (`python -m benchmarks.reconstruction --table` does only that).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
from papers.reconstructions import ems, raw

import sottovoce as sv
from benchmarks._tables import replace_table
from benchmarks._truths import CIRCLE_HELD_OUT, CIRCLE_TUNED, HELD_OUT, TUNED, Draw

TAKES = "15 min"

BINS = 512
RESULTS = Path(__file__).parent / "results" / "reconstruction.md"
PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "distributions.md"


def errors(draw: Draw, epsilon: float, n: int, repetitions: int, circle: bool, seed: int) -> np.ndarray:
    """Rows of (standard, default, raw) Wasserstein errors × 1000."""
    domain = sv.Circle(1) if circle else (0, 1)
    ogpm = sv.ogpm(epsilon, domain, "l1")
    ways = (
        (ogpm if circle else sv.sw(epsilon, domain), ems),
        (sv.two_scale(epsilon, domain), partial(sv.distribution, band=False)),
        (ogpm, raw),
    )
    rng = np.random.default_rng(seed)
    found = np.empty((repetitions, len(ways)))
    for row in found:
        x = draw(rng, n)
        for k, (m, reconstruct) in enumerate(ways):
            row[k] = 1000 * reconstruct(sv.Tally(m, m.report(x, rng=rng)), BINS).distance(x)
    return found


def ratio(found: np.ndarray) -> tuple[float, float]:
    """Mean default error over mean standard error, and its standard error."""
    mean = found.mean(axis=0)
    r = mean[1] / mean[0]
    linear = (found[:, 1] - r * found[:, 0]) / mean[0]
    return float(r), float(linear.std(ddof=1) / np.sqrt(len(found)))


def table(
    title: str, truths: dict[str, Draw], settings: Iterable[tuple[float, int]], circle: bool, repetitions: int
) -> tuple[list[str], list[float]]:
    lines = [
        f"**{title}**",
        "",
        "| truth | ε | n | standard | default | raw | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    ratios = []
    for name, draw in truths.items():
        for epsilon, n in settings:
            found = errors(draw, epsilon, n, repetitions, circle, seed=2026)
            mean, se = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(repetitions)
            r, r_se = ratio(found)
            ratios.append(r)
            cells = " | ".join(f"{m:.2f} ± {s:.2f}" for m, s in zip(mean, se, strict=True))
            lines.append(f"| {name} | {epsilon:g} | {n:,} | {cells} | {r:.2f} ± {r_se:.2f} |")
            print(lines[-1], flush=True)
    return lines, ratios


def geometric(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def parts() -> tuple[str, str]:
    """The summary and the tables of the results file."""
    text = RESULTS.read_text()
    summary, rest = text[text.index("| what |") :].split("\n\n", 1)
    return summary, rest.strip()


def write_page() -> None:
    for name, part in zip(("reconstruction-summary", "reconstruction"), parts(), strict=True):
        replace_table(PAGE, name, part)


def main() -> None:
    repetitions = int(os.environ.get("SOTTOVOCE_REPETITIONS", "12"))
    many = [(epsilon, 100_000) for epsilon in (0.5, 1.0, 2.0, 4.0)]
    few = [(0.5, 2000), (1.0, 2000), (0.25, 50_000)]  # n·ε² of 500, 2000, 3125
    plan = [
        ("Interval, truths used while tuning, n·ε² ≥ 10⁴", TUNED, many, False),
        ("Interval, held-out truths, n·ε² ≥ 10⁴", HELD_OUT, many, False),
        ("Interval, all truths, n·ε² < 10⁴", TUNED | HELD_OUT, few, False),
        ("Circle, truths used while tuning, n·ε² ≥ 10⁴", CIRCLE_TUNED, many, True),
        ("Circle, held-out truths, n·ε² ≥ 10⁴", CIRCLE_HELD_OUT, many, True),
        ("Circle, all truths, n·ε² < 10⁴", CIRCLE_TUNED | CIRCLE_HELD_OUT, few, True),
    ]
    text, summary = [], ["| what | geometric mean of ratios | arithmetic mean |", "|---|---|---|"]
    for title, truths, settings, circle in plan:
        print(f"\n{title}")
        lines, ratios = table(title, truths, settings, circle, repetitions)
        text += [*lines, ""]
        summary.append(f"| {title} | {geometric(ratios):.3f} | {np.mean(ratios):.3f} |")
        print(summary[-1], flush=True)
        head = [
            "# Reconstruction: the default against the published standard",
            "",
            __doc__.split("\n", 1)[1].strip(),
        ]
        RESULTS.parent.mkdir(exist_ok=True)
        note = f"{repetitions} repetitions; written by `python -m benchmarks reconstruction`."
        RESULTS.write_text("\n".join([*head, "", note, "", *summary, "", *text]) + "\n")
    write_page()


if __name__ == "__main__":
    write_page() if sys.argv[1:] == ["--table"] else main()
