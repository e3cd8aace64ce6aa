"""A real PostgreSQL for tests and benchmarks: a temporary cluster on a socket, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any


def _programs() -> Path:
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    assert folders, "install PostgreSQL's programs (Debian: postgresql)"
    return folders[-1]


class Cluster:
    """PostgreSQL refuses to run as root; then it runs as the system's own postgres user."""

    def __init__(self, **options: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sottovoce-pg-"))
        self._bin = _programs()
        self.owner: dict[str, Any] = {}
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.owner = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self._databases = 0
        self._run("initdb", "-D", self.data, "-U", "collector", "-A", "trust", "-E", "UTF8", "--locale=C")
        settings = {
            "listen_addresses": "''",
            "unix_socket_directories": f"'{self.folder}'",
            "shared_buffers": "64MB",
            "max_connections": "60",
            **options,
        }
        with open(self.data / "postgresql.auto.conf", "a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def pid(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._bin / program), *map(str, arguments)]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            text=True,
            **self.owner,
        )
        assert done.returncode == 0, f"{program} failed:\n{done.stdout}"

    def start(self) -> None:
        self._run("pg_ctl", "-D", self.data, "-l", self.folder / "log", "-w", "start")

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "-D", self.data, "-m", mode, "-w", "stop")

    def crash(self) -> None:
        """Kill −9 the whole server, then start it: it recovers from its log."""
        os.kill(self.pid, signal.SIGKILL)
        deadline = time.monotonic() + 60
        while True:
            try:  # the children notice that their parent is gone, and leave
                self.start()
                return
            except AssertionError:
                assert time.monotonic() < deadline
                time.sleep(0.1)

    def database(self) -> str:
        """The URL of a new, empty database."""
        self._databases += 1
        name = f"db{self._databases}"
        self._run("createdb", "-h", self.folder, "-U", "collector", name)
        return f"postgresql://collector@/{name}?host={self.folder}"

    def remove(self) -> None:
        if (self.data / "postmaster.pid").exists():
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)
