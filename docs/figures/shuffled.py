"""The central ε of a tally against the number of people (docs/explanation/shuffled.md).

python -m tools.figures shuffled
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from benchmarks.shuffled import clones_closed

import sottovoce as sv

COLOURS = {1.0: "#009E73", 2.0: "#D55E00", 4.0: "#0072B2"}


def draw() -> dict[str, Any]:
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    people = [int(n) for n in np.geomspace(100, 10**7, 6)]
    for epsilon, colour in COLOURS.items():
        m = sv.ogpm(epsilon, loss="l1", cells=1024)
        central = [sv.shuffled(m, n, None).epsilon(1e-6) for n in people]
        axes.loglog(people, central, color=colour, label=f"ε = {epsilon:g} per report")
        axes.loglog(people, [clones_closed(epsilon, n) for n in people], color=colour, linestyle=":")
    axes.plot([], [], color="#8a8a8a", linestyle=":", label="closed form of the clones")
    axes.set(xlabel="honest people", ylabel="central ε at δ = 10⁻⁶")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return {"shuffled.svg": figure}
