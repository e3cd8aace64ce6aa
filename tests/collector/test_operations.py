"""Running it: health, metrics, logs, rate limits, headers, the command line."""

from __future__ import annotations

import io
import json
import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.collector.service import Running, new_key
from tests.collector.test_bad_input import check_refused
from typer.testing import CliRunner

import sottovoce as sv
from sottovoce import bulk
from sottovoce.cli import build_app
from sottovoce.collector import Settings, create_app, logs, open_store, secret
from sottovoce.collector.campaigns.tokens import token_id
from sottovoce.collector.http.address_limits import RateLimit
from sottovoce.collector.store import Batch

CELLS = np.array([2, 4, 4])
REPEATED = [1, 2] * 50


def test_health_and_metrics(running: Running, mechanism: sv.Mechanism) -> None:
    running.create(mechanism, name="secretname")
    health = running.get("/health").json()
    assert health.pop("counts") in ("unchecked", "right")
    assert health == {"status": "ok", "version": sv.__version__, "store": running.store.kind}
    key = new_key()
    for _ in range(2):
        running.post(mechanism, [1, 2] * 32, name="secretname", key=key)
    running.post(mechanism, [1000], name="secretname")
    text = running.get("/metrics").text
    for line in (
        "sottovoce_reports_total 64.0",
        "sottovoce_batches_total 1.0",
        "sottovoce_replays_total 1.0",
        'sottovoce_refusals_total{code="cell_out_of_range"} 1.0',
    ):
        assert line in text.splitlines()
    assert "secretname" not in text


def test_rate_limit(tmp_path: Path) -> None:
    app = create_app(open_store(tmp_path / "store.db"), Settings(rate=1, burst=5), secret=bytes(32))
    with TestClient(app) as client:
        answers = [client.get("/v1/health") for _ in range(9)]
    assert [answer.status_code for answer in answers[:5]] == [200] * 5
    check_refused(answers[-1], "rate_limited")
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_reports_over_the_rate_are_refused_and_counted(tmp_path: Path, mechanism: sv.Mechanism) -> None:
    app = create_app(open_store(tmp_path / "store.db"), Settings(rate=1, burst=5), secret=bytes(32))
    with TestClient(app) as client:
        running = Running(client, app)
        campaign = running.create(mechanism)
        answers = [running.post(mechanism, [1]) for _ in range(9)]
        accepted = [answer for answer in answers if answer.status_code == 200]
        check_refused(answers[-1], "rate_limited")
        assert running.stored(campaign) == len(accepted) < 9
        assert app.state.service.refusals(campaign.id) == {"rate_limited": 9 - len(accepted)}


def test_a_bucket_refills_and_addresses_are_apart() -> None:
    now = [0.0]
    limit = RateLimit(2, 3, clock=lambda: now[0])
    assert [limit.wait("a") for _ in range(4)] == [0, 0, 0, 1]
    assert limit.wait("b") == 0
    now[0] = 0.6
    assert [limit.wait("a") for _ in range(2)] == [0, 1]
    assert RateLimit(0, 1).wait("a") == 0


def test_headers_of_every_answer(embedded: Running) -> None:
    for path in ("/v1/health", "/v1/nothing"):
        headers = embedded.client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in headers
        assert "server" not in headers


def captured(action: Any) -> list[dict[str, Any]]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonLines())
    level = logs.logger.level
    logs.logger.addHandler(handler)
    logs.logger.setLevel("DEBUG")
    try:
        action()
    finally:
        logs.logger.removeHandler(handler)
        logs.logger.setLevel(level)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_logs_tell_about_the_service_and_nobody(embedded: Running, mechanism: sv.Mechanism) -> None:
    campaign = embedded.create(mechanism, name="logged", collection="enrolment")
    token, key = embedded.token("enrolment", campaign.id), new_key()

    def requests() -> None:
        sent = {"token": token, "key": key, "User_Agent": "unusual-agent", "X_Forwarded_For": "203.0.113.7"}
        assert embedded.post(mechanism, [777], name="logged", **sent).status_code == 200
        embedded.post(mechanism, [778], name="logged", **sent)
        embedded.post_raw(b'{"digest":"private words"}', name="logged", token=token)
        embedded.client.get("/v1/campaigns/logged/estimates?confidence=private")
        embedded.client.get(f"/v1/{token}")

    lines = captured(requests)
    assert len(lines) == 5
    assert [line.get("code") for line in lines] == [None, "key_reused", "malformed", "invalid", "not_found"]
    assert lines[0]["route"] == "/campaigns/{name}/reports"
    text = json.dumps(lines)
    for private in (token, token[5:], key, "777", "unusual-agent", "203.0.113.7", "testclient", "private"):
        assert private not in text


