"""The example deployment: nginx with the documented configuration in front of a real collector."""

from __future__ import annotations

import configparser
import json
import re
import signal
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest
from tests.collector.cluster import Cluster
from tests.collector.proxy import DEPLOY, nginx
from tests.collector.service import Server, create, environment, until

import sottovoce as sv
from sottovoce.collector import open_store
from sottovoce.collector.campaigns.tokens import issue


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("deploy")
    store = open_store(folder / "store.db")
    create(store, sv.sw(epsilon=1.0, cells=1000))
    store.close()
    server = Server(str(folder / "store.db"), folder, "--rate", "1", "--burst", "30")
    with nginx(folder, server.url) as url:
        yield url, folder
    server.stop()


def test_a_client_reports_through_tls(proxied: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    url, folder = proxied
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "fullchain.pem"))
    with sv.Client(url, "trial", epsilon=1.0, outbox=":memory:") as client:
        assert client.send([0.1, 0.5, 0.9]) == 3
    context = ssl.create_default_context(cafile=str(folder / "fullchain.pem"))
    with urllib.request.urlopen(f"{url}/v1/campaigns/trial/summary", context=context) as answer:
        assert json.load(answer)["n"] == 0  # three are not published yet
        assert "max-age" in answer.headers["Strict-Transport-Security"]


def test_a_forged_address_does_not_pass_the_rate_limit(proxied: tuple[str, Path]) -> None:
    url, folder = proxied
    context = ssl.create_default_context(cafile=str(folder / "fullchain.pem"))
    answers = []
    for number in range(60):
        request = urllib.request.Request(
            f"{url}/v1/health", headers={"X-Forwarded-For": f"198.51.100.{number}"}
        )
        try:
            with urllib.request.urlopen(request, context=context) as answer:
                answers.append((answer.status, json.load(answer)))
        except HTTPError as error:
            answers.append((error.code, json.load(error)))
            error.close()
    refused = [content["code"] for status, content in answers if status == 429]
    assert refused
    assert set(refused) == {"rate_limited"}


def test_one_of_several_collectors_may_die(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two on one PostgreSQL: both take part, one is killed, and every report is stored once."""
    monkeypatch.setattr("sottovoce.device.connection.time.sleep", lambda seconds: None)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "fullchain.pem"))
    database = cluster.database()
    store = open_store(database)
    campaign = create(store, sv.sw(epsilon=1.0, cells=1000), collection="write")
    (token,) = issue(store, campaign.id, "write", 1)
    servers = [Server(database, tmp_path) for _ in range(2)]
    try:
        with (
            nginx(tmp_path, *(server.url for server in servers)) as url,
            sv.Client(url, "trial", epsilon=1.0, token=token, outbox=":memory:") as client,
        ):
            assert [client.send([0.5] * 64) for _ in range(6)] == [64] * 6
            assert all(stored(server) > 0 for server in servers)
            servers[0].kill()
            assert [client.send([0.5] * 64) for _ in range(6)] == [64] * 6
    finally:
        servers[0].kill()
        assert servers[1].stop() == 0
    assert sum(reports for _, reports in store.days(campaign.id)) == 12 * 64
    store.close()


def stored(server: Server) -> int:
    """The reports that this collector has stored."""
    with urllib.request.urlopen(f"{server.url}/v1/metrics") as answer:
        line = re.search(r"^sottovoce_reports_total (\S+)$", answer.read().decode(), re.MULTILINE)
    return 0 if line is None else int(float(line[1]))


def test_the_unit_starts_and_stops_a_collector(tmp_path: Path) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    unit = (DEPLOY / "sottovoce.service").read_text()
    parser.read_string(unit)
    assert set(parser) == {"DEFAULT", "Unit", "Service", "Install"}
    variables = dict(line.split("=", 1) for line in re.findall(r"^Environment=(.*)$", unit, re.MULTILINE))
    assert variables["SOTTOVOCE_DATA"] == f"/var/lib/{parser['Service']['StateDirectory']}"
    variables["SOTTOVOCE_DATA"] = str(tmp_path / "state")
    program, *words = parser["Service"]["ExecStart"].split()
    assert program == "/opt/sottovoce/bin/sottovoce"
    command = [sys.executable, "-m", "sottovoce", *words, "--port", "0"]
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen(command, stderr=log, env={**environment(), **variables}, cwd=tmp_path)
    running = re.compile(r"running on (http://[0-9.:]+)")
    until(lambda: process.poll() is not None or running.search((tmp_path / "log").read_text()))
    found = running.search((tmp_path / "log").read_text())
    assert found, (tmp_path / "log").read_text()
    with urllib.request.urlopen(f"{found[1]}/v1/health") as answer:
        assert json.load(answer)["status"] == "ok"
    process.send_signal(getattr(signal, parser["Service"]["KillSignal"]))
    assert process.wait() == 0
    assert (tmp_path / "state" / "collector.db").exists()
