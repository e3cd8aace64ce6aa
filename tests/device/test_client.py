"""A client with a ledger, the moment at which it sends, and how long it lets itself be held."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.collector.service import until
from tests.device.fake import Collector

import sottovoce as sv
from sottovoce.device import client as module
from sottovoce.device import connection
from sottovoce.device.client import Receipt
from sottovoce.device.connection import Refused, Undelivered, Wire
from sottovoce.device.inquiry import Inquiry
from sottovoce.device.outbox import Run
from sottovoce.errors import ArgumentError, BudgetError, DataError, LedgerError, PrivacyError
from sottovoce.reporters.composites.survey import Survey

MECHANISM = sv.ogpm(1.0, (0, 24), cells=50)
BEAT = connection._BEAT


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector(MECHANISM, missing=3) as made:
        yield made


@pytest.fixture
def ledger(tmp_path: Path) -> sv.Ledger:
    return sv.Ledger(tmp_path / "ledger.db", budget=2)


def client(collector: Collector, **options: Any) -> sv.Client:
    return sv.Client(
        **{"url": collector.url, "campaign": "commute", "epsilon": 1.0, "attempts": 1, **options}
    )


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_BEAT", 0.001)


def report(collector: Collector, **options: Any) -> Receipt:
    with client(collector, **options) as mine:
        return mine.report(7.5)


# -- spending ------------------------------------------------------------------------------------------------


def test_epsilon_is_recorded_before_it_leaves(
    collector: Collector, ledger: sv.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = []
    real = Wire.request

    def watching(self: Wire, method: str, *rest: Any) -> bytes:
        if method == "POST":
            spent.append(sv.Ledger(ledger.path).spent)  # what another program reads at this moment
        return real(self, method, *rest)

    monkeypatch.setattr(Wire, "request", watching)
    with client(collector, ledger=ledger) as mine:
        receipt = mine.report(7.5)
        assert mine.report(20.0) == receipt
    assert spent == [1]
    assert len(collector.sent) == 1
    assert ledger.pending() == []
    account = f"http://localhost:{collector.port}/v1/campaigns/commute"
    assert ledger.campaigns == (account,)
    assert ledger.account(account).reports[""].cells == receipt.cells


@pytest.mark.attack("M5", "refused")
def test_one_budget_over_campaigns_and_collectors(collector: Collector, ledger: sv.Ledger) -> None:
    with Collector(MECHANISM) as other:
        report(collector, ledger=ledger)
        report(other, ledger=ledger)
        for where in (collector, other):
            with pytest.raises(BudgetError, match="0 is left of the budget of 2"):
                report(where, ledger=ledger, campaign="another")
        assert len(collector.sent) == len(other.sent) == 1


@pytest.mark.attack("M5", "succeeds")
def test_without_a_ledger_every_campaign_draws(collector: Collector, tmp_path: Path) -> None:
    """The attack as it succeeds where nothing counts: 25 campaigns, 25 draws."""
    for i in range(25):
        report(collector, outbox=tmp_path / "box", campaign=f"commute-{i}")
    assert len(collector.sent) == 25


def test_other_spellings_do_not_draw_again(collector: Collector, ledger: sv.Ledger, tmp_path: Path) -> None:
    spellings = [f"http://{host}:{collector.port}" for host in ("127.1", "LOCALHOST", "0x7f.0.0.1")]
    spellings += [f"http://127.0.0.1:0{collector.port}/", f"HTTP://127.0.0.1:{collector.port}//"]
    for box in ({"ledger": ledger}, {"outbox": tmp_path / "box"}):
        receipts = {report(collector, url=url, **box) for url in (collector.url, *spellings)}
        assert len(receipts) == 1
    assert len(collector.sent) == 2


def test_a_second_invitation_does_not_draw_again(collector: Collector, ledger: sv.Ledger) -> None:
    report(collector, ledger=ledger, token="one")
    for token in ("two", None):
        with pytest.raises(PrivacyError, match="answered with another token"):
            report(collector, ledger=ledger, token=token)
    assert len(collector.sent) == 1


@pytest.mark.attack("M6", "refused")
@pytest.mark.parametrize("kind", ["ledger", "outbox"])
def test_a_pending_draw_is_not_sent_under_anothers_token(
    collector: Collector, ledger: sv.Ledger, tmp_path: Path, kind: str
) -> None:
    box: dict[str, Any] = {"ledger": ledger} if kind == "ledger" else {"outbox": tmp_path / "box"}
    collector.statuses = [503]
    with client(collector, token="one", **box) as mine, pytest.raises(Undelivered):
        mine.report(7.5)
    with client(collector, token="two", **box) as other:
        assert other.flush() == 0
        if kind == "ledger":
            with pytest.raises(PrivacyError):
                other.report(3.0)
        else:
            other.report(3.0)  # another person draws for themselves
    with client(collector, token="one", **box) as mine:
        assert mine.flush() == 1
    holders: dict[bytes, set[str | None]] = {}
    for token, key, _ in collector.sent:
        holders.setdefault(key.encode(), set()).add(token)
    assert all(len(tokens) == 1 for tokens in holders.values())


@pytest.mark.attack("M6", "succeeds")
def test_a_record_that_is_not_bound_to_the_token_is_found_out(
    collector: Collector, ledger: sv.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.device.ledger.holder", lambda token: "")
    monkeypatch.setattr("sottovoce.device.record.holder", lambda token: "")
    collector.statuses = [503]
    with client(collector, token="one", ledger=ledger) as mine, pytest.raises(Undelivered):
        mine.report(7.5)
    with client(collector, token="two", ledger=ledger) as other:
        assert other.flush() == 1
    assert [token for token, _, _ in collector.sent] == ["Bearer one", "Bearer two"]
    assert len({key for _, key, _ in collector.sent}) == 1


def test_periods(collector: Collector, ledger: sv.Ledger, tmp_path: Path) -> None:
    with client(collector, ledger=ledger) as mine:
        receipts = [mine.report(7.5, period=day) for day in ("monday", "tuesday", "monday")]
        assert receipts[0] == receipts[2]
        with pytest.raises(BudgetError):
            mine.report(7.5, period="wednesday")
    assert len({key for _, key, _ in collector.sent}) == len(collector.sent) == 2
    with client(collector, outbox=tmp_path / "box") as plain, pytest.raises(ArgumentError, match="a ledger"):
        plain.report(7.5, period="monday")


def test_other_terms_are_refused(collector: Collector, ledger: sv.Ledger) -> None:
    report(collector, ledger=ledger)
    other = sv.ogpm(1.0, (0, 24), cells=51)
    collector.description |= {"spec": other.to_json(), "digest": other.digest}
    with client(collector, ledger=ledger) as mine:
        with pytest.raises(LedgerError, match="on other terms") as caught:
            mine.report(7.5)
        assert caught.value.code == "terms"
        assert mine.flush() == 0


def test_what_was_refused_holds_nothing_else_up(collector: Collector, ledger: sv.Ledger) -> None:
    collector.statuses = [503, 503, 409]
    with client(collector, ledger=ledger) as mine:
        for day in ("monday", "tuesday"):
            with pytest.raises(Undelivered):
                mine.report(7.5, period=day)
        with pytest.raises(Refused, match="409 no"):
            mine.flush()
        assert [report.period for report in ledger.pending()] == ["monday"]
        assert mine.flush() == 1


class _Wrong:
    """A reporter whose sampler is wrong: it gives a cell that there is not."""

    def __init__(self, reporter: Any) -> None:
        self._reporter = reporter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reporter, name)

    def report(self, values: Any, **options: Any) -> Any:
        return np.full(np.shape(values), self._reporter.cells, dtype=np.uint32)


def test_what_is_no_report_is_neither_written_down_nor_sent(
    collector: Collector, ledger: sv.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client(collector, outbox=tmp_path / "outbox.db") as mine:
        inquiry = mine._inquiry
        object.__setattr__(inquiry, "reporter", _Wrong(inquiry.reporter))
        for send in (lambda: mine.report(7.5), lambda: mine.send([7.5, 8])):
            with pytest.raises(DataError, match=r"cells must lie in 0\.\.49"):
                send()
        assert mine.flush() == 0
        object.__setattr__(inquiry, "reporter", mine.reporter)
        body = bytes.fromhex(mine.reporter.digest) + bytes([50])  # by a version that drew wrongly
        record: Any = mine._record
        record._outbox.put_batches(Run(record._batches, "", 1), [body])
        with pytest.raises(DataError, match=r"cells must lie in 0\.\.49"):
            mine.flush()
        assert mine.flush() == 0  # it holds nothing else up
        assert mine.send([7.5, 8], run="later") == 2
    ledger.enrol("hours", MECHANISM, missing=3)
    with ledger._journal.open() as turn:
        inquiry = turn.state.account("hours").terms.inquiry
    monkeypatch.setattr(type(inquiry.reporter), "report", _Wrong(inquiry.reporter).report)
    with pytest.raises(DataError, match=r"cells must lie in 0\.\.49"):
        ledger.report("hours", 7.5)
    monkeypatch.undo()
    assert ledger.spent == 0
    assert len(collector.sent) == 1


def test_what_a_ledger_is_not_for(collector: Collector, ledger: sv.Ledger) -> None:
    with client(collector, ledger=ledger) as mine, pytest.raises(ArgumentError, match="one person's"):
        mine.send([1.0, 2.0])
    with pytest.raises(ArgumentError, match="takes its place"):
        client(collector, ledger=ledger, outbox=":memory:")
    assert ledger.spent == 0


def test_a_survey_with_a_ledger(ledger: sv.Ledger) -> None:
    survey = Survey(1.0, {"sleep": sv.ogpm(0.6, (0, 24), cells=30), "happy": sv.duchi(0.4)}, 2)
    with Collector(survey, missing={"sleep": "uniform", "happy": 0.5}) as collector:
        with client(collector, ledger=ledger) as mine:
            receipt = mine.report({"sleep": None, "happy": 1.0})
            assert mine.report(None) == receipt
        assert (len(collector.sent), ledger.spent) == (1, 1)


@pytest.mark.parametrize("kind", ["ledger", "outbox"])
@pytest.mark.parametrize("days", [-7, 7])
def test_what_the_collector_may_have_forgotten_is_not_repeated(
    collector: Collector,
    ledger: sv.Ledger,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    days: int,
) -> None:
    """Nor is it lost: the person has paid for it, and the device's clock may be set right later."""
    collector.statuses = [503]
    box: dict[str, Any] = {"ledger": ledger} if kind == "ledger" else {"outbox": tmp_path / "box"}
    with client(collector, **box) as mine:
        with pytest.raises(Undelivered):
            mine.report(7.5)
        now = time.time()
        with monkeypatch.context() as patch:
            patch.setattr("sottovoce.device.client.time.time", lambda: now + days * 86_400)
            for send in (lambda: mine.report(7.5), mine.flush):
                with pytest.raises(Refused, match="too_late"):
                    send()
        assert len(collector.sent) == 1
        assert mine.flush() == 1
        assert mine.flush() == 0


