"""A million broken requests to the collector: no 500, exact counts, memory flat.

The requests are those of tests/collector/fuzz.py, straight into the application. The number may be given:
python -m benchmarks.collector_fuzz 100000
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.collector.fuzz import Fuzzer
from tests.collector.service import Running
from tests.collector.test_fuzz import exchange

import sottovoce as sv
from sottovoce.collector import Settings, create_app, open_store

AT_ONCE = 64


def resident() -> float:
    """Megabytes of this process."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


async def run(folder: str, requests: int) -> None:
    mechanism = sv.sw(epsilon=1.0, cells=1000)
    app = create_app(open_store(f"{folder}/store.db"), Settings(rate=0), secret=bytes(32))
    running = Running(None, app)  # type: ignore[arg-type]
    campaign = running.create(mechanism)
    fuzzer = Fuzzer(mechanism.digest, mechanism.cells, seed=2)

    async def ask(count: int) -> int:
        return sum([await exchange(app, fuzzer.request()) for _ in range(count)])

    accepted, begun = 0, time.perf_counter()
    async with app.router.lifespan_context(app):
        for tenth in range(1, 11):
            share = requests // 10 // AT_ONCE
            accepted += sum(await asyncio.gather(*(ask(share) for _ in range(AT_ONCE))))
            stored = await asyncio.to_thread(running.stored, campaign)
            assert stored == accepted
            done = tenth * share * AT_ONCE
            rate = done / (time.perf_counter() - begun)
            print(f"{done:>9,} requests, {stored:>9,} reports, {rate:>6,.0f}/s, memory {resident():.0f} MB")


def main(requests: int = 1_000_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(folder, requests))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
