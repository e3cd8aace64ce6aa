"""The Python client against a real server process on loopback."""

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

import httpx2 as httpx
import numpy as np
import pytest
from tests.collector.service import Server, create, every_count

import sottovoce as sv
from sottovoce.collector import open_store, tokens
from sottovoce.core.errors import PrivacyError, SpecError
from sottovoce.core.exact import exp_lower
from sottovoce.core.spec import digest
from sottovoce.core.survey import Survey
from sottovoce.core.window import Window
from sottovoce.device.wire import Refused, Undelivered


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    made = Server(str(folder / "store.db"), folder)
    made.store = open_store(folder / "store.db").unlock((folder / "secret").read_bytes())  # type: ignore[attr-defined]
    yield made
    assert made.stop() == 0


def campaign(server: Any, name: str, mechanism: sv.Mechanism, **settings: Any) -> Any:
    return create(server.store, mechanism, name=name, **settings)


def counted(server: Any, made: Any) -> list[int]:
    return every_count(server.store, made).tolist()


def test_one_person_draws_once(server: Any, mechanism: sv.Mechanism, tmp_path: Path) -> None:
    made = campaign(server, "once", mechanism)
    with sv.Client(server.url, "once", epsilon=1.0, outbox=tmp_path / "box") as client:
        first = client.report(7.5)
    with sv.Client(server.url, "once", epsilon=1.0, outbox=tmp_path / "box") as client:
        assert client.report(7.5) == first
        assert client.report(20.0) == first
    assert first.of == 1000
    assert [first.decoded] == mechanism.decode(first.cells).tolist()
    counts = counted(server, made)
    assert sum(counts) == counts[first.cells[0]] == 1
    assert (tmp_path / "box").stat().st_mode & 0o077 == 0


def test_many_people_in_batches(server: Any, mechanism: sv.Mechanism) -> None:
    made = campaign(server, "many", mechanism, collection="write")
    token = tokens.issue(server.store, made.id, "write", 1)[0]
    values = np.linspace(0, 24, 2500)
    with sv.Client(server.url, "many", token=token, outbox=":memory:", epsilon=1.0) as client:
        assert client.send(values, batch=1000, rng=5) == 2500
        assert client.flush() == 0
        assert client.send([]) == 0
    expected = np.bincount(mechanism.report(values, rng=5), minlength=1000)
    assert counted(server, made) == expected.tolist()


def test_an_enrolment_token(server: Any, mechanism: sv.Mechanism) -> None:
    made = campaign(server, "enrolled", mechanism, collection="enrolment")
    token = tokens.issue(server.store, made.id, "enrolment", 1)[0]
    with sv.Client(server.url, "enrolled", token=token, outbox=":memory:", epsilon=1.0) as client:
        client.report(3.0)
    with (
        sv.Client(server.url, "enrolled", token=token, outbox=":memory:", epsilon=1.0) as again,
        pytest.raises(Refused, match="409 token_spent") as caught,
    ):
        again.report(3.0)
    assert caught.value.code == "token_spent"
    assert sum(counted(server, made)) == 1


def test_the_rule_for_missing_and_out_of_range(server: Any, mechanism: sv.Mechanism) -> None:
    campaign(server, "clip", mechanism, missing=3, outside="clip")
    campaign(server, "drop", mechanism, missing=3, outside="missing")
    values = [None, float("nan"), float("inf"), -float("inf"), -1.0, 25.0, 0.0, 24.0, 7.25]
    with sv.Client(server.url, "clip", outbox=":memory:", epsilon=1.0) as client:
        assert client.prepare(values).tolist() == [3, 3, 3, 3, 0, 24, 0, 24, 7.25]
        assert client.send(values) == len(values)
    with sv.Client(server.url, "drop", outbox=":memory:", epsilon=1.0) as client:
        assert client.prepare(values).tolist() == [3, 3, 3, 3, 3, 3, 0, 24, 7.25]


def test_a_uniform_stand_in(server: Any, mechanism: sv.Mechanism) -> None:
    campaign(server, "uniform", mechanism, missing="uniform", outside="missing")
    with sv.Client(server.url, "uniform", outbox=":memory:", epsilon=1.0) as client:
        x = client.prepare([None] * 4000 + [99.0, 7.25], rng=3)
        assert client.send([None, 3.0]) == 2
    assert x[-1] == 7.25
    assert abs(x[:-1].mean() - 12) < 4.9 * 24 / math.sqrt(12 * 4001)  # false-alarm rate 1e-6
    assert (x[:-1].min(), x[:-1].max()) == (pytest.approx(0, abs=0.1), pytest.approx(24, abs=0.1))


