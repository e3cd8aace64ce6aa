"""How the cost of this library grows: with people, cells, bins and attributes.

CPU time in one process, the least of several runs. The benchmarks page shows the same tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from papers.reconstructions import smooth_line, smoothed_em

from benchmarks._tables import number, table
from benchmarks.page.peers.published import dense_step
from benchmarks.page.worker import least_seconds
from sottovoce import compiling
from sottovoce.designs.classic import ogpm, sw
from sottovoce.designs.two_scale import two_scale
from sottovoce.estimates.distribution import distribution
from sottovoce.estimates.fits.binned_cells import Binned
from sottovoce.estimates.mean import mean
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.law.operator import Operator
from sottovoce.surveys.survey import survey

TAKES = "2 min"

STEPS = 50  # of EMS a turn


def growth(quick: bool, say: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """Rows of every kind of growth; seconds throughout."""
    rows = {}
    for measure in (people, cells, bins, attributes):
        say(f"growth with {measure.__name__}")
        rows[measure.__name__] = measure(quick)
    return {"compiled": compiling.available(), **rows}


def people(quick: bool) -> list[dict[str, float]]:
    """Reports, a mean with its interval, and a distribution, by the number of people."""
    m, rows = two_scale(1.0), []
    for exponent in range(1, 6 if quick else 8):
        x = np.random.default_rng(1).beta(5, 2, 10**exponent)
        row = {"people": len(x), "report": least_seconds(partial(m.report, x))}
        if len(x) >= 1000:
            cells = m.report(x, rng=1)
            t = Tally(m, cells)
            row["tally"] = least_seconds(partial(Tally, m, cells))
            row["mean"] = least_seconds(partial(mean, t), 2)
            row["distribution"] = least_seconds(partial(distribution, t, band=False), 2)
        rows.append(row)
    return rows


def cells(quick: bool) -> list[dict[str, float]]:
    """Building a mechanism, and reports of it, by the number of cells."""
    x = np.random.default_rng(1).random(10**5 if quick else 10**6)
    rows = []
    for bits in range(8, 21, 4):
        m = ogpm(1.0, cells=2**bits)
        rows.append(
            {
                "cells": 2**bits,
                "build": least_seconds(partial(ogpm, 1.0, cells=2**bits)),
                "report": least_seconds(partial(m.report, x)) / len(x),
            }
        )
    return rows


def bins(quick: bool) -> list[dict[str, float]]:
    """One step of EMS by the number of bins: prefix sums here, the dense matrix as published."""
    m = sw(1.0)
    t = Tally(m, m.report(np.random.default_rng(1).beta(5, 2, 100_000), rng=1))
    rows = []
    for bits in range(7, 11 if quick else 13):
        size = 2**bits
        binned = Binned.of(t, size)
        law = binned.law((np.arange(size) + 0.5) / size)
        counts = binned.counts.astype(float)
        matrix: Any = np.ascontiguousarray(law.dense().T)
        ways: dict[str, Callable[[], Any]] = {
            "dense": partial(_dense_steps, matrix, counts),
            "sums": partial(_steps, law, counts),
        }
        row: dict[str, float] = {"bins": size}
        row |= {name: least_seconds(work, 3) / STEPS for name, work in ways.items()}
        expected = ways.pop("dense")()
        row["difference"] = max(float(np.abs(work() - expected).max()) for work in ways.values())
        rows.append(row)
    return rows


def _steps(law: Operator, counts: Any) -> Any:
    even = np.full(law.shape[0], 1 / law.shape[0])
    return smoothed_em(law, counts, even, smooth_line, tolerance=0.0, most=STEPS)


def _dense_steps(matrix: Any, counts: Any) -> Any:
    f = np.full(matrix.shape[1], 1 / matrix.shape[1])
    for _ in range(STEPS):
        f = dense_step(matrix, counts, f)
    return f


def attributes(quick: bool) -> list[dict[str, float]]:
    """Reports of d attributes within one ε, and all their means, by d."""
    n, rows = 2000 if quick else 50_000, []
    for d in (1, 4, 16) if quick else (1, 2, 4, 8, 16, 32, 64):
        m = survey(1.0, [(0.0, 1.0)] * d)
        x = np.random.default_rng(d).random((n, d))
        reports = m.report(x, rng=1)
        rows.append(
            {
                "attributes": d,
                "sampled": m.sampled,
                "report": least_seconds(partial(m.report, x), 3) / n,
                "means": least_seconds(partial(_means, m, reports), 3) / n,
            }
        )
    return rows


def _means(m: Survey, reports: Any) -> Any:
    tally = Tally(m, reports)
    return [mean(tally[name]) for name in m.items]


def tables(rows: dict[str, Any]) -> dict[str, str]:
    """A table for each kind of growth."""
    answers = ("tally", "mean", "distribution")
    return {
        "people": table(
            ("people", "reports, ns a person", "tally, ms", "mean, ms", "distribution, ms"),
            (
                (
                    f"{row['people']:,}",
                    number(1e9 * row["report"] / row["people"]),
                    *(number(1e3 * row[key]) if key in row else "" for key in answers),
                )
                for row in rows["people"]
            ),
        ),
        "cells": table(
            ("cells", "building, ms", "reports, ns a person"),
            (
                (f"{row['cells']:,}", number(1e3 * row["build"]), number(1e9 * row["report"]))
                for row in rows["cells"]
            ),
        ),
        "bins": table(
            ("bins", "dense, µs", "prefix sums, µs", "dense ÷ sums", "largest difference"),
            (
                (
                    f"{row['bins']}",
                    *(number(1e6 * row[key]) for key in ("dense", "sums")),
                    number(row["dense"] / row["sums"]),
                    f"{row['difference']:.0e}",
                )
                for row in rows["bins"]
            ),
        ),
        "attributes": table(
            ("attributes", "reported by each", "reports, ns a person", "means, ns a person"),
            (
                (
                    f"{row['attributes']}",
                    f"{row['sampled']}",
                    number(1e9 * row["report"]),
                    number(1e9 * row["means"]),
                )
                for row in rows["attributes"]
            ),
        ),
    }


def main() -> None:
    for name, text in tables(growth(quick=False)).items():
        print(f"\n{name}\n\n{text}")


if __name__ == "__main__":
    main()
