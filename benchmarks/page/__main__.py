"""`make peers`: the benchmarks page from one run on this machine, other packages included. Ten minutes.

    python -m benchmarks.page --output docs/benchmarks.md
    python -m benchmarks.page --results docs/benchmarks/results.json --output docs/benchmarks.md

The second writes the page again from results that are complete, after a change of words.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.page.page import write_page
from benchmarks.page.run import measure


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("benchmarks.md"), help="the page")
    parser.add_argument("--quick", action="store_true", help="a smaller, faster run")
    parser.add_argument("--environments", type=Path, help="keep the environments of peers here")
    parser.add_argument(
        "--results", type=Path, help="keep the numbers here; what is there is not measured again"
    )
    options = parser.parse_args(arguments)
    results = measure(
        quick=options.quick,
        environments=options.environments,
        kept=options.results,
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
    for name, peer in results["peers"].items():
        if "failed" in peer:
            print(f"{name}: not measured: {peer['failed']}")
    for file in write_page(results, options.output):
        print(file)


if __name__ == "__main__":
    main(sys.argv[1:])
