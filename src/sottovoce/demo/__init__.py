"""A whole campaign on one machine: a collector, two thousand people, estimates against the truth.

The people are passengers; their value is the time at which their flight left (real departures from New
York in 2013). Each has a client of their own that fetches the spec, audits it, draws once, and posts one
report with an enrolment token.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.core.number import Number
from sottovoce.device.client import Client, Receipt

NAME, PEOPLE_AT_ONCE = "departures", 32  # most of them wait for the beat
RULES = {
    "title": "When did your flight leave?",
    "question": "At what time of the day did your flight leave, in hours after midnight?",
    "operator": "the sottovoce demo on this machine",
    "unit": "hours",
    "collection": "enrolment",
    "results": "public",
    "min_n": 100,
}
FloatArray = NDArray[np.float64]


def hours() -> FloatArray:
    """When each person's flight left, in hours after midnight."""
    text = files(__name__).joinpath("departures.csv").read_text("ascii")
    return np.array(text.split()[1:], dtype=float) / 60


@dataclass(frozen=True)
class Passengers:
    """The people of the campaign: their collector, a token each, and what their devices run."""

    url: str
    tokens: list[str]
    mechanism: Number
    operator: str

    def close(self) -> str:
        """End the campaign; what waited is then published. Returns the operator's token, for the counts."""
        headers = {"Authorization": f"Bearer {self.operator}"}
        address = f"{self.url}/v1/campaigns/{NAME}/close"
        urlopen(Request(address, headers=headers, method="POST"), timeout=120).close()
        return self.operator

    def report(self, values: FloatArray) -> Iterator[Receipt]:
        """Everybody reports, a few at a time; receipts in the order of the people."""

        def person(token: str, value: float) -> Receipt:
            epsilon = self.mechanism.epsilon
            with Client(self.url, NAME, epsilon=epsilon, token=token, outbox=":memory:") as client:
                return client.report(value)

        with ThreadPoolExecutor(PEOPLE_AT_ONCE) as pool:
            yield from pool.map(person, self.tokens, values.tolist())

    def fetch(self, what: str) -> dict[str, Any]:
        """What anybody may read of the collector, such as "summary" or "estimates"."""
        with urlopen(f"{self.url}/v1/campaigns/{NAME}/{what}", timeout=120) as response:
            content: dict[str, Any] = json.load(response)
        return content


@contextmanager
def collector(folder: Path, people: int, epsilon: float, port: int = 0) -> Iterator[Passengers]:
    """A collector on a new store in a folder, in a thread, with one campaign and a token for everybody."""
    from sottovoce.collector import Settings, campaigns, open_store, tokens
    from sottovoce.collector.run import server

    path = folder / "demo.db"
    mechanism = sv.design("quantile", epsilon, (0, 24))
    store = open_store(path)
    new = campaigns.NewCampaign.of({"name": NAME, "spec": mechanism.to_json(), **RULES})
    issued = tokens.issue(store, campaigns.create(store, new).id, "enrolment", people)
    [operator] = tokens.issue(store, 0, "admin", 1)
    store.close()
    running = server(str(path), "127.0.0.1", port, Settings(rate=0))
    thread = threading.Thread(target=running.run, name="collector", daemon=True)
    thread.start()
    while not running.started:
        if not thread.is_alive():
            raise OSError(f"the collector could not start on port {port}")
        time.sleep(0.01)
    address = running.servers[0].sockets[0].getsockname()
    try:
        yield Passengers(f"http://127.0.0.1:{address[1]}", issued, mechanism, operator)
    finally:
        running.should_exit = True
        thread.join()


def clock(hour: float) -> str:
    """An hour as people write it.

    >>> clock(13.5)
    '13:30'
    """
    minutes = round(hour * 60)
    return f"{minutes // 60}:{minutes % 60:02d}"