def test_an_exception_is_logged_without_its_words(
    embedded: Running, mechanism: sv.Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("cell 777 of Ada")

    embedded.create(mechanism, name="broken")
    monkeypatch.setattr(embedded.store, "days", broken)
    answers = []
    lines = captured(lambda: answers.append(embedded.get("/campaigns/broken/summary")))
    check_refused(answers[0], "internal")
    assert "Ada" not in json.dumps(lines)
    assert lines[0]["error"] == "RuntimeError"


def run(*arguments: object) -> Any:
    return CliRunner().invoke(build_app(), ["campaign", *map(str, arguments)])


def test_the_command_line(tmp_path: Path) -> None:
    store = ("--store", tmp_path / "store.db")
    made = run("create", "hours", "--epsilon", 2, "--circle", 24, "--mechanism", "ogpm", *store)
    assert made.exit_code == 0, made.output
    assert "exact ε   2\n" in made.output
    assert "missing   12.0 stands in for a missing value; outside: clip\n" in made.output
    coin = run("create", "coin", "--epsilon", 1, "--domain", 0, 24, "--mechanism", "two_scale", *store)
    assert "<two_scale epsilon=1.0" in coin.output
    assert "one of 'duchi', 'ogpm'" in str(run("create", "x", "--mechanism", "os", *store).exception)
    twice = run("create", "hours", "--epsilon", 1, "--question", "mean", "--domain", 0, 1, *store)
    assert isinstance(twice.exception, ValueError)
    assert "already a campaign" in str(twice.exception)
    long = run("create", "long", "--epsilon", 1, "--domain", 0, 1, "--text", "?" * 2001, *store)
    assert str(long.exception).startswith("--text must have at most 2000")
    listed = run("list", *store).output
    assert "hours" in listed
    assert "open" in listed
    tokens = run("tokens", "hours", "--kind", "write", "--count", 3, *store).output.split()
    assert [token[:5] for token in tokens] == ["writ_"] * 3
    assert run("tokens", "--kind", "admin", *store).output.startswith("admn_")
    assert "needs a campaign" in str(run("tokens", "--kind", "read", *store).exception)
    opened = open_store(tmp_path / "store.db")
    opened.unlock(secret.load(tmp_path / "store.db.key"))
    batches = [
        Batch(1, 20_000, np.array(cells), os.urandom(16), os.urandom(16), 20_008)
        for cells in ([5, 9] * 50, [7] * 63, [8])
    ]
    assert [outcome.count for outcome in opened.ingest(batches)] == [100, 63, 1]
    for form in ("csv", "parquet"):
        written = run("export", "hours", "--output", tmp_path / f"counts.{form}", *store)
        assert "wrote the counts of 100 reports" in written.output
        assert bulk.tally(tmp_path / f"counts.{form}").counts[[5, 9]].tolist() == [
            50,
            50,
        ]
    assert (tmp_path / "counts.csv").read_text() == "day,cell,count\n2024-10-04,5,50\n2024-10-04,9,50\n"
    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "counts.parquet").column("count").to_pylist() == [50, 50]
    assert "one of .csv, .parquet" in str(run("export", "hours", "--output", "x.txt", *store).exception)
    assert "closed hours" in run("close", "hours", *store).output
    assert opened.days(1) == [(20_000, 164)]  # what waited was enough to be published together
    listed = [line.split() for line in run("tokens", "hours", "--list", *store).output.splitlines()]
    assert sorted(name for name, kind in listed) == sorted(map(token_id, tokens))
    assert f"revoked {listed[0][0]}" in run("revoke", listed[0][0], "hours", *store).output
    assert len(run("tokens", "hours", "--list", *store).output.splitlines()) == 2
    assert "must be a token" in str(run("revoke", "abc", "hours", *store).exception)
    assert "wrote" in run("backup", "--output", tmp_path / "copy", *store).output
    assert run("purge", "hours", *store).exit_code == 1
    assert "deleted hours with 164 reports" in run("purge", "hours", "--yes", *store).output
    assert "no campaign 'hours'" in str(run("close", "hours", *store).exception)
    assert "restored" in run("restore", tmp_path / "copy", "--store", tmp_path / "again.db").output
    opened.close()
