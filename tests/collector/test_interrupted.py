"""What the collector keeps between calls, when one of them is interrupted half-way."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.collector.results.results import View
from sottovoce.collector.results.results_cache import ResultsCache, _Entry
from sottovoce.collector.results.worker import Worker


def test_an_answer_that_was_not_read_is_no_answer_to_the_next_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is ended whatever went wrong: else the next campaign would show results of this one."""
    spec, view = sv.ogpm(1.0, cells=16).to_json(), View(quantiles=())
    few, many = np.ones(16, dtype=np.int64), np.full(16, 1000, dtype=np.int64)
    estimator = Worker(60)

    def fails() -> bytes:
        raise MemoryError

    try:
        right = estimator.ask(spec, many, view)
        process = estimator._started()
        assert process.stdout is not None
        with monkeypatch.context() as patch:
            patch.setattr(process, "stdout", SimpleNamespace(readline=fails, close=process.stdout.close))
            with pytest.raises(MemoryError):
                estimator.ask(spec, few, view)
        assert estimator.ask(spec, many, view) == right
    finally:
        estimator.close()


def test_what_is_forgotten_while_it_is_computed_stays_forgotten() -> None:
    async def run() -> None:
        cache = ResultsCache(SimpleNamespace(), waiting=4, seconds=60)  # type: ignore[arg-type]
        campaign, computing, goes_on = SimpleNamespace(id=1), threading.Event(), threading.Event()

        def compute(*_: Any) -> _Entry:
            computing.set()
            goes_on.wait(60)
            return _Entry(float("inf"), [], {"n": 1})

        cache._compute = compute  # type: ignore[method-assign]
        asked = asyncio.create_task(cache.get(campaign, View()))  # type: ignore[arg-type]
        await asyncio.to_thread(computing.wait, 60)
        cache.forget(1)
        goes_on.set()
        assert await asked == {"n": 1}
        assert not cache._entries
        assert not cache._jobs

    asyncio.run(run())


def test_who_asks_when_the_last_one_left_is_answered() -> None:
    """A job that was cancelled a moment ago is not there to be waited for."""

    async def run() -> None:
        cache = ResultsCache(SimpleNamespace(), waiting=4, seconds=60)  # type: ignore[arg-type]
        campaign = SimpleNamespace(id=1)
        cache._compute = lambda *_: _Entry(0.0, [], {"n": 1})  # type: ignore[method-assign]
        ask = lambda: asyncio.create_task(cache.get(campaign, View()))  # type: ignore[arg-type]  # noqa: E731
        async with cache._turn:  # another campaign's turn
            leaves = ask()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            leaves.cancel()
            comes = ask()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        assert await comes == {"n": 1}

    asyncio.run(run())
