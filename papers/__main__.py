"""Regenerate every figure and table of the papers.

A picture and a CSV file each, and one HTML report. What is already there and unchanged is kept, so an
interrupted run goes on where it stopped. Run it in a clone; it needs the extra `analysis`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from threadpoolctl import threadpool_limits

import papers

EXAMPLES = """
examples:
  python -m papers --quick                 every entry, in about a minute
  python -m papers --only ogpm-figure-9    one entry; --list names them
  python -m papers --motionsense DIR       the paper's own data
"""


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = argparse.ArgumentParser(
        prog="python -m papers",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--quick", action="store_true", help="A smaller, faster run.")
    made.add_argument(
        "--output",
        metavar="PATH",
        type=Path,
        default=Path("out/papers"),
        help="The folder to write to (%(default)s).",
    )
    made.add_argument(
        "--motionsense",
        metavar="DIR",
        type=Path,
        help="Folder with sub_1.csv … sub_3.csv; without it a synthetic stand-in.",
    )
    made.add_argument(
        "--only",
        metavar="TEXT",
        action="append",
        default=[],
        help="Only entries whose name contains this; may be repeated.",
    )
    made.add_argument(
        "--seed", metavar="N", type=int, default=20250, help="The seed of the simulations (%(default)s)."
    )
    made.add_argument("--force", action="store_true", help="Run again what is already there.")
    made.add_argument("--list", action="store_true", help="List the entries and stop.")
    return made


def main(words: Sequence[str] | None = None) -> None:
    """Run the command; a mistake of the user's is one sentence and exit code 2, not a traceback."""
    command = parser()
    asked = command.parse_args(words)
    if asked.seed < 0:
        command.error(f"--seed must be at least 0, got --seed {asked.seed}")
    if asked.list:
        for one in papers.entries():
            print(f"{one.key:24} {one.title}")
        return
    run = papers.Run(quick=asked.quick, seed=asked.seed, motionsense=asked.motionsense)
    try:
        with threadpool_limits(1, user_api="blas"):  # more threads cost more than they give
            found = papers.reproduce(asked.output, run, only=asked.only, force=asked.force, progress=_show)
    except (ValueError, OSError, ImportError) as error:
        command.error(str(error))
    counts = Counter(finding.verdict for _, findings in found for finding in findings)
    for verdict in papers.Verdict:
        print(f"{counts[verdict]:4}  {verdict}")
    if asked.motionsense is None:
        print("MotionSense was not given: its figures use a synthetic stand-in (--motionsense DIR).")
    print(asked.output / "report.html")


def _show(done: int, total: int, key: str) -> None:
    """A line on the terminal's error stream, written over by the next."""
    if sys.stderr.isatty():
        print(f"\r{done:2} of {total} {key:24}", end="" if key else "\n", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