# -- the moment of sending -----------------------------------------------------------------------------------


class Clock:
    """The module `time` of a client: only sleeping and drawing move its clock, other threads keep theirs."""

    time = staticmethod(time.time)

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.now += seconds


def departures(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, box: dict[str, Any], *, many: bool = False
) -> list[float]:
    """When a report leaves that took so many seconds to randomise, from when the client was asked."""
    moments = []
    for i, seconds in enumerate((0.0001, 0.004, 0.03, 0.2)):
        clock = Clock()

        def draw(self: Inquiry, *_: Any, clock: Clock = clock, seconds: float = seconds) -> Any:
            clock.now += seconds
            return MECHANISM.report([7.5]) if many else (7,)

        with client(collector, campaign=f"commute-{i}", **box) as mine, monkeypatch.context() as patch:
            patch.setattr(connection, "_BEAT", BEAT)
            patch.setattr(Inquiry, "draw_many" if many else "draw", draw)
            patch.setattr(module, "time", clock)
            patch.setattr(connection, "time", clock)
            patch.setattr(Wire, "request", lambda *_, clock=clock: moments.append(clock.now - 1000))
            mine.send([7.5]) if many else mine.report(7.5)
    return moments


@pytest.mark.attack("C1", "refused")
@pytest.mark.parametrize("many", [False, True])
def test_the_moment_of_sending_does_not_depend_on_the_draw(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, many: bool
) -> None:
    boxes: list[dict[str, Any]] = [{"outbox": tmp_path / "box"}]
    if not many:
        boxes.append({"ledger": sv.Ledger(tmp_path / "ledger.db", budget=9)})
    for box in boxes:
        assert departures(collector, monkeypatch, box, many=many) == pytest.approx([BEAT] * 4, abs=1e-9)


