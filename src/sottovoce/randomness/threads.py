"""Work on all the cores that may be used: blocks of values, each with words of its own, and batches.

How many that is says SOTTOVOCE_CORES, else OMP_NUM_THREADS or NUMBA_NUM_THREADS, else the operating system.
Threads live as long as one call, so a fork finds none. Each has a secure stream of its own: no words depend
on which thread is first. Seeded words are drawn by one thread, so that cells do not depend on the machine.
"""

from __future__ import annotations

import os
from _thread import _local  # this is `threading.local`; loading all of `threading` takes a millisecond
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from sottovoce.arrays import Words
from sottovoce.errors import ArgumentError
from sottovoce.randomness.secure_stream import SecureStream
from sottovoce.randomness.word_source import WordSource

if TYPE_CHECKING:
    pass

SETTINGS = ("SOTTOVOCE_CORES", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
_WORTH_A_THREAD = 1 << 17  # values: a thread takes as long to start as a few thousand values

In = TypeVar("In")
T = TypeVar("T")

#: Draws the values of a slice with these words, and more of the source; false if one is not in the domain.
Draw = Callable[[slice, Words, WordSource], bool]

_thread = _local()  # `shares` is there in threads that others work beside


def cores() -> int:
    """How many cores a report, a tally or a run over files may use.

    Raises:
        ArgumentError: If SOTTOVOCE_CORES is not a whole number above 0.
    """
    for name in SETTINGS:
        text = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP may list numbers by nesting
        if text.isdecimal() and int(text) > 0:
            return int(text)
        if text and name == SETTINGS[0]:
            raise ArgumentError(f"{name} must be a whole number above 0, got {text!r}", argument=name)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_blocks(size: int, block: int, draws: int, source: WordSource, draw: Draw) -> bool:
    """Draw `size` values, at most `block` at a time, with so many words for each.

    Args:
        size: How many values there are.
        block: How many are drawn at a time.
        draws: How many words a value takes.
        source: Where words come from.
        draw: Draws one block.

    Returns:
        False if some block had a value that is not in the domain.
    """

    def draw_from(first: int, end: int, words_of: WordSource) -> bool:
        inside = True
        for words in words_of.blocks(draws * (end - first), draws * block):
            part = slice(first, first + words.size // draws)
            inside &= draw(part, words, words_of)
            first = part.stop
        return inside

    if size < 2 * _WORTH_A_THREAD or not isinstance(source, SecureStream):
        return draw_from(0, size, source)

    def draw_share(first: int, end: int) -> bool:
        return draw_from(first, end, source if end - first == size else SecureStream())

    return all(on_cores(size, _WORTH_A_THREAD, draw_share))


def on_cores(size: int, least: int, work: Callable[[int, int], T]) -> list[T]:
    """Share work among threads, if it is enough for several.

    Args:
        size: How many items there are.
        least: How many are worth a thread.
        work: Does those from the first to before the end; has to let other threads run.

    Returns:
        What it returned, in order.
    """
    threads = min(size // least, cores()) if size >= 2 * least and not hasattr(_thread, "shares") else 1
    if threads <= 1:
        return [work(0, size)]
    from concurrent.futures import ThreadPoolExecutor

    share = -(-size // threads)
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda first: work(first, min(first + share, size)), range(0, size, share)))


def in_order(work: Callable[[In], T], batches: Iterable[In]) -> Iterator[T]:
    """The results of `work` in the order of the batches, a few prepared ahead by a thread for each core."""
    if cores() == 1:
        yield from map(work, batches)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    def share() -> None:
        _thread.shares = True

    coming: deque[Future[T]] = deque()
    with ThreadPoolExecutor(cores(), initializer=share) as workers:
        for batch in batches:
            coming.append(workers.submit(work, batch))
            if len(coming) >= 2 * cores():
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
