"""What forgetting costs: reports with a key that is erased after every use, against one that is kept.

The other source draws from one AES-CTR stream for ever and wipes nothing, as 0.1.0 did. Ratios of CPU time in
one run, by turns; a turn is so many calls that a key is replaced several times, since words are made ahead.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import sottovoce as sv
from benchmarks._machine import describe_machine
from sottovoce.core.randomness import SecureStream, Words

TAKES = "30 s"
#: Calls of a turn by values of a call: enough to use up the 32 keys that are set up at a time.
CALLS = {1: 512, 100: 64, 1_000: 64, 10_000: 64, 100_000: 32, 1_000_000: 32}
TURNS = 60


class Keeping(SecureStream):
    """One key and one counter, never erased."""

    def __init__(self) -> None:
        super().__init__()
        self._fill = super()._open()

    def _open(self) -> Callable[[Words], None]:
        return self._fill

    def words(self, count: int) -> Words:
        out = np.empty(count, dtype="<u8")
        self._fill(out)
        return out

    def blocks(self, count: int, most: int) -> Iterator[Words]:
        words = np.empty(min(count, most), dtype="<u8")
        for first in range(0, count, most):
            self._fill(part := words[: count - first])
            yield part


def least(*works: Callable[[], object], turns: int) -> list[float]:
    """The least CPU time of each, by turns."""
    best = [float("inf")] * len(works)
    for _ in range(turns):
        for i, work in enumerate(works):
            begin = time.process_time_ns()
            work()
            best[i] = min(best[i], (time.process_time_ns() - begin) / 1e9)
    return best


def main() -> None:
    os.environ["SOTTOVOCE_CORES"] = "1"  # other threads have streams of their own
    forgetting, keeping, rows = SecureStream(), Keeping(), []
    for name, mechanism in (("OGPM", sv.ogpm(1.0)), ("optimal", sv.optimal(1.0))):
        for size, many in CALLS.items():
            x = np.random.default_rng(1).random(size)

            def report(source: SecureStream) -> None:
                for _ in range(many):  # noqa: B023
                    mechanism.report(x, rng=source)  # noqa: B023

            new, old = least(lambda: report(forgetting), lambda: report(keeping), turns=TURNS)
            rows.append({"design": name, "values": size, "ratio": new / old})
            print(f"{name:8} {size:>9,} values: {new / old:.3f} of a kept key")
    result = {"machine": describe_machine(), "rows": rows}
    path = Path(__file__).parent / "results" / "forgetting.json"
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
