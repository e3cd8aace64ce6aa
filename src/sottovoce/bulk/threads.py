"""Batches worked on by other threads, in their order, a few at a time: memory stays bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

In = TypeVar("In")
Out = TypeVar("Out")

_WORKERS = 2
_AHEAD = 4  # batches in flight


def in_order(work: Callable[[In], Out], batches: Iterable[In]) -> Iterator[Out]:
    """The results of `work` in the order of the batches, a few prepared ahead by other threads."""
    coming: deque[Future[Out]] = deque()
    with ThreadPoolExecutor(_WORKERS) as workers:
        for batch in batches:
            coming.append(workers.submit(work, batch))
            if len(coming) >= _AHEAD:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
