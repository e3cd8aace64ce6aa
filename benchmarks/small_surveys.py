"""Small surveys: what is named, where ribbons hold, and how far reconstructions are off, for few people.

Everything at ε = 1 with honest reports, on default bins:

- *named*: how often a range of most common values is named, of uniform people (who have none) and of hours
  that are gamma(9, .9); and how often the true peak of ten truths lies outside of what is named;
- *sure*: how often "at least … of 100 people are between …" is said, and is false;
- *ribbon*: the mean share of bins whose true share lies inside, for the nine truths of the reconstruction
  (gamma to narrow) and nine that nothing was chosen on;
- *errors*: Wasserstein distance and total variation (on 32 bins) of the default, `design("distribution")`
  and splines, over those of the square wave and EMS with its authors' stop, 10⁻³·e^ε in log likelihood.

    python -m benchmarks.small_surveys [PART …]      named, sure, ribbon, errors; each rewrites its own part

Results go to benchmarks/results/small_surveys.json and from there into docs/measurements/distributions.md.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from papers.reconstructions import ems
from scipy import stats

import sottovoce as sv
from benchmarks._tables import replace_table
from sottovoce.estimates.distribution import default_bins
from sottovoce.estimates.fits.metrics import Cumulative, wasserstein
from sottovoce.estimates.fits.smooth_fits import Smooth, binned

TAKES = "30 min"

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "small_surveys.json"
PAGE = HERE.parent / "docs" / "measurements" / "distributions.md"
EPSILON, PEOPLE, DESIGNS = 1.0, (100, 600, 2_400, 20_000), ("distribution", "mean")
UNIFORM, GAMMA, PEAKS, SURE, RIBBON, ERRORS = 300, 100, 25, 8, 16, 20  # samples of each cell
ERROR_PEOPLE, FINE, COARSE = (300, 1_000, 2_500, 8_000), 512, 32
W1_LIMITS, TV_LIMIT = (0.85, 0.78, 0.82, 0.85), 0.60


class Truth(NamedTuple):
    """People: a sampler, P(x < t), and the highest places, all in the unit coordinate."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    below: Callable[[np.ndarray], np.ndarray]
    peaks: tuple[float, ...] = ()

    def shares(self, bins: int) -> np.ndarray:
        """The exact shares of equal bins; each holds its left end, the last one both."""
        return np.diff([0.0, *self.below(np.arange(1, bins) / bins), 1.0])


def curve(*parts: tuple[float, Any], peaks: tuple[float, ...] = ()) -> Truth:
    """A mixture of laws of scipy; what is beyond an end is at that end."""
    weights = [weight for weight, _ in parts]

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        which = rng.choice(len(parts), n, p=weights)
        drawn = np.stack([law.rvs(n, random_state=rng) for _, law in parts])
        return np.clip(drawn[which, np.arange(n)], 0.0, 1.0)

    return Truth(draw, lambda t: sum(weight * law.cdf(t) for weight, law in parts), peaks)


def heaps(at: np.ndarray, weights: np.ndarray) -> Truth:
    """People at a few points."""
    p = weights / weights.sum()
    return Truth(lambda rng, n: rng.choice(at, n, p=p), lambda t: (at < t[:, None]) @ p)


TWELFTHS, RATINGS = np.arange(13) / 12, np.arange(5) / 4
#: The kinds that FACTS on small samples name; `gamma` is gamma(9, .9) on the hours from 0 to 24.
NINE: dict[str, Truth] = {
    "gamma": curve((1, stats.gamma(9, scale=0.9 / 24)), peaks=(0.3,)),
    "normal": curve((1, stats.norm(0.5, 0.12)), peaks=(0.5,)),
    "uniform": curve((1, stats.uniform())),
    "lognormal": curve((1, stats.lognorm(0.5, scale=0.25)), peaks=(0.25 * np.exp(-0.25),)),
    "two bumps": curve((0.5, stats.norm(0.3, 0.07)), (0.5, stats.norm(0.7, 0.07)), peaks=(0.3, 0.7)),
    "Beta(5, 2)": curve((1, stats.beta(5, 2)), peaks=(0.8,)),
    "two points": heaps(np.array([0.3, 0.8]), np.ones(2)),
    "heaped": heaps(TWELFTHS, stats.norm(0.45, 0.18).pdf(TWELFTHS)),
    "narrow": curve((1, stats.norm(0.6, 0.02)), peaks=(0.6,)),
}
HELD_OUT: dict[str, Truth] = {
    "Beta(1, 8)": curve((1, stats.beta(1, 8)), peaks=(0.0,)),
    "unequal bumps": curve((0.4, stats.beta(20, 60)), (0.6, stats.beta(60, 20)), peaks=(59 / 78,)),
    "triangle": curve((1, stats.triang(0.7)), peaks=(0.7,)),
    "ends": curve((1, stats.beta(0.5, 0.5))),
    "opening hours": curve((1, stats.uniform(0.35, 0.4))),
    "three bumps": curve(*((1 / 3, stats.norm(at, 0.05)) for at in (0.2, 0.5, 0.8))),
    "Laplace": curve((1, stats.laplace(0.4, 0.08)), peaks=(0.4,)),
    "step": curve((0.8, stats.uniform(0, 0.5)), (0.2, stats.uniform(0.5, 0.5))),
    "spike": curve((0.7, stats.beta(2, 3)), (0.3, stats.norm(0.37, 0.002))),
}
EVERY = NINE | HELD_OUT


