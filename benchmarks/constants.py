"""What half and double of each tuned constant does: time, and how good the answers are.

    python -m benchmarks.constants                # all parts
    python -m benchmarks.constants designs        # one of them

A constant is a private number at the top of a module of a part. Times are CPU seconds, the least of three;
"quality" is a ratio to the limit, a width or a distance: less is better. Both are shown over those of the
constant as it is, so 1.00 and 1.0000 say that nothing changes. Numbers that compiled loops use are not
looked at: they are frozen when the loops are compiled.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType

os.environ["SOTTOVOCE_CACHE"] = ""  # designs are made, not remembered

import numpy as np

import sottovoce as sv
from sottovoce.designs import block_designs

TAKES = "3 min"
FACTORS = (0.5, 2.0)
TIMES = 3


def designs() -> float:
    """The mean ratio of a few certified designs to what is possible."""
    made = [
        sv.optimal(1.0), sv.optimal(6.0), sv.optimal(2.0, question="value", loss="l1"),
        sv.optimal(4.0, question="value"), sv.optimal(1.0, question="value", prior=[0.2, 0.3, 0.4]),
    ]  # fmt: skip
    ordinary = sv.design("mean", 1.0, (0, 1))
    own = [m.certificate.ratio for m in made if m.certificate is not None]
    return float(np.mean(own)) * float(np.mean(ordinary.variance(np.linspace(0, 1, 65))))


def blocks() -> float:
    """The mean ratio of some families of blocks."""
    block_designs.family.cache_clear()
    return float(np.mean([block_designs.family(k, d).ratio for k, d in ((10, 3), (14, 4), (20, 5))]))


def values() -> np.ndarray:
    return 24 * np.random.default_rng(1).beta(2, 5, 10_000)


def limits() -> float:
    """The widths of a mean, two quantiles and a share, over the domain."""
    x, width = values(), 0.0
    for m in (sv.sw(1.0, (0, 24)), sv.ogpm(3.0, (0, 24))):
        tally = sv.Tally(m, m.report(x, rng=1))
        for e in (sv.mean(tally), sv.quantile(tally, 0.5), sv.quantile(tally, 0.9)):
            width += (e.high - e.low) / 24
        share = sv.probability(tally, 6, 9)
        width += share.high - share.low
    return width


def fits() -> float:
    """How far smooth fits lie from the values, over the domain."""
    x, distance = values(), 0.0
    truth = np.sort(x)
    for m in (sv.sw(1.0, (0, 24)), sv.ogpm(3.0, (0, 24))):
        found = sv.distribution(sv.Tally(m, m.report(x, rng=1)))
        quantiles = np.interp((np.arange(x.size) + 0.5) / x.size, found.cdf(np.linspace(0, 24, 2049)),
                              np.linspace(0, 24, 2049))  # fmt: skip
        distance += float(np.abs(quantiles - truth).mean()) / 24
    return distance


def sampling() -> float:
    """Whole reports of many values, and of one at a time: only their time counts."""
    m, x = sv.ogpm(1.0, (0, 24)), np.tile(values(), 100)
    m.report(x)
    for one in x[:2000]:
        m.report(float(one))
    return 1.0


SOLVER = ("cut_sums", "cutting_planes", "integer_weights", "linear_program", "worst_case_problem")
LIMITS = (
    "declared_shape", "envelope", "envelope_solver", "every_n", "quantile_interval", "regions",
    "weighted_counts",
)  # fmt: skip
FITS = ("binned_cells", "error_expansion", "log_density", "nonnegative_quadratic", "refits")
#: By part: what is asked, and where its constants are.
PARTS: dict[str, tuple[Callable[[], float], list[str]]] = {
    "designs": (
        designs,
        ["designs.optimal", "designs.ordinary_mean", *(f"designs.solver.{name}" for name in SOLVER)],
    ),
    "blocks": (blocks, ["designs.block_designs"]),
    "limits": (limits, [f"estimates.limits.{name}" for name in LIMITS]),
    "fits": (fits, [f"estimates.fits.{name}" for name in FITS]),
    "sampling": (sampling, ["randomness.secure_stream", "randomness.threads"]),
}


def constants(names: list[str]) -> Iterator[tuple[ModuleType, str, float]]:
    """The private numbers at the top of some modules; those that others bring in are theirs."""
    for name in names:
        module = importlib.import_module(f"sottovoce.{name}")
        for constant, value in vars(module).items():
            if constant.isupper() and constant.startswith("_") and isinstance(value, int | float):
                yield module, constant, value


def measured(ask: Callable[[], float]) -> tuple[float, float]:
    """The least time, and what was answered."""
    seconds, answer = math.inf, math.nan
    for _ in range(TIMES):
        begin = time.process_time()
        answer = ask()
        seconds = min(seconds, time.process_time() - begin)
    return seconds, answer


def beside(ask: Callable[[], float], usual: tuple[float, float]) -> str:
    try:
        seconds, answer = measured(ask)
    except (ValueError, ArithmeticError, IndexError, np.linalg.LinAlgError) as error:
        return f"{type(error).__name__:>16}"
    return f"{seconds / usual[0]:7.2f} {answer / usual[1]:8.4f}"


def main(parts: Sequence[str] = ()) -> None:
    for part in parts or PARTS:
        ask, names = PARTS[part]
        ask()
        usual = measured(ask)
        print(f"{part}: {usual[0]:.2f} s, quality {usual[1]:.5g}\n{'':40}{'half':>16} {'double':>16}")
        for module, name, value in constants(names):
            cells = []
            for factor in FACTORS:
                changed = value * factor
                setattr(module, name, type(value)(changed) if isinstance(value, int) else changed)
                cells.append(beside(ask, usual))
            setattr(module, name, value)
            where = module.__name__.removeprefix("sottovoce.")
            print(f"{where + '.' + name:32} {value:7.3g} {cells[0]} {cells[1]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
