"""The worker: a process of its own that computes results, so that no solver holds up a report.

A thread would share Python's lock with the event loop, and would take its turns from reports. The process is
started by the first job, has a lower priority, and ends with the collector, also if that is killed: its
standard input closes. A job is a line of JSON and the counts as 64-bit integers, its results another line.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.collector import logs
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.results.results import View, results

_NICE = 3
#: A part of the data: its name, its spec, and two rows: the cells that occurred and how often.
Named = tuple[str, str, NDArray[np.int64]]
_read = lru_cache(maxsize=8)(sv.from_json)
# The child finds the package where this process found it, and never runs this process's main module.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from sottovoce.collector.results.worker import work; work()"
)


class Broken(Refusal):
    """The process ended before it answered; the next job starts another."""

    def __init__(self) -> None:
        super().__init__("estimates_unavailable", retry_after=5)


class Worker:
    """Does one job at a time, and gives it up after so many seconds; `ask` blocks.

    Attributes:
        used: The processor's seconds that the last job took; none for a first one, which loads libraries.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._asking, self._changing = threading.Lock(), threading.Lock()
        self._closed = False
        self.used = 0.0

    @property
    def pid(self) -> int | None:
        """The process's number while there is one."""
        return None if self._process is None else self._process.pid

    def ask(
        self,
        spec: str,
        counts: NDArray[np.int64],
        view: View,
        days: Sequence[Named] = (),
        groups: Sequence[Named] = (),
        earlier: Sequence[Named] = (),
    ) -> dict[str, Any]:
        """What `results.results` gives for counts of a reporter; `Broken` if the process ends before.

        Of a second round `earlier` is the first one; its name is the `Round` as JSON.
        """
        with self._asking:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            parts = [*days, *groups, *earlier]
            body = b"".join(_packed(one) for one in (counts, *(cells for *_, cells in parts)))
            content_of = {"spec": spec, "size": len(counts), "view": asdict(view)}
            names = [[name, spec, cells.shape[1]] for name, spec, cells in parts]
            head = json.dumps({**content_of, "parts": names, "days": len(days), "groups": len(groups)})
            limit = threading.Timer(self._seconds, process.kill)
            limit.start()
            try:
                process.stdin.write(head.encode() + b"\n" + body)
                process.stdin.flush()
                content: dict[str, Any] = json.loads(process.stdout.readline())
                self.used = content.pop("used")
            except BaseException as error:
                self._stop()  # or the next job would read what is left of this answer
                if isinstance(error, OSError | ValueError):
                    raise Broken from error
                raise
            finally:
                limit.cancel()
            return content

    def _started(self) -> subprocess.Popen[bytes]:
        with self._changing:
            if self._closed:
                raise Broken
            if self._process is None:
                # A session of its own: Ctrl-C is for the collector, which then ends this process.
                command = [sys.executable, "-c", _PROGRAM, *sys.path]
                environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}  # its matrices are small
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=environment,
                    start_new_session=True,
                )
            return self._process

    def _stop(self) -> None:
        with self._changing:
            process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # what was not yet written goes with the process
                pipe.close()

    def close(self) -> None:
        """End the process, in the middle of a job if need be."""
        with self._changing:
            self._closed = True
            if self._process is not None:
                self._process.kill()
        with self._asking:
            self._stop()


def work() -> None:
    """What the process does: one job after the other until there are no more."""
    os.nice(_NICE)
    logs.configure("warning")
    jobs, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a library that prints must not write into an answer
    for number, line in enumerate(iter(jobs.readline, b"")):
        begun = time.process_time()
        content = _done(json.loads(line), jobs)
        content["used"] = time.process_time() - begun if number else 0.0
        answers.write(json.dumps(content, allow_nan=False).encode() + b"\n")
        answers.flush()


def _done(head: dict[str, Any], jobs: BinaryIO) -> dict[str, Any]:
    """The results of a job whose first line has been read."""
    counts = np.frombuffer(jobs.read(8 * head["size"]), dtype="<i8")
    view = View(**{**head["view"], "quantiles": tuple(head["view"]["quantiles"])})
    parts = []
    for name, spec, size in head["parts"]:
        cells, amounts = np.frombuffer(jobs.read(16 * size), dtype="<i8").reshape(2, size)
        reporter = _read(spec)
        every = np.zeros(reporter.cells, dtype=np.int64)
        every[cells] = amounts
        parts.append((name, sv.Tally.from_counts(reporter, every)))
    many = head["days"], head["days"] + head["groups"]
    days, groups, earlier = dict(parts[: many[0]]), dict(parts[many[0] : many[1]]), parts[many[1] :]
    return results(sv.Tally.from_counts(_read(head["spec"]), counts), view, days, groups, earlier)


def _packed(numbers: NDArray[np.int64]) -> bytes:
    return np.ascontiguousarray(numbers, dtype="<i8").tobytes()
