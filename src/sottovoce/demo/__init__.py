"""A whole campaign on one machine: a collector, two thousand people, estimates against the truth.

The people are passengers who know when their flight left, from which airport, and how warm it was (real
departures from New York in 2013). Each has a client of their own that fetches the spec, audits it, draws
once, and posts one report with an enrolment token.
"""

from __future__ import annotations

import csv
import json
import threading
import time
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np

import sottovoce as sv
from sottovoce.arrays import FloatArray
from sottovoce.device.client import Client, Receipt
from sottovoce.device.inquiry import Value
from sottovoce.errors import FileError
from sottovoce.reporters.contract import Reporter

NAME, PEOPLE_AT_ONCE = "departures", 64  # most of them wait for the beat
#: The same campaign with its first question only, as a number.
ONE_NUMBER = {
    "title": "When did your flight leave?",
    "question": "At what time of the day did your flight leave, in hours after midnight?",
    "unit": "hours",
}

#: What a collector answers, by item and question.
Known = dict[tuple[str, str], dict[str, Any]]


@dataclass(frozen=True)
class Answers:
    """What the people know, by question: hours after midnight, airports, °C (NaN where nobody measured)."""

    time: FloatArray
    airport: list[str]
    temperature: FloatArray

    def __iter__(self) -> Iterator[Value]:
        """The answers of one person after the other."""
        for time_, airport, temperature in zip(self.time, self.airport, self.temperature, strict=True):
            yield {"time": time_, "airport": airport, "temperature": temperature}


def answers(people: int | None = None) -> Answers:
    """What the first passengers know, or all."""
    text = files(__name__).joinpath("departures.csv").read_text("ascii")
    rows = list(csv.DictReader(text.splitlines()))[:people]
    return Answers(
        np.array([int(row["minutes"]) / 60 for row in rows]),
        [row["airport"] for row in rows],
        np.array([float(row["temperature"] or "nan") for row in rows]),
    )


def hours() -> FloatArray:
    """When each person's flight left, in hours after midnight."""
    return answers().time


@dataclass(frozen=True)
class Passengers:
    """The people of the campaign: their collector, a token each, and what their devices run."""

    url: str
    tokens: list[str]
    reporter: Reporter
    operator: str

    def close(self) -> str:
        """End the campaign; what waited is then published. Returns the operator's token, for the counts."""
        headers = {"Authorization": f"Bearer {self.operator}"}
        address = f"{self.url}/v1/campaigns/{NAME}/close"
        urlopen(Request(address, headers=headers, method="POST"), timeout=120).close()
        return self.operator

    @property
    def pages(self) -> tuple[str, str]:
        """Where a guest answers, with the token that nobody else has, and where all see the results."""
        from sottovoce.collector.campaigns.invitations import links

        return links(self.url, NAME, self.tokens[-1:])[0], f"{self.url}/#/{NAME}"

    def report(self, values: Iterable[Value]) -> Iterator[Receipt]:
        """Everybody reports, a few at a time; receipts in the order of the people."""

        def person(token: str, value: Value) -> Receipt:
            epsilon = self.reporter.epsilon
            with Client(self.url, NAME, epsilon=epsilon, token=token, outbox=":memory:") as client:
                return client.report(value)

        with ThreadPoolExecutor(PEOPLE_AT_ONCE) as pool:
            yield from pool.map(person, self.tokens, values)

    def fetch(self, what: str) -> dict[str, Any]:
        """What anybody may read of the collector, such as "summary" or "estimates"."""
        with urlopen(f"{self.url}/v1/campaigns/{NAME}/{what}", timeout=120) as response:
            content: dict[str, Any] = json.load(response)
        return content

    def results(self) -> tuple[int, Known]:
        """How many reports the collector has published, and what it answers from them."""
        content = self.fetch("estimates?quantiles=0.5")
        return content["n"], {(one["item"], one["question"]): one for one in content["answers"]}


@contextmanager
def collector(
    folder: Path, people: int, epsilon: float, port: int = 0, *, survey: bool = False
) -> Iterator[Passengers]:
    """A collector on a new store in a folder, in a thread, with a token for everybody and one for a guest.

    Args:
        folder: Where the store is made.
        people: How many are going to report.
        epsilon: What each of them agrees to.
        port: The collector's port; 0 for any.
        survey: Ask everything that passengers know, and not only at what hour they left.

    Yields:
        The people.
    """
    from sottovoce.collector import Settings, open_store
    from sottovoce.collector.campaigns import tokens
    from sottovoce.collector.campaigns.campaign import create
    from sottovoce.collector.campaigns.declaration import NewCampaign
    from sottovoce.collector.campaigns.written_survey import declared
    from sottovoce.collector.process import server

    path = folder / "demo.db"
    file = tomllib.loads(files(__name__).joinpath("survey.toml").read_text("utf-8"))
    fields = declared({**file, "epsilon": epsilon}) if survey else _one_number(file, epsilon)
    store = open_store(path)
    campaign = create(store, NewCampaign.of(fields))
    issued = tokens.issue(store, campaign.id, "enrolment", people + 1)
    [operator] = tokens.issue(store, 0, "admin", 1)
    store.close()
    running = server(str(path), "127.0.0.1", port, Settings(rate=0))
    thread = threading.Thread(target=running.run, name="collector", daemon=True)
    thread.start()
    while not running.started:
        if not thread.is_alive():
            raise FileError(f"the collector could not start on port {port}", argument="port")
        time.sleep(0.01)
    address = running.servers[0].sockets[0].getsockname()
    try:
        yield Passengers(f"http://127.0.0.1:{address[1]}", issued, campaign.reporter, operator)
    finally:
        running.should_exit = True
        thread.join()


def _one_number(file: dict[str, Any], epsilon: float) -> dict[str, Any]:
    """The campaign of a survey's file, but for one number, whose quantiles are wanted."""
    rules = {key: value for key, value in file.items() if key not in ("questions", "epsilon")}
    return {**rules, **ONE_NUMBER, "spec": sv.design("quantile", epsilon, (0, 24)).to_json()}


def clock(hour: float) -> str:
    """An hour of the day as people write it.

    >>> clock(13.5)
    '13:30'
    """
    minutes = round(hour * 60) % 1440
    return f"{minutes // 60}:{minutes % 60:02d}"
