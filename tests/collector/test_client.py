"""The Python client against a real server process on loopback."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
from tests.collector.answers import answer, number, problems
from tests.collector.service import Server, create, every_count

import sottovoce as sv
from sottovoce.collector import open_store
from sottovoce.collector.campaigns import tokens
from sottovoce.device.connection import Refused
from sottovoce.errors import PrivacyError
from sottovoce.reporters.composites.survey import Survey

pytestmark = pytest.mark.usefixtures("no_waiting")


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
    assert problems(results) == {}
    assert number(results, "mean")["value"] == pytest.approx(sv.mean(tally).value)
    assert number(results, "quantile")["value"] == pytest.approx(sv.quantile(tally, 0.5).value)
    expected = sv.distribution(tally, bins=16).probabilities
    assert answer(results, "distribution")["data"]["probability"] == pytest.approx(expected.tolist())
    assert not answer(results, "honesty")["data"]["alarm"]
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
    assert number(results, "mean", "happy")["value"] == pytest.approx(happy.value)


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