def tallies(design: str, truth: str, n: int, samples: int) -> Iterator[sv.Tally]:
    """Honest reports of people drawn anew for each."""
    m = sv.design(design, EPSILON, (0, 1))
    for k in range(samples):
        rng = np.random.default_rng([k, n, DESIGNS.index(design), list(EVERY).index(truth)])
        yield sv.Tally(m, m.report(EVERY[truth].draw(rng, n), rng=rng))


def named_ranges(tally: sv.Tally) -> list[tuple[float, float]]:
    """What is named, in the unit coordinate."""
    bins = default_bins(tally)
    return [(first / bins, last / bins) for first, last in Smooth.of(tally).highest(bins)]


def named() -> dict[str, Any]:
    """How often something is named, and how often the peak is not in it."""
    often: dict[str, Any] = {}
    for truth, samples in (("uniform", UNIFORM), ("gamma", GAMMA)):
        for design in DESIGNS:
            cells = often.setdefault(truth, {})[design] = []
            for n in PEOPLE:
                found = [r for r in map(named_ranges, tallies(design, truth, n, samples)) if r]
                hours = [24 * sum(last - first for first, last in ranges) for ranges in found]
                long = float(np.median(hours)) if hours else None
                cells.append({"n": n, "named": len(found), "samples": samples, "hours": long})
                print(truth, design, cells[-1], flush=True)
    missed: dict[str, Any] = {}
    for name, truth in EVERY.items():
        for n in PEOPLE if truth.peaks else ():
            found = [r for r in map(named_ranges, tallies("distribution", name, n, PEAKS)) if r]
            held = [
                all(any(first <= peak <= last for first, last in ranges) for peak in truth.peaks)
                for ranges in found
            ]
            missed.setdefault(name, []).append({"n": n, "named": len(found), "missed": held.count(False)})
        print(name, missed.get(name), flush=True)
    return {**often, "peaks": missed, "samples of a peak": PEAKS}


def sure() -> dict[str, Any]:
    """How often a share that is sure is said, how large it is, and how often it is false."""
    found: dict[str, Any] = {}
    for name, truth in EVERY.items():
        for n in PEOPLE:
            said = [sv.distribution(t).sure for t in tallies("distribution", name, n, SURE)]
            told = [one for one in said if one is not None]
            inside = [
                truth.below(np.array([np.nextafter(one.high, 2)]))[0] - truth.below(np.array([one.low]))[0]
                for one in told
            ]
            false = sum(100 * true < one.share for one, true in zip(told, inside, strict=True))
            middle = float(np.median([one.share for one in told])) if told else None
            line = {"n": n, "said": len(told), "false": int(false), "share": middle}
            found.setdefault(name, []).append(line)
        print(name, found[name], flush=True)
    return {"samples": SURE, "truths": found}


def ribbon() -> dict[str, Any]:
    """The mean share of bins that hold, and how wide they are in even levels."""
    found: dict[str, Any] = {}
    for design in DESIGNS:
        for name, truth in EVERY.items():
            for n in PEOPLE:
                held, wide = [], []
                for tally in tallies(design, name, n, RIBBON):
                    bins = default_bins(tally)
                    low, high = Smooth.of(tally).ribbon(bins)
                    true = truth.shares(bins)
                    held.append(float(((low <= true + 1e-12) & (true <= high + 1e-12)).mean()))
                    wide.append(float((high - low).mean() * bins))
                line = {"n": n, "held": float(np.mean(held)), "width": float(np.mean(wide))}
                found.setdefault(design, {}).setdefault(name, []).append(line)
            print(design, name, [round(line["held"], 2) for line in found[design][name]], flush=True)
    return {"samples": RIBBON, **found}


