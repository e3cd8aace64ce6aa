"""Work spread over processes, in order: only where it takes long enough to be worth their start."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from sottovoce.errors import ArgumentTypeError, ProcessError
from sottovoce.randomness.threads import cores

In = TypeVar("In")
Out = TypeVar("Out")

_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
_WORTH = 4.0  # seconds of work from which processes are worth their start, which takes most of one


def in_processes(work: Callable[[In], Out], chunks: Sequence[In], processes: int | None) -> Iterator[Out]:
    """The results of `work` in the order of the chunks.

    With `processes=None` the first chunk is timed here, and all cores are used if the rest would take long.
    """
    rest = list(chunks)
    if processes is None and rest:
        begin = time.perf_counter()
        yield work(rest.pop(0))
        seconds = len(rest) * (time.perf_counter() - begin)
        processes = cores() if seconds > _WORTH else 1
    if processes is None or processes == 1 or len(rest) < 2:
        yield from map(work, rest)
    else:
        yield from _spawned(work, rest, processes)


def _spawned(work: Callable[[In], Out], chunks: Sequence[In], processes: int) -> Iterator[Out]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context
    from pickle import PicklingError

    try:
        # Spawned, not forked: Arrow's and numba's threads do not survive a fork.
        with ProcessPoolExecutor(min(processes, len(chunks)), get_context("spawn")) as pool:
            with _one_thread_each():  # submitting starts them
                coming = [pool.submit(work, chunk) for chunk in chunks]
            for result in coming:
                yield result.result()
    except (PicklingError, AttributeError) as error:
        raise ArgumentTypeError(
            f"estimate must be importable for processes={processes}: a function of a module, no lambda",
            argument="estimate",
        ) from error
    except BrokenProcessPool:
        raise ProcessError(
            f"the processes could not start or were killed: a script that asks for processes={processes} "
            'needs `if __name__ == "__main__":`',
            argument="processes",
        ) from None


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started meanwhile leave linear algebra to one thread, unless the user has said otherwise.

    Its threads wait for each other by spinning: with as many processes as cores they mostly wait.
    """
    unset = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(unset, "1"))
    try:
        yield
    finally:
        for name in unset:
            os.environ.pop(name, None)
