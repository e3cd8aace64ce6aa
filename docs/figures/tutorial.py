"""The picture of the tutorial: 2,000 departures at ε = 2, reconstructed, beside the truth.

python -m tools.figures tutorial
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv
from sottovoce.demo import hours


def draw() -> dict[str, Any]:
    truth = hours()
    m = sv.design("distribution", epsilon=2.0, domain=(0, 24))
    d = sv.distribution(sv.Tally(m, m.report(truth, rng=2013)), bins=24)
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    d.plot(ax)
    density = np.histogram(truth, d.edges, density=True)[0]
    ax.stairs(density, d.edges, color="#c0562b", label="truth")
    ax.set(xlabel="hour of departure", xticks=range(0, 25, 3), xlim=(0, 24))
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2)
    return {"tutorial.svg": figure}
