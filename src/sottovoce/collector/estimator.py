"""The estimator: a process of its own that computes estimates, so that no solver holds up a report.

A thread would share Python's lock with the event loop, and would take its turns from reports. The process is
started by the first question, has a lower priority, and ends with the collector, also if that is killed: its
standard input closes. A question is a line of JSON and the counts as 64-bit integers, an answer another line.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from dataclasses import asdict
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sottovoce.collector.answers import Question, answer

_NICE = 3
# The child finds the package where this process found it, and never runs this process's main module.
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from sottovoce.collector.estimator import work; work()"


class Broken(Exception):
    """The process ended before it answered; the next question starts another."""


class Estimator:
    """Asks one question at a time; `ask` blocks."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._asking, self._changing = threading.Lock(), threading.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process's number while there is one."""
        return None if self._process is None else self._process.pid

    def ask(self, spec: str, counts: NDArray[np.int64], question: Question) -> dict[str, Any]:
        with self._asking:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            body = np.ascontiguousarray(counts, dtype="<i8").tobytes()
            head = json.dumps({"spec": spec, "bytes": len(body), **asdict(question)})
            try:
                process.stdin.write(head.encode() + b"\n" + body)
                process.stdin.flush()
                content: dict[str, Any] = json.loads(process.stdout.readline())
            except (OSError, ValueError) as error:
                self._stop()
                raise Broken("the estimator ended before it answered") from error
            return content

    def _started(self) -> subprocess.Popen[bytes]:
        with self._changing:
            if self._closed:
                raise Broken("the collector is stopping")
            if self._process is None:
                # A session of its own: Ctrl-C is for the collector, which then ends this process.
                command = [sys.executable, "-c", _PROGRAM, *sys.path]
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
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
        """End the process, in the middle of a question if need be."""
        with self._changing:
            self._closed = True
            if self._process is not None:
                self._process.kill()
        with self._asking:
            self._stop()


def work() -> None:
    """What the process does: answer until there are no more questions."""
    from sottovoce.collector import logs

    os.nice(_NICE)
    logs.configure("warning")
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a library that prints must not write into an answer
    while (content := _read(questions)) is not None:
        answers.write(json.dumps(content, allow_nan=False).encode() + b"\n")
        answers.flush()


def _read(questions: BinaryIO) -> dict[str, Any] | None:
    """The answer to the next question; None at the end."""
    from sottovoce.collector.campaigns import read_mechanism
    from sottovoce.estimates.tally import Tally

    line = questions.readline()
    if not line:
        return None
    head = json.loads(line)
    counts = np.frombuffer(questions.read(head["bytes"]), dtype="<i8")
    question = Question(head["confidence"], tuple(head["quantiles"]), head["bins"])
    return answer(Tally.from_counts(read_mechanism(head["spec"]), counts), question)
