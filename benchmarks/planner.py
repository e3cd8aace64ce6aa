"""The planner's predictions against full simulations from people to answers.

The prediction is what `sv.plan` says by default. The other side draws people, lets them randomise and
estimates, until the mean error is known to 2.5 % (standard error). Within 10 % is the aim. Lines are appended
to benchmarks/results/planner.jsonl as they come (a stopped run goes on), and the table goes into
docs/howto/plan.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import sottovoce as sv
from benchmarks._tables import replace_table
from sottovoce.estimates.envelope import CrossFit
from sottovoce.estimates.quantiles import quantile_values

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "planner.jsonl"
PAGE = HERE.parent / "docs" / "howto" / "plan.md"
SURE, MOST = 0.025, 1000

TAKES = "10 min"


@dataclass(frozen=True)
class Case:
    task: str
    circle: bool
    epsilon: float
    people: int
    p: float = 0.5
    names: tuple[str, ...] = ()  # which mechanisms; all of them where it costs nothing

    @property
    def domain(self) -> sv.Circle | tuple[float, float]:
        return sv.Circle(24) if self.circle else (0, 24)

    @property
    def sample(self) -> np.ndarray:
        rng = np.random.default_rng(3)
        if self.circle:
            return (rng.normal(22, 3, 50_000) % 24).clip(0, np.nextafter(24, 0))
        return 24 * rng.beta(5, 2, 50_000)

    @property
    def what(self) -> str:
        name = f"{self.p:g}-quantile" if self.task == "quantile" else self.task
        return "direction" if self.circle and name == "mean" else name


CASES = (
    Case("mean", False, 1.0, 10_000),
    Case("mean", False, 4.0, 1000),
    Case("mean", True, 1.0, 10_000),
    Case("mean", True, 4.0, 1000),
    Case("distribution", False, 1.0, 2000, names=("two_scale", "sw")),
    Case("distribution", True, 1.0, 2000, names=("two_scale", "ogpm, loss='l1'")),
    Case("quantile", False, 1.0, 2000, 0.9, names=("two_scale", "sw")),
    Case("distribution", False, 1.0, 50_000, names=("two_scale",)),
    Case("distribution", True, 1.0, 50_000, names=("two_scale",)),
    Case("quantile", False, 1.0, 50_000, 0.9, names=("two_scale",)),
)


def errors(case: Case, m: sv.Mechanism | sv.Mixture, rng: np.random.Generator) -> Iterator[float]:
    """One error after another, squared for means, each from people who answer anew."""
    sample = case.sample
    fixed = np.resize(sample, case.people)  # a mean's noise is that about the people who answer
    around = np.exp(2j * np.pi * fixed / 24).mean()
    true = np.quantile(sample, case.p)
    while True:
        if case.task == "mean" and case.circle:
            seen = np.exp(2j * np.pi * m.perturb(fixed, rng=rng) / 24).mean()
            yield float(np.angle(seen / around) * 24 / (2 * np.pi)) ** 2
        elif case.task == "mean":
            yield float(m.perturb(fixed, rng=rng).mean() - fixed.mean()) ** 2
        else:
            people = sample[rng.integers(0, len(sample), case.people)]
            tally = sv.Tally(m, m.report(people, rng=rng))
            if case.task == "distribution":
                yield sv.distribution(tally, band=False).distance(sample)
            else:  # without the interval, which takes longer
                [value] = quantile_values(CrossFit(tally), m.epsilon, [case.p])
                yield abs(float(m.domain.from_unit(value)) - true)


def measured(
    case: Case, m: sv.Mechanism | sv.Mixture, sure: float = SURE, most: int = MOST
) -> tuple[float, float, int]:
    """Mean error (root mean square for means), its relative standard error, and how often it was seen."""
    found: list[float] = []
    power = 2.0 if case.task == "mean" else 1.0
    for error in errors(case, m, np.random.default_rng(11)):
        found.append(error)
        if len(found) < 32 or len(found) % 16:
            continue
        mean = float(np.mean(found))
        se = float(np.std(found, ddof=1)) / math.sqrt(len(found)) / mean / power
        if se <= sure or len(found) >= most * power:
            return mean ** (1 / power), se, len(found)
    raise AssertionError("errors never end")


def compare(case: Case, done: set[tuple[object, ...]]) -> Iterator[dict[str, object]]:
    """A line for every mechanism of a case that is not done yet."""
    # One repetition ranks them; those that are compared are then planned as a user would.
    plan = sv.plan(
        case.task, case.epsilon, case.people, case.domain, sample=case.sample, p=case.p, repetitions=1
    )
    for option in plan.options:
        key = (case.what, case.circle, case.epsilon, case.people, option.name)
        if key in done or (case.names and option.name not in case.names):
            continue
        told = replace(plan.scenario, repetitions=None).option(option.candidate, case.epsilon, case.people)
        seen, se, times = measured(case, option.mechanism)
        yield {
            "task": case.what, "circle": case.circle, "epsilon": case.epsilon, "people": case.people,
            "mechanism": option.name, "predicted": told.error, "doubt": told.doubt / told.error,
            "seen": seen, "se": se, "times": times,
        }  # fmt: skip


def table(lines: list[dict[str, object]]) -> str:
    rows = [
        "| task | domain | ε | people | mechanism | predicted | seen | predicted / seen | seen so often |",
        "|---" * 9 + "|",
    ]
    for x in lines:
        ratio = float(x["predicted"]) / float(x["seen"])  # type: ignore[arg-type]
        se = ratio * math.hypot(float(x["doubt"]), float(x["se"]))  # type: ignore[arg-type]
        where = "circle" if x["circle"] else "interval"
        rows.append(
            f"| {x['task']} | {where} | {x['epsilon']:g} | {x['people']:,} | {x['mechanism']} | "
            f"{x['predicted']:.4g} | {x['seen']:.4g} | {ratio:.3f} ± {se:.3f} | {x['times']:,} |"
        )
    return "\n".join(rows)


def read() -> list[dict[str, object]]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def main() -> None:
    done = {(x["task"], x["circle"], x["epsilon"], x["people"], x["mechanism"]) for x in read()}
    for case in CASES:
        for line in compare(case, done):
            with RESULTS.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(table([line]).splitlines()[-1], flush=True)
            replace_table(PAGE, "planner", table(read()))
    off = max(abs(float(x["predicted"]) / float(x["seen"]) - 1) for x in read())  # type: ignore[arg-type]
    print(f"largest deviation {off:.1%}")


if __name__ == "__main__":
    main()
