"""Jobs that send many and are started a second time: nobody is drawn again, and nobody is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.device.fake import Collector

import sottovoce as sv
from sottovoce.device import connection
from sottovoce.device import outbox as outbox_module
from sottovoce.device.connection import Refused, Undelivered
from sottovoce.device.inquiry import Inquiry
from sottovoce.device.outbox import Outbox
from sottovoce.errors import ArgumentTypeError, LedgerError, PrivacyError
from sottovoce.reporters.composites.survey import Survey

MECHANISM = sv.ogpm(1.0, (0, 24), cells=50)
PEOPLE = np.linspace(0, 24, 5000)


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector(MECHANISM) as made:
        yield made


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return tmp_path / "outbox.db"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_BEAT", 0.001)


def client(collector: Collector, box: Path, **options: Any) -> sv.Client:
    return sv.Client(collector.url, "commute", **{"epsilon": 1.0, "attempts": 1, "outbox": box, **options})


def send(collector: Collector, box: Path, run: str = "", values: Any = PEOPLE, **options: Any) -> int:
    with client(collector, box, **options) as mine:
        return mine.send(values, run=run)


def left(collector: Collector) -> dict[str, bytes]:
    """Every body that left the device, by its key; the same key never with two bodies."""
    bodies: dict[str, bytes] = {}
    for _, key, body in collector.sent:
        assert bodies.setdefault(key, body) == body
    return bodies


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many people were drawn at each time."""
    counts: list[int] = []
    real = Inquiry.draw_many

    def counting(self: Inquiry, values: Any, rng: Any = None) -> Any:
        reports = real(self, values, rng)
        counts.append(len(reports))
        return reports

    monkeypatch.setattr(Inquiry, "draw_many", counting)
    return counts


def test_a_job_without_a_name_does_not_draw_again(collector: Collector, box: Path, draws: list[int]) -> None:
    """The case that stored 15,000 reports of 5,000 people."""
    collector.statuses = [200, 200, 503]
    with pytest.raises(Undelivered):
        send(collector, box)
    for _ in range(2):
        with pytest.raises(PrivacyError, match=r"Call flush\(\) to send what waits") as caught:
            send(collector, box)
        assert (caught.value.code, caught.value.argument) == ("repeated", "run")
    with client(collector, box) as mine:
        assert mine.flush() == 3000
    assert draws == [5000]
    assert len(left(collector)) == 5
    assert send(collector, box) == 5000  # other people, as nothing waits


def test_a_run_that_failed_goes_on(collector: Collector, box: Path, draws: list[int]) -> None:
    collector.statuses = [200, 200, 503, 503]
    for _ in range(2):
        with pytest.raises(Undelivered):
            send(collector, box, "2026-11")
    assert send(collector, box, "2026-11") == 3000
    assert send(collector, box, "2026-11") == 0
    assert draws == [5000]
    assert len(left(collector)) == 5
    assert send(collector, box, "2026-12") == 5000
    assert draws == [5000, 5000]


def test_what_was_refused_is_of_the_run(collector: Collector, box: Path, draws: list[int]) -> None:
    """A token that was wrong on Sunday: what left the device is what is sent on Monday."""
    collector.statuses = [403] * 5
    with pytest.raises(Refused, match="403"):
        send(collector, box, "2026-11")
    with client(collector, box) as mine:
        assert mine.flush() == 0
    with pytest.raises(PrivacyError, match="not accepted"):
        send(collector, box)
    assert send(collector, box, "2026-12") == 5000
    collector.statuses = [403]
    with pytest.raises(Refused, match="403"):
        send(collector, box, "2026-11")  # the rest is sent first
    assert send(collector, box, "2026-11") == 1000
    assert send(collector, box, "2026-11") == 0
    assert (draws, len(left(collector))) == ([5000, 5000], 10)


def test_a_job_without_a_name_that_was_refused_does_not_draw_again(
    collector: Collector, box: Path, draws: list[int]
) -> None:
    collector.statuses = [403] * 5
    with pytest.raises(Refused):
        send(collector, box)
    for options in ({}, {"token": "another"}):
        with pytest.raises(PrivacyError, match="not accepted"):
            send(collector, box, **options)
    assert send(collector, box, "november") == 5000  # the way on that the sentence names
    assert draws == [5000, 5000]


def test_batches_without_a_name_are_sent_before_a_run_begins(
    collector: Collector, box: Path, draws: list[int]
) -> None:
    """Else the failed job that is given a name at last would draw everybody again."""
    collector.statuses = [503]
    with pytest.raises(Undelivered):
        send(collector, box)
    with pytest.raises(PrivacyError, match="flush"):
        send(collector, box, "2026-11")
    with client(collector, box) as mine:
        assert mine.flush() == 5000
    assert draws == [5000]