@pytest.mark.attack("C1", "succeeds")
def test_a_client_that_sends_at_once_is_found_out(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "await_beat", lambda start: None)
    moments = departures(collector, monkeypatch, {"outbox": tmp_path / "box"})
    assert moments == pytest.approx([0.0001, 0.004, 0.03, 0.2])


def test_a_slow_device_waits_for_the_next_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(connection, "_BEAT", 0.25)
    monkeypatch.setattr(connection, "time", clock)
    for late, departure in ((0.26, 0.5), (0.49, 0.5), (3.1, 3.25)):
        start, clock.now = clock.now, clock.now + late
        connection.await_beat(start)
        assert clock.now - start == pytest.approx(departure)


# -- deadlines -----------------------------------------------------------------------------------------------


@pytest.mark.attack("L8", "refused")
@pytest.mark.parametrize("drip", ["head", "body"])
def test_a_collector_that_drips_does_not_hold_a_client(collector: Collector, drip: str) -> None:
    """It sends a byte every hundredth of a second; the whole answer has to be there in one and a half."""
    with client(collector, outbox=":memory:", timeout=1.5) as mine:
        collector.drip = drip
        with pytest.raises(Undelivered, match=r"no whole answer within 1\.5 seconds"):
            mine.report(7.5)
        collector.drip = ""
        assert mine.flush() == 1  # on a connection of its own
    collector.over.set()
    assert len(collector.sent) == 2
    assert len({key for _, key, _ in collector.sent}) == 1