def _off(reconstruction: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    """Wasserstein distance, and total variation on coarser bins."""
    w1 = wasserstein(Cumulative.of_bins(reconstruction), Cumulative.of_bins(true))
    return w1, float(np.abs(binned(reconstruction - true, COARSE)).sum() / 2)


def errors() -> dict[str, Any]:
    """For each truth the mean errors of the default and of the standard, and the error of their ratio."""
    found: dict[str, Any] = {}
    m, wave = sv.design("distribution", EPSILON, (0, 1)), sv.sw(EPSILON, (0, 1))
    ratings = heaps(RATINGS, np.array([0.1, 0.15, 0.3, 0.3, 0.15]))
    for i, (name, truth) in enumerate({**NINE, "discrete ratings": ratings}.items()):
        true = truth.shares(FINE)
        for n in ERROR_PEOPLE:
            rows = []
            for k in range(ERRORS):
                rng = np.random.default_rng([k, n, i])
                x = truth.draw(rng, n)
                ours = Smooth.of(sv.Tally(m, m.report(x, rng=rng))).probabilities(FINE)
                standard = ems(sv.Tally(wave, wave.report(x, rng=rng)), FINE, 1e-3 * float(np.exp(EPSILON)))
                rows.append((*_off(ours, true), *_off(standard.probabilities, true)))
            a = np.array(rows)
            mean = a.mean(axis=0)
            line: dict[str, Any] = {"n": n}
            for j, which in enumerate(("w1", "tv")):
                logs = a[:, j] / mean[j] - a[:, j + 2] / mean[j + 2]
                line[which] = float(mean[j] / mean[j + 2])
                line[f"{which} error"] = float(logs.std(ddof=1) / np.sqrt(ERRORS))
            found.setdefault(name, []).append(line)
        print(name, [(round(line["w1"], 2), round(line["tv"], 2)) for line in found[name]], flush=True)
    return {"samples": ERRORS, "truths": found}


def geometric(lines: list[dict[str, Any]], which: str) -> tuple[float, float]:
    """The geometric mean of ratios and its standard error."""
    mean = float(np.exp(np.mean([np.log(line[which]) for line in lines])))
    return mean, mean * float(np.sqrt(sum(line[f"{which} error"] ** 2 for line in lines))) / len(lines)


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "named": named,
    "sure": sure,
    "ribbon": ribbon,
    "errors": errors,
}


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _head(*cells: object) -> list[str]:
    return [_row(*cells), "|---" * len(cells) + "|"]


def table(results: dict[str, Any]) -> str:
    """What the page shows."""
    n_heads = [f"n = {n:,}" for n in PEOPLE]
    naming, rows = results["named"], []
    rows += _head("a range is named, of 100 samples", *n_heads)
    for truth in ("uniform", "gamma"):
        for design in DESIGNS:
            cells = naming[truth][design]
            rows.append(
                _row(
                    f"{truth}, design for a {design}",
                    *(
                        f"{100 * c['named'] / c['samples']:.3g}"
                        + (f" ({c['hours']:.3g} h)" if truth == "gamma" and c["hours"] else "")
                        for c in cells
                    ),
                )
            )
    peaks = list(naming["peaks"].values())
    columns = [[lines[i] for lines in peaks] for i in range(len(PEOPLE))]
    rows.append(
        _row(
            f"the peak is not in it, {len(peaks)} truths",
            *(f"{sum(c['missed'] for c in col)} of {sum(c['named'] for c in col)}" for col in columns),
        )
    )
    said = list(results["sure"]["truths"].values())
    rows.append(
        _row(
            f"a sure share is false, {len(said)} truths",
            *(f"{sum(s[i]['false'] for s in said)} of {sum(s[i]['said'] for s in said)}"
              for i in range(len(PEOPLE))),
        )
    )  # fmt: skip
    rows += ["", *_head("bins that the ribbon holds, %", *n_heads)]
    for design in DESIGNS:
        for title, names in (("the nine truths", NINE), ("nine held out", HELD_OUT)):
            lines = [results["ribbon"][design][name] for name in names]
            held = [f"{100 * np.mean([line[i]['held'] for line in lines]):.0f}" for i in range(len(PEOPLE))]
            rows.append(_row(f"**{title}, design for a {design}**", *held))
            rows += [
                _row(name, *(f"{100 * line['held']:.0f}" for line in results["ribbon"][design][name]))
                for name in names
            ]
    rows += ["", *_head("error over that of SW + EMS", *(f"n = {n:,}" for n in ERROR_PEOPLE))]
    truths = results["errors"]["truths"]
    for which, title in (("w1", "Wasserstein"), ("tv", "total variation")):
        for what, names in (
            ("nine truths", [*NINE]),
            ("without the uniform", [k for k in NINE if k != "uniform"]),
        ):
            means = [geometric([truths[name][i] for name in names], which) for i in range(len(ERROR_PEOPLE))]
            rows.append(_row(f"**{title}, {what}**", *(f"{mean:.2f} ± {error:.2f}" for mean, error in means)))
        rows += [
            _row(
                f"{title}, {name}", *(f"{x[which]:.2f} ± {x[which] * x[f'{which} error']:.2f}" for x in lines)
            )
            for name, lines in truths.items()
        ]
    return "\n".join(rows)


def main() -> None:
    for part in sys.argv[1:] or list(PARTS):
        found = PARTS[part]()
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results[part] = found
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    if results.keys() >= PARTS.keys():
        replace_table(PAGE, "small-surveys", table(results))


if __name__ == "__main__":
    main()
