"""A job that is started again by what started it: python -m tests.collector.restart URL TOKEN FOLDER

For each line on its standard input, "RUN STEP", a fork sends seven values under the name of the run and is
killed at that line of the client's code, counted from the first; never, if STEP is 0. It prints the
place where it was killed, or "done", how many lines it passed and how many reports were accepted.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import sottovoce as sv
from sottovoce.device import connection
from sottovoce.device.client import Client

PEOPLE, BATCH = 7, 2
FOLDERS = tuple(
    str(Path(sv.__file__).parent / part) for part in ("device", "storage/journal", "storage/durable_file")
)


def send(url: str, token: str, outbox: str, run: str) -> int:
    with Client(url, "trial", epsilon=16, token=token, outbox=outbox) as client:
        return client.send(list(range(PEOPLE)), batch=BATCH, run=run)


def killed_at(step: int, result: int, *arguments: str) -> None:
    """Run the job; SIGKILL at a line of the client, in whichever thread."""
    passed = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal passed
        if not frame.f_code.co_filename.startswith(FOLDERS):
            return None
        if event == "line":
            passed += 1
            if passed == step:
                place = f"{Path(frame.f_code.co_filename).stem} {frame.f_code.co_name}"
                os.write(result, f"{place}\n".encode())
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    threading.settrace(trace)
    sys.settrace(trace)
    accepted = send(*arguments)
    sys.settrace(None)
    os.write(result, f"done {passed} {accepted}\n".encode())


def main(url: str, token: str, folder: str) -> None:
    connection._BEAT = 0.001
    for line in sys.stdin:
        run, step = line.split()
        child = os.fork()
        if child == 0:
            try:
                killed_at(int(step), sys.stdout.fileno(), url, token, f"{folder}/{run}.db", run)
            except Exception as error:
                os.write(sys.stdout.fileno(), f"{type(error).__name__} {error}\n".encode())
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
