"""One iteration of EMS at 1024 bins: difference form (numba, numpy) against the dense matrix.

CPU time per iteration, best of several runs, and the largest difference of the results after 200 iterations.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import sottovoce as sv
from sottovoce.estimates.differences import Differences
from sottovoce.estimates.em import em, smooth
from sottovoce.estimates.model import Coarse

BINS, ITERATIONS = 1024, 200


def best_time(run: Callable[[], object], repeats: int = 7) -> float:
    """Seconds of CPU per iteration, the least of several runs."""
    run()
    found = []
    for _ in range(repeats):
        begin = time.process_time()
        run()
        found.append(time.process_time() - begin)
    return min(found) / ITERATIONS


def main() -> None:
    m = sv.sw(1.0)
    x = np.random.default_rng(1).beta(5, 2, 100_000)
    coarse = Coarse.of(sv.Tally(m, m.report(x, rng=1)), BINS)
    law = Differences(coarse.law((np.arange(BINS) + 0.5) / BINS))
    matrix = coarse.law((np.arange(BINS) + 0.5) / BINS).dense()  # type: ignore[attr-defined]
    counts = coarse.counts.astype(float)

    def dense() -> np.ndarray:
        f = np.full(BINS, 1 / BINS)
        for _ in range(ITERATIONS):
            f = smooth(f * (matrix @ (counts / (f @ matrix))) / coarse.n, circle=False)
        return f

    def fast(compiled: bool) -> np.ndarray:
        options = {"smoothing": True, "tolerance": 0.0, "most": ITERATIONS, "compiled": compiled}
        return em(law, counts, **options).probabilities  # type: ignore[arg-type]

    base, expected = best_time(dense), dense()
    print(f"{'dense matrix':<14}{1e6 * base:8.1f} µs    1.0 ×")
    for name, compiled in (("numpy", False), ("numba", True)):
        seconds = best_time(lambda compiled=compiled: fast(compiled))  # type: ignore[misc]
        gap = np.abs(fast(compiled) - expected).max()
        print(f"{name:<14}{1e6 * seconds:8.1f} µs {base / seconds:6.1f} ×    largest difference {gap:.1e}")


if __name__ == "__main__":
    main()
