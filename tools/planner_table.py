"""Write what the dashboard's planner shows: errors to expect on a domain of width 1, by ε and people.

    python tools/planner_table.py > src/sottovoce/collector/pages/static/planner.json

Means are exact, for the worst truth, of the certified optimum; on a circle the mean direction over two
reference shapes, as `sottovoce.plan` predicts it. They are for one person: divide
by √n. Distributions (Wasserstein error) and their quartiles (absolute error) are simulated for `two_scale`
over the reference shapes of `sottovoce.plan`: a grid of ε and people with the standard error of each entry.
"""

import json
import sys

import numpy as np

import sottovoce as sv
from sottovoce.estimates.fits.metrics import Cumulative, wasserstein
from sottovoce.planning.prediction import MIDDLES, reference_shapes

#: The steps of a slider.
EPSILONS = (
    0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8,
    2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0,
)  # fmt: skip
GRID_EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
GRID_PEOPLE = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
QUARTILES = (0.25, 0.75)  # the median of two equal peaks lies between them, where nobody is
REPETITIONS = {"interval": 4, "circle": 5}
DOMAINS: dict[str, sv.Interval | sv.Circle] = {"interval": sv.Interval(0, 1), "circle": sv.Circle(1)}


def mean(domain: sv.Interval | sv.Circle, epsilons: tuple[float, ...]) -> dict[str, list[object]]:
    """The best mechanism for each ε, its error for one person, and how close the certificate says it is."""
    rows: list[tuple[str, float, float | None]] = []
    for epsilon in epsilons:
        if domain.is_circle:
            best = sv.plan("direction", epsilon, 10_000, domain).best
            rows.append((best.mechanism.name, 100 * best.error, None))
        else:
            m = sv.optimal(epsilon, domain)
            rows.append(("optimal", m.worst_variance() ** 0.5, m.certificate.ratio))
    return dict(zip(("design", "error", "ratio"), map(list, zip(*rows, strict=True)), strict=True))


def simulate(circle: bool, epsilon: float, people: int, repetitions: int, seed: int) -> np.ndarray:
    """Wasserstein and quartile error of every repetition: (2, shapes·repetitions)."""
    m, shapes = sv.two_scale(epsilon, DOMAINS["circle" if circle else "interval"]), reference_shapes(circle)
    rng, found = np.random.default_rng(seed), []
    for density in shapes:
        law = np.maximum(m.operator(MIDDLES).mix(density), 0)
        truth = Cumulative.of_bins(density)
        for _ in range(repetitions):
            tally = sv.Tally.from_counts(m, rng.multinomial(people, law / law.sum()))
            fitted = sv.distribution(tally, bins=256, band=False)
            got = Cumulative.of_bins(fitted.probabilities)
            off = [
                abs(np.interp(p, got.after, got.at) - np.interp(p, truth.after, truth.at)) for p in QUARTILES
            ]
            found.append((wasserstein(got, truth, circle=circle), np.mean(off)))
    return np.array(found).T


def shapes(circle: bool) -> dict[str, object]:
    """Mean errors over the grid, with their standard errors."""
    repetitions = REPETITIONS["circle" if circle else "interval"]
    out: dict[str, object] = {"design": "two_scale", "epsilon": GRID_EPSILONS, "people": GRID_PEOPLE}
    found = np.array(
        [
            [simulate(circle, e, n, repetitions, seed=1000 * i + j) for j, n in enumerate(GRID_PEOPLE)]
            for i, e in enumerate(GRID_EPSILONS)
        ]
    )
    for index, name in enumerate(("distribution",) if circle else ("distribution", "quartiles")):
        part = found[:, :, index]
        out[name] = {
            "error": np.round(part.mean(axis=-1), 8).tolist(),
            "sd": np.round(part.std(axis=-1, ddof=1) / np.sqrt(part.shape[-1]), 8).tolist(),
        }
    return out


def main() -> None:
    table: dict[str, object] = {"epsilon": EPSILONS}
    for name, domain in DOMAINS.items():
        table[name] = {"mean": mean(domain, EPSILONS), "shapes": shapes(name == "circle")}
    json.dump(table, sys.stdout, separators=(",", ":"), allow_nan=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
