"""The collector's rates over HTTP beside those of another version of itself, in turns.

Both versions run at the same time, each with a store of its own of the same kind; the same generator of load
writes to one, then to the other, then to the other again and to the first, and so on, so that what else the
machine does meets both. The figure is the median over the rounds of the ratio of two neighbours; beside it
stands the collector's own processor time of a request. Both get a token that may write. With `--polled` a
dashboard asks for summary and estimates four times a second while batches of 1,000 come in. The other version
is a commit of this repository: that of 0.1.0 unless another is named. Results are written to
benchmarks/results/collector_rates.json.

    python -m benchmarks.collector_rates [--before COMMIT] [--store sqlite] [--rounds 10] [--seconds 2]
        [--polled]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tests.collector.cluster import Cluster

from benchmarks import _tables
from benchmarks._machine import describe_machine
from benchmarks.collector_load import FORMS, STORES, load, poll

TAKES = "10 min"

HERE = Path(__file__).parents[1]
BEFORE = "b8dee3d"
RESULTS = Path(__file__).parent / "results" / "collector_rates.json"
CASES = [(size, form) for size in (1, 100, 1000) for form in FORMS]
POLLED = [(1000, "binary")]
#: Runs in either version: names that both have.
_PROGRAM = """
import sys
from pathlib import Path
from tests.collector.service import Server, create
from benchmarks.collector_load import MECHANISM
from sottovoce.collector import open_store
try:
    from sottovoce.collector.campaigns import tokens
except ImportError:  # in the older version
    from sottovoce.collector import tokens
store = open_store(sys.argv[1])
[token] = tokens.issue(store, create(store, MECHANISM, collection="write").id, "write", 1)
store.close()
server = Server(sys.argv[1], Path(sys.argv[2]))
print(server.url.rsplit(":", 1)[1], token, server.process.pid, flush=True)
sys.stdin.read()
server.stop()
"""


class Version(NamedTuple):
    """A running collector: its port, a token that may write, and its process."""

    port: int
    token: str
    pid: int

    def processor(self) -> float:
        """Seconds of processor time that the collector has had."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def measure(self, size: int, form: str, seconds: float, polled: bool) -> tuple[float, float]:
        """Reports per second, and milliseconds of processor time a request."""
        begun, until = self.processor(), time.perf_counter() + seconds
        with ThreadPoolExecutor(1) as dashboard:
            if polled:
                dashboard.submit(poll, f"http://127.0.0.1:{self.port}", until)
            times, taken = asyncio.run(load(self.port, self.token, size, form, seconds))
        return len(times) * size / taken, 1000 * (self.processor() - begun) / len(times)


@contextlib.contextmanager
def running(tree: Path, url: str, folder: Path) -> Iterator[Version]:
    """The collector of a tree, on a store."""
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, url, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": f"{tree / 'src'}:{tree}"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    port, token, pid = process.stdout.readline().split()
    try:
        yield Version(int(port), token, int(pid))
    finally:
        process.stdin.close()
        process.wait()


def checkout(commit: str, folder: Path) -> Path:
    """The tree of a commit."""
    archive = subprocess.run(["git", "archive", commit], cwd=HERE, check=True, stdout=subprocess.PIPE)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def compare(kind: str, commit: str, rounds: int, seconds: float, polled: bool) -> list[Any]:
    """A row for each case: the rates of both in every round, and the median ratio."""
    rows = []
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        before = checkout(commit, folder / "tree")
        urls = [str(folder / "before.db"), str(folder / "now.db")]
        if kind == "postgresql":
            cluster = Cluster()
            stack.callback(cluster.remove)
            urls = [cluster.database(), cluster.database()]
        versions = [
            stack.enter_context(running(tree, url, folder / label))
            for tree, url, label in zip((before, HERE), urls, ("before", "now"), strict=True)
        ]
        for size, form in POLLED if polled else CASES:
            for version in versions:
                version.measure(size, form, 0.5, polled)
            figures = np.empty((rounds, 2, 2))
            for turn in range(rounds):
                for which in (0, 1) if turn % 2 == 0 else (1, 0):
                    figures[turn, which] = versions[which].measure(size, form, seconds, polled)
            rates, processor = figures[..., 0], figures[..., 1]
            row = {
                "batch": size,
                "form": form,
                "before": np.median(rates[:, 0]).round().item(),
                "now": np.median(rates[:, 1]).round().item(),
                "ratio": np.median(rates[:, 1] / rates[:, 0]).round(3).item(),
                "ratios": np.sort(rates[:, 1] / rates[:, 0]).round(2).tolist(),
                "processor_ms": np.median(processor, axis=0).round(3).tolist(),
            }
            rows.append(row)
            print(kind, row, flush=True)
    return rows


def table(known: dict[str, Any]) -> str:
    """The results as the Markdown that docs/measurements/collector.md shows."""
    lines = [
        "| batch | store | 0.1.0 | now | now / 0.1.0 | processor ms a request, 0.1.0, now |",
        "|---|---|---|---|---|---|",
    ]
    rows = [[known[kind][place] for kind in STORES] for place in range(len(CASES))]
    rows.append([{**known["polled"][kind][0], "form": "polled"} for kind in STORES])
    words = {**FORMS, "polled": "polled"}
    for case in rows:
        for name, row in zip(STORES.values(), case, strict=True):
            processor = ", ".join(f"{ms:.2f}" for ms in row["processor_ms"])
            lines.append(
                f"| {row['batch']:,}, {words[row['form']]} | {name} | {row['before']:,.0f} "
                f"| {row['now']:,.0f} | {row['ratio']:.2f} | {processor} |"
            )
    return "\n".join(lines)


def capacity(known: dict[str, Any]) -> str:
    """The rates of this version, binary, as docs/operations/capacity.md shows them."""
    rows = [
        [f"{row['batch']:,}", *(f"{known[kind][place]['now']:,.0f}" for kind in STORES)]
        for place, row in enumerate(known["sqlite"])
        if row["form"] == "binary"
    ]
    return _tables.table(["reports in a request", *STORES.values()], rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", default=BEFORE)
    parser.add_argument("--store", choices=STORES, action="append")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--polled", action="store_true")
    chosen = parser.parse_args(arguments or [])
    for kind in chosen.store or STORES:
        rows = compare(kind, chosen.before, chosen.rounds, chosen.seconds, chosen.polled)
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        if chosen.polled:
            known["polled"] = {**known.get("polled", {}), kind: rows, "seconds": chosen.seconds}
        else:
            known |= {kind: rows, "before": chosen.before, "seconds": chosen.seconds}
        known["machine"] = f"{describe_machine()}, {os.cpu_count()} cores"
        RESULTS.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
