"""The writer: one thread that turns waiting batches into transactions.

While one commit waits for the disk, more batches arrive; the next transaction takes them all. So many small
requests share a sync, and each is answered after the commit that holds it, never before.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable

from sottovoce.collector import logs
from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import Accepted, Batch, Outcome, Store, Unavailable

_GROUP_BATCHES, _GROUP_CELLS = 256, 50_000
_Waiting = tuple[Batch, "asyncio.Future[Accepted]"]


class Writer:
    """Batches in, outcomes out; `observe` hears the size of each group and how long its commit took."""

    def __init__(self, store: Store, max_waiting: int, observe: Callable[[int, float], None]) -> None:
        self._store, self._max_waiting, self._observe = store, max_waiting, observe
        self._waiting: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    async def store(self, batch: Batch) -> Accepted:
        """Returns once the batch is durably stored; raises the Refusal otherwise."""
        future: asyncio.Future[Accepted] = asyncio.get_running_loop().create_future()
        with self._changed:
            if self._closing or len(self._waiting) >= self._max_waiting:
                raise Refusal("busy", retry_after=1)
            self._waiting.append((batch, future))
            self._changed.notify()
        return await future

    def close(self) -> None:
        """Store what waits, then stop."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while group := self._next_group():
            outcomes = self._ingest([batch for batch, _ in group])
            self._answer(group, outcomes)

    def _next_group(self) -> list[_Waiting]:
        with self._changed:
            while not self._waiting and not self._closing:
                self._changed.wait()
            group: list[_Waiting] = []
            cells = 0
            while self._waiting and len(group) < _GROUP_BATCHES and cells < _GROUP_CELLS:
                group.append(self._waiting.popleft())
                cells += len(group[-1][0].cells)
            return group

    def _ingest(self, batches: list[Batch]) -> list[Outcome]:
        begun = time.perf_counter()
        try:
            outcomes = self._store.ingest(batches)
        except Unavailable:
            return [Unavailable() for _ in batches]
        except Exception:
            # One batch that the code cannot handle must not refuse its neighbours.
            if len(batches) == 1:
                logs.logger.exception("batch_failed")
                return [Refusal("internal")]
            return [outcome for batch in batches for outcome in self._ingest([batch])]
        self._observe(len(batches), time.perf_counter() - begun)
        return outcomes

    @staticmethod
    def _answer(group: list[_Waiting], outcomes: list[Outcome]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Accepted], Outcome]]] = {}
        for (_, future), outcome in zip(group, outcomes, strict=True):
            by_loop.setdefault(future.get_loop(), []).append((future, outcome))
        for loop, answers in by_loop.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(_deliver, answers)


def _deliver(answers: list[tuple[asyncio.Future[Accepted], Outcome]]) -> None:
    for future, outcome in answers:
        if future.done():  # the client went away; what was stored stays stored
            continue
        if isinstance(outcome, Refusal):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