def test_a_run_waits_while_the_next_one_begins(collector: Collector, box: Path) -> None:
    collector.statuses = [503]
    with pytest.raises(Undelivered):
        send(collector, box, "2026-11")
    assert send(collector, box, "2026-12") == 10_000  # what waits is sent first
    assert len(left(collector)) == 10


def test_a_run_is_of_its_people(collector: Collector, box: Path, draws: list[int]) -> None:
    """The draws that are recorded stay; of other values only another number of people is noticed."""
    send(collector, box, "2026-11")
    with pytest.raises(
        PrivacyError, match="the 5000 people for whom run '2026-11' was drawn, got 4999"
    ) as caught:
        send(collector, box, "2026-11", PEOPLE[1:])
    assert caught.value.argument == "values"
    assert send(collector, box, "2026-11", PEOPLE[::-1]) == 0
    with pytest.raises(PrivacyError, match="another token or another mechanism"):
        send(collector, box, "2026-11", token="renewed")
    other = sv.ogpm(1.0, (0, 24), cells=51)
    collector.description |= {"spec": other.to_json(), "digest": other.digest}
    with pytest.raises(PrivacyError, match="another token or another mechanism"):
        send(collector, box, "2026-11")
    assert draws == [5000]
    assert len(left(collector)) == 5


def test_nobody_is_no_run(collector: Collector, box: Path) -> None:
    """A file that was empty at the first start does not stand for a run that was drawn."""
    assert send(collector, box, "2026-11", []) == 0
    assert send(collector, box, "2026-11") == 5000


@pytest.mark.parametrize("run", [None, 11, b"2026-11"])
def test_a_run_has_a_name(collector: Collector, box: Path, run: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="run must be a name"):
        send(collector, box, run)


def test_people_are_counted_without_a_draw(box: Path) -> None:
    survey = Survey(1.0, {"sleep": sv.ogpm(0.6, (0, 24), cells=30), "happy": sv.duchi(0.4)}, 2)
    values = {"sleep": [7.5, None, 8.0], "happy": [1.0, 0.5, None]}
    with Collector(survey) as collector:
        for accepted in (3, 0):
            assert send(collector, box, "a", values) == accepted
        with pytest.raises(PrivacyError, match="the 3 people"):
            send(collector, box, "a", {"sleep": [1.0], "happy": [1.0]})
    with Collector(sv.choice(1.0, ["train", "car"])) as collector:
        for accepted in (3, 0):
            assert send(collector, box, "a", ["car", None, "train"]) == accepted


def test_what_the_collector_may_have_forgotten_is_never_sent_again(
    collector: Collector, box: Path, draws: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that waits for a week says so at every start; a clock that was wrong loses nothing."""
    collector.statuses = [200, 503]
    with pytest.raises(Undelivered):
        send(collector, box, "2026-11")
    now = time.time()
    with monkeypatch.context() as later:
        later.setattr("sottovoce.device.client.time.time", lambda: now + 7 * 86_400)
        for _ in range(2):
            with pytest.raises(Refused, match="too_late"):
                send(collector, box, "2026-11")
    assert len(collector.sent) == 2
    assert send(collector, box, "2026-11") == 4000
    assert draws == [5000]


def test_two_starts_at_once(collector: Collector, box: Path) -> None:
    """Both may draw, and one draw is recorded: the other never left the device."""
    for i in range(5):
        barrier = threading.Barrier(2)

        def start(run: str = f"run-{i}", barrier: threading.Barrier = barrier) -> None:
            with client(collector, box) as mine:
                barrier.wait()
                mine.send(PEOPLE, run=run)

        threads = [threading.Thread(target=start) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(left(collector)) == 5 * (i + 1)


def test_runs_are_remembered_when_the_outbox_is_cleared(
    collector: Collector, box: Path, draws: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_module, "_SLACK", 10)
    for _ in range(2):
        for i in range(20):
            send(collector, box, f"run-{i}")
    assert draws == [5000] * 20
    assert len(Outbox(box)._journal.entries()) < 60


def test_an_outbox_that_names_a_run_twice_is_refused(box: Path) -> None:
    made = Outbox(box)
    with made._journal.open() as turn:
        for place in ("a one", "a two"):
            turn.append({"kind": "run", "place": place, "run": "x", "people": 1})
    with pytest.raises(LedgerError, match="a run is written twice"):
        Outbox(box)