@pytest.mark.parametrize("answered_first", [True, False])
def test_a_connection_whose_answer_comes_too_late_is_closed(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, answered_first: bool
) -> None:
    """Just before or just after it was given up: else it would stay open until garbage is collected."""
    with client(collector, outbox=":memory:") as mine:
        late, read = mine._wire._connection, threading.Event()

        class Answers(queue.SimpleQueue[Any]):
            def get(self, block: bool = True, timeout: float | None = None) -> Any:
                until(talks_ended if answered_first else read.is_set)
                raise queue.Empty

            def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
                read.set()
                until(lambda: answered_first or mine._wire._connection is not late)
                super().put(item)

        monkeypatch.setattr(connection.queue, "SimpleQueue", Answers)
        with pytest.raises(Undelivered, match="no whole answer"):
            mine.report(7.5)
        until(talks_ended)
        assert late.sock is None


def talks_ended() -> bool:
    return not any(thread.name.endswith("(_talk)") for thread in threading.enumerate())


@pytest.mark.attack("L8", "succeeds")
def test_a_client_that_only_limits_each_read_is_held(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the attack succeeds, and ends only because the collector does."""

    def patient(self: Wire, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        self._connection.request(method, path, body, headers)
        with self._connection.getresponse() as response:
            return response.status, 0.0, response.read()

    monkeypatch.setattr(Wire, "_exchange", patient)
    mine = client(collector, outbox=":memory:", timeout=2.0)  # no byte is so late, on any machine
    collector.drip = "body"

    def ask() -> None:
        with contextlib.suppress(Undelivered):
            mine.report(7.5)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(2.5)
    assert thread.is_alive()
    collector.over.set()
    thread.join()
    mine.close()
