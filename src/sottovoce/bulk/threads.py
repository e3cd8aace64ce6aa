"""Batches worked on by other threads, in their order, a few at a time: memory stays bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from sottovoce.core.cores import cores

In = TypeVar("In")
Out = TypeVar("Out")


def in_order(work: Callable[[In], Out], batches: Iterable[In]) -> Iterator[Out]:
    """The results of `work` in the order of the batches, a few prepared ahead by a thread for each core."""
    coming: deque[Future[Out]] = deque()
    with ThreadPoolExecutor(cores()) as workers:
        for batch in batches:
            coming.append(workers.submit(work, batch))
            if len(coming) >= 2 * cores():
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
