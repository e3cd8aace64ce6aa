"""One step of EMS by the number of bins: prefix sums (numba, numpy) against the dense matrix.

CPU time per step, the least of several runs, and the largest difference of the results after 50 steps. The
same measurement is on the benchmarks page.
"""

from __future__ import annotations

from benchmarks.page.growth import bins

TAKES = "10 s"


def main() -> None:
    for row in bins(quick=False):
        base = row["dense"]
        for name in ("dense", "numpy", "numba"):
            if name in row:
                print(f"{row['bins']:>6} bins  {name:<6}{1e6 * row[name]:8.1f} µs {base / row[name]:7.1f} ×")
        print(f"{'':>6}       largest difference {row['difference']:.1e}")


if __name__ == "__main__":
    main()
