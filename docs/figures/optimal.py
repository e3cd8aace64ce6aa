"""The figures of docs/explanation/optimal.md: two certified designs, and a trade-off.

python -m tools.figures optimal
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sottovoce as sv
from sottovoce.documents.portrait import draw_design

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "means.json"


def draw() -> dict[str, Any]:
    return {
        "optimal-direct.png": draw_design(sv.optimal(4.0, question="value"))[0].figure,
        "optimal-unbiased.png": draw_design(sv.optimal(2.0, (0, 24)))[0].figure,
        "optimal-tradeoff.svg": tradeoff(),
    }


def tradeoff() -> Any:
    """Expected against worst-case variance, as `python -m benchmarks means` found them."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
    marks = iter("osD^")
    for epsilon, curve in json.loads(RESULTS.read_text())["trade-off"].items():
        ax.plot(
            [at["worst"] for at in curve],
            [at["expected"] for at in curve],
            next(marks) + "-",
            label=f"ε = {epsilon}",
        )
    ax.axvline(1.1, color="#444444", linewidth=0.8, linestyle=":")
    ax.set(xlabel="worst-case variance / certified limit", ylabel="expected variance / limit")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return figure
