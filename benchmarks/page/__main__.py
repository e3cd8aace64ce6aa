"""`make peers`: the benchmarks page from one run on this machine, other packages included. Ten minutes.

    python -m benchmarks.page --output docs/benchmarks.md --readme README.md
    python -m benchmarks.page --results docs/benchmarks/results.json --output docs/benchmarks.md

The second measures nothing: it writes the page again after a change of words.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks._tables import replace_table
from benchmarks.page.page import readme_words, write_page
from benchmarks.page.run import measure


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("benchmarks.md"), help="the page")
    parser.add_argument("--readme", type=Path, help="a page with a place for a sentence about speed")
    parser.add_argument("--quick", action="store_true", help="a smaller, faster run")
    parser.add_argument("--environments", type=Path, help="keep the environments of peers here")
    parser.add_argument("--results", type=Path, help="the numbers of an earlier run, not measured again")
    options = parser.parse_args(arguments)
    begin = time.monotonic()

    def say(text: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - begin), 60)
        print(f"{minutes:2}:{seconds:02} {text}", file=sys.stderr, flush=True)

    if options.results is None:
        results = measure(quick=options.quick, environments=options.environments, say=say)
    else:
        results = json.loads(options.results.read_text(encoding="utf-8"))
    for name, peer in results["peers"].items():
        if "failed" in peer:
            print(f"{name}: not measured: {peer['failed']}")
    for file in write_page(results, options.output):
        print(file)
    if options.readme is not None:
        replace_table(options.readme, "speed", readme_words(results))


if __name__ == "__main__":
    main(sys.argv[1:])
