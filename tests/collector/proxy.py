"""nginx with the documented configuration in front of collectors."""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.collector.crash import free_port
from tests.collector.service import until

DEPLOY = Path(__file__).parents[2] / "docs/operations/deploy"


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


@contextmanager
def nginx(folder: Path, *collectors: str, more: str = "") -> Iterator[str]:
    """nginx with the documented configuration, and more, in front of these; where it listens."""
    certificate(folder)
    port = free_port()
    site = (DEPLOY / "nginx.conf").read_text()
    servers = "".join(f"server {url.removeprefix('http://')}; " for url in collectors)
    for ours, theirs in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "listen [::]:443 ssl;": more,
        "/etc/ssl/collector": str(folder),
        "/var/log/nginx/collector-error.log": str(folder / "error.log"),
        "server 127.0.0.1:8000; ": servers,
    }.items():
        assert ours in site
        site = site.replace(ours, theirs)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.getuid() == 0 else ""
    (main,) = re.findall("^#     (.*)$", site, re.MULTILINE)
    main += f" {user} daemon off; pid {folder}/nginx.pid; error_log {folder}/main.log;"
    main += f" http {{ {paths} {site} }}"
    (folder / "nginx.conf").write_text(main)
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    process = subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf")])
    try:
        until(lambda: process.poll() is not None or (folder / "nginx.pid").exists())
        assert process.poll() is None, (folder / "main.log").read_text()
        yield f"https://localhost:{port}"
    finally:
        process.terminate()
        process.wait()
