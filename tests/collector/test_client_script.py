"""The Python client against a collector that answers by a script: losses, lies, repetitions."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.device.connection import Refused, Undelivered
from sottovoce.errors import PrivacyError, SpecError
from sottovoce.exact.rational_bounds import exp_lower
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.window import Window
from sottovoce.wire.canonical import digest


class Fake(BaseHTTPRequestHandler):
    """A collector that answers by a script and remembers what it was sent."""

    protocol_version = "HTTP/1.1"
    description: ClassVar[dict[str, Any]] = {}
    script: ClassVar[list[int | None]] = []
    sent: ClassVar[list[tuple[str, bytes]]] = []

    def do_GET(self) -> None:
        self._answer(200, self.description)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.sent.append((self.headers["Idempotency-Key"], body))
        status = self.script.pop(0) if self.script else 200
        if status is None:  # the answer gets lost
            self.close_connection = True
            return
        self._answer(status, {"code": "busy", "message": "", "field": None, "accepted": 1})

    def _answer(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def fake(mechanism: sv.Mechanism) -> Iterator[str]:
    Fake.sent, Fake.script = [], []
    Fake.description = {
        "spec": mechanism.to_json(),
        "digest": mechanism.digest,
        "epsilon": 1.0,
        "missing": 0.0,
        "outside": "clip",
    }
    server = HTTPServer(("127.0.0.1", 0), Fake)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


pytestmark = pytest.mark.usefixtures("no_waiting")
SURVEY = Survey(1.0, {"sleep": sv.ogpm(0.6, (0, 24), cells=300), "happy": sv.duchi(0.4, (0, 1))}, 2)


def test_a_survey_of_one_person_and_of_many(fake: str, tmp_path: Path) -> None:
    """Two integers a report, one after the other in the body; one joint ε that is counted."""
    text = SURVEY.to_json()
    Fake.description = {**Fake.description, "spec": text, "digest": digest(text), "missing": "uniform"}
    with pytest.raises(PrivacyError, match="agreed was"):
        sv.Client(fake, "x", outbox=":memory:", epsilon=0.9)
    with sv.Client(fake, "x", outbox=tmp_path / "box", epsilon=1.0) as client:
        receipt = client.report({"sleep": 7.5, "happy": None})
        assert client.report([1.0, 1.0]) == receipt
        assert client.report(None) == receipt
        with pytest.raises(SpecError, match="not for one number"):
            client.prepare([1.0])
        table = {"sleep": [7.5, None, 99.0], "happy": [0.0, 1.0, math.nan]}
        assert client.send(table, batch=2, rng=7) == 3
    assert isinstance(receipt.decoded, dict)
    assert set(receipt.decoded) == {"sleep", "happy"}
    assert receipt.of == SURVEY.cells == 302
    rows = [np.frombuffer(body[32:], "<u2").reshape(-1, 2) for _, body in Fake.sent]
    assert [len(part) for part in rows] == [1, 2, 1]
    assert tuple(rows[0][0]) == receipt.cells
    sent = np.concatenate(rows[1:])
    expected = SURVEY.report(table, missing="uniform", outside="clip", rng=7)
    assert sent.tolist() == expected.tolist()
    assert all(body[:32].hex() == SURVEY.digest for _, body in Fake.sent)


def test_retries_send_the_same_bytes_with_the_same_key(fake: str) -> None:
    Fake.script = [None, 503, 429, 502, 200]
    with sv.Client(fake, "x", outbox=":memory:", epsilon=1.0) as client:
        client.report(4.0)
    assert len(Fake.sent) == 5
    assert len(set(Fake.sent)) == 1


@pytest.mark.parametrize("status", [500, 507])
def test_a_server_that_breaks_loses_nothing(fake: str, status: int) -> None:
    Fake.script = [status] * 2
    with sv.Client(fake, "x", outbox=":memory:", attempts=1, epsilon=1.0) as client:
        for attempt in (lambda: client.send([1.0, 2.0]), client.flush):
            with pytest.raises(Undelivered, match=f"it answered {status}"):
                attempt()
        assert client.flush() == 2


def test_a_page_of_somebody_else_is_no_acknowledgement(fake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hotel's login page answers everything with 200."""
    with sv.Client(fake, "x", outbox=":memory:", attempts=1, epsilon=1.0) as client:
        with monkeypatch.context() as portal:
            portal.setattr(Fake, "_answer", lambda self, status, _: answer_page(self, status))
            with pytest.raises(Undelivered):
                client.report(1.0)
        client.report(1.0)
    assert len(Fake.sent) == 2
    assert len(set(Fake.sent)) == 1


def answer_page(request: BaseHTTPRequestHandler, status: int) -> None:
    request.send_response(status)
    request.send_header("Content-Length", "9")
    request.end_headers()
    request.wfile.write(b"<!DOCTYPE")


def test_another_mechanism_does_not_get_another_draw(fake: str, tmp_path: Path) -> None:
    """A collector that changes a digit of its spec every day would else get a fresh draw every day."""
    with sv.Client(fake, "x", outbox=tmp_path / "box", epsilon=1.0) as client:
        client.report(1.0)
    text = sv.ogpm(1.0, (0, 24), cells=999).to_json()
    Fake.description = {**Fake.description, "spec": text, "digest": digest(text)}
    with sv.Client(fake, "x", outbox=tmp_path / "box", epsilon=1.0) as client:
        for _ in range(2):
            with pytest.raises(PrivacyError, match="spend epsilon again"):
                client.report(1.0)
        assert client.flush() == 0
    assert len(Fake.sent) == 1


