"""The example deployment: nginx with the documented configuration in front of a real collector."""

from __future__ import annotations

import configparser
import datetime as dt
import json
import os
import shutil
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.collector.crash import free_port
from tests.collector.service import Server, create

import sottovoce as sv
from sottovoce.collector import open_store

DEPLOY = Path(__file__).parents[2] / "docs/howto/deploy"


def certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "collector.example")])
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    signed = made.add_extension(names, critical=False).sign(key, hashes.SHA256())
    (folder / "fullchain.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (folder / "privkey.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("deploy")
    store = open_store(folder / "store.db")
    create(store, sv.sw(epsilon=1.0, cells=1000))
    store.close()
    server = Server(str(folder / "store.db"), folder, "--rate", "1", "--burst", "30")
    certificate(folder)
    port = free_port()
    site = (DEPLOY / "nginx.conf").read_text()
    for ours, theirs in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/collector": str(folder),
        "/var/log/nginx/collector-error.log": str(folder / "error.log"),
        "http://127.0.0.1:8000": server.url,
    }.items():
        assert ours in site
        site = site.replace(ours, theirs)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.getuid() == 0 else ""
    main = f"{user} daemon off; pid {folder}/nginx.pid; error_log {folder}/main.log; events {{}}"
    main += f" http {{ {paths} {site} }}"
    (folder / "nginx.conf").write_text(main)
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    nginx = subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf")])
    deadline = time.monotonic() + 30
    while not (folder / "nginx.pid").exists():
        assert nginx.poll() is None, (folder / "main.log").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield f"https://localhost:{port}", folder
    nginx.terminate()
    nginx.wait()
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


def test_the_unit_file_is_one() -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(DEPLOY / "sottovoce.service")
    assert set(parser) == {"DEFAULT", "Unit", "Service", "Install"}
    assert parser["Service"]["ExecStart"].split()[1:3] == ["serve", "--store"]