def test_a_circle_wraps(server: Any) -> None:
    campaign(server, "clock", sv.ogpm(epsilon=1.0, domain=sv.Circle(24)), missing=1)
    with sv.Client(server.url, "clock", outbox=":memory:", epsilon=1.0) as client:
        assert client.prepare([25.0, -1.0, 24.0, None]).tolist() == [1, 23, 24, 1]


def test_a_public_coin_end_to_end(server: Any) -> None:
    """A campaign of two window widths: created over HTTP, reported to, estimated."""
    mechanism = sv.two_scale(epsilon=2.0, domain=(0, 24), cells=128)
    assert mechanism.cells == 256
    admin = {"Authorization": f"Bearer {tokens.issue(server.store, 0, 'admin', 1)[0]}"}
    content = {"name": "coin", "spec": mechanism.to_json(), "results": "public", "min_n": 1}
    content["collection"] = "write"
    made = httpx.post(f"{server.url}/v1/campaigns", json=content, headers=admin)
    assert (made.status_code, made.json()["cells"], made.json()["epsilon"]) == (201, 256, 2.0)
    values = np.random.default_rng(3).beta(4, 7, 3000) * 24
    stored = server.store.campaign("coin")
    token = tokens.issue(server.store, stored.id, "write", 1)[0]
    with sv.Client(server.url, "coin", epsilon=2.0, token=token, outbox=":memory:") as client:
        assert client.reporter == mechanism
        assert client.send(values, rng=4) == 3000
        receipt = client.report(7.5)
    assert [receipt.decoded] == mechanism.decode(receipt.cells).tolist()
    tally = sv.Tally(mechanism, mechanism.report(values, rng=4))  # a single report is not published yet
    assert server.store.counts(stored.id, 256).tolist() == tally.counts.tolist()
    question = {"quantiles": "0.5", "bins": "16"}
    results = httpx.get(f"{server.url}/v1/campaigns/coin/estimates", params=question, timeout=120).json()
    found = results["questions"]["value"]
    assert found["problems"] == {}
    assert found["mean"]["value"] == pytest.approx(sv.mean(tally).value)
    assert found["quantiles"][0]["value"] == pytest.approx(sv.quantile(tally, 0.5).value)
    expected = sv.distribution(tally, bins=16).probabilities
    assert found["distribution"]["probabilities"] == pytest.approx(expected.tolist())
    assert not found["honesty"]["alarm"]
    with pytest.raises(PrivacyError, match="agreed was"):
        sv.Client(server.url, "coin", epsilon=1.9, outbox=":memory:")


def test_a_survey_end_to_end(server: Any, tmp_path: Path) -> None:
    """Two questions, one of them by lot: one report each, counted by question."""
    survey = Survey(1.0, {"sleep": sv.ogpm(1.0, (0, 24), cells=50), "happy": sv.duchi(1.0, (0, 1))}, 1)
    made = campaign(server, "survey", survey, missing="uniform", collection="write")
    token = tokens.issue(server.store, made.id, "write", 1)[0]
    table = {"sleep": np.linspace(0, 24, 300), "happy": np.linspace(0, 1, 300)}
    with sv.Client(server.url, "survey", token=token, outbox=tmp_path / "box", epsilon=1.0) as client:
        assert client.send(table, rng=5) == 300
        receipt = client.report({"sleep": 7.5, "happy": None})
        assert client.report(None) == receipt
    reports = np.concatenate((survey.report(table, rng=5), [receipt.cells]))
    tally = sv.Tally(survey, reports)
    assert counted(server, made) == tally.counts.tolist()
    results = httpx.get(f"{server.url}/v1/campaigns/survey/estimates", timeout=120).json()
    happy = sv.mean(sv.Tally(survey, reports[:-1])["happy"])  # a single report is not published yet
    assert results["questions"]["happy"]["mean"]["value"] == pytest.approx(happy.value)


def test_more_epsilon_than_agreed_is_refused(server: Any, mechanism: sv.Mechanism) -> None:
    campaign(server, "greedy", mechanism)
    with pytest.raises(PrivacyError, match=r"exact epsilon is 0\.99999\d+, agreed was epsilon=0\.5"):
        sv.Client(server.url, "greedy", epsilon=0.5, outbox=":memory:")


def test_unknown_campaign_and_bad_arguments(server: Any) -> None:
    with pytest.raises(Refused, match="404 unknown_campaign"):
        sv.Client(server.url, "no such thing?", outbox=":memory:", epsilon=1.0)
    with pytest.raises(ValueError, match="url must be like"):
        sv.Client("ftp://x", "a", epsilon=1.0)
    with pytest.raises(TypeError, match="epsilon"):
        sv.Client(server.url, "a")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="epsilon must be positive"):
        sv.Client(server.url, "a", epsilon=-1)


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


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sottovoce.device.wire.time.sleep", lambda seconds: None)


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