def test_a_hair_more_than_agreed_is_refused(fake: str) -> None:
    """Counts whose ratio is above e, but by so little that its logarithm rounds to 1.0."""
    most, least = 2718281828459047, 10**15 + 1
    while not exp_lower(1.0) < Fraction(most, least):
        most += 1
    while not Fraction(most, least) < exp_lower(math.nextafter(1.0, 2.0)):
        least += 1
        most = math.floor(least * exp_lower(1.0)) + 1
    assert math.log(most / least) == 1.0
    other = math.ceil((2**52 - least) / math.e)  # a second cell that takes the whole window
    length = 2**52 - least - other
    window = Window(
        wraps=False, bits=52, count=[1, 1], background=[least, other], extra=[most - least, length],
        value=[0.0, 1.0], step=[0.0, 0.0], knot_t=[0.0, 0.5], knot_s=[0, most - least], stepwise=True,
    )  # fmt: skip
    made = sv.Mechanism(math.nextafter(1.0, 2.0), sv.Interval(0, 24), window)
    assert sv.audit(made).ratio == Fraction(most, least)
    assert sv.audit(made).epsilon == made.epsilon
    text = made.to_json()
    Fake.description = {**Fake.description, "spec": text, "digest": digest(text), "epsilon": made.epsilon}
    sv.Client(fake, "x", outbox=":memory:", epsilon=made.epsilon).close()
    with pytest.raises(PrivacyError, match="agreed was"):
        sv.Client(fake, "x", outbox=":memory:", epsilon=1.0)


@pytest.mark.parametrize(
    "value", ["geheim", ["geheim"], b"geheim", {"geheim": 1}, [[1.0], [2.0, 3.0]], 1j, [True, None]]
)
def test_what_is_no_number_is_not_quoted(fake: str, value: Any) -> None:
    with sv.Client(fake, "x", outbox=":memory:", epsilon=1.0) as client:
        for refused in (client.prepare, client.send):
            with pytest.raises(TypeError) as caught:
                refused(value)
            assert "geheim" not in str(caught.value)
        with pytest.raises(TypeError, match="masked"):
            client.send(np.ma.array([1.0, 2.0], mask=[False, True]))
    assert Fake.sent == []


def test_a_number_is_never_refused_for_what_it_is(fake: str) -> None:
    with sv.Client(fake, "x", outbox=":memory:", epsilon=1.0) as client:
        values = [3, 4.5, None, math.nan, -math.inf, 10**400, -(10**400), np.float32(7), np.int64(30)]
        assert client.prepare(values).tolist() == [3, 4.5, 0, 0, 0, 0, 0, 7, 24]
        assert client.send(values) == len(values)


def test_what_could_not_be_sent_is_sent_later_unchanged(fake: str, tmp_path: Path) -> None:
    Fake.script = [503] * 2
    with (
        sv.Client(fake, "x", outbox=tmp_path / "box", attempts=2, epsilon=1.0) as client,
        pytest.raises(Undelivered, match="it answered 503"),
    ):
        client.send([1.0, 2.0, 3.0])
    with sv.Client(fake, "x", outbox=tmp_path / "box", epsilon=1.0) as client:
        assert client.flush() == 3
        assert client.flush() == 0
    assert len(Fake.sent) == 3
    assert len(set(Fake.sent)) == 1


def test_what_the_collector_may_have_forgotten_is_not_repeated(
    fake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It remembers keys for a week; after that the same bytes would count a second time."""
    Fake.script = [503] * 2
    with sv.Client(fake, "x", outbox=":memory:", attempts=1, epsilon=1.0) as client:
        for _ in range(2):
            with pytest.raises(Undelivered):
                client.report(1.0)
        now = time.time()
        for clock in (now + 7 * 86_400, now - 7 * 86_400):  # and a clock that was far ahead when it was drawn
            monkeypatch.setattr("sottovoce.device.client.time.time", lambda clock=clock: clock)
            with pytest.raises(Refused, match="too_late"):
                client.report(1.0)
    assert len(Fake.sent) == 2


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"digest": "0" * 64}, SpecError, "digest"),
        ({"spec": None}, SpecError, "digest"),
        ({"missing": 99.0}, SpecError, "missing"),
        ({"missing": None}, SpecError, "missing"),
        ({"outside": "silence"}, SpecError, "outside"),
        ({"outside": "refuse"}, SpecError, "never silent"),
        ({"missing": "drop"}, SpecError, "missing"),
        ({"missing": "refuse"}, SpecError, "never silent"),
    ],
)
def test_a_campaign_that_lies(fake: str, change: dict[str, Any], error: type[Exception], words: str) -> None:
    Fake.description = {**Fake.description, **change}
    with pytest.raises(error, match=words):
        sv.Client(fake, "x", outbox=":memory:", epsilon=1.0)


def test_a_spec_whose_counts_break_its_claim(fake: str, mechanism: sv.Mechanism) -> None:
    text = mechanism.to_json().replace('"epsilon":1.0', '"epsilon":0.9')
    Fake.description = {**Fake.description, "spec": text, "digest": digest(text)}
    with pytest.raises(PrivacyError, match="more than the claimed"):
        sv.Client(fake, "x", outbox=":memory:", epsilon=1.0)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [('"epsilon":1.0', '"epsilon":0.9', PrivacyError), ("[614,410]", "[615,410]", SpecError)],
)
def test_a_coin_that_lies(fake: str, old: str, new: str, error: type[Exception]) -> None:
    text = sv.two_scale(epsilon=1.0, domain=(0, 24), cells=64).to_json().replace(old, new)
    Fake.description = {**Fake.description, "spec": text, "digest": digest(text)}
    with pytest.raises(error):
        sv.Client(fake, "x", outbox=":memory:", epsilon=1.0)
