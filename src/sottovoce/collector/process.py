"""The process: uvicorn, one worker, a clean end."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import uvicorn

from sottovoce.collector import secret
from sottovoce.collector.app import create_app
from sottovoce.collector.settings import Settings
from sottovoce.collector.store import open_store
from sottovoce.collector.store.opening import as_url
from sottovoce.storage.folders import data_folder

_OTHER_FILES = 256  # the store's, the estimator's, and those beyond the limit that are told so


def secret_path(store: str, path: Path | None) -> Path:
    """Where the secret lives: at a path, beside a SQLite file, or in the data folder."""
    if path is not None:
        return path
    url = as_url(store)
    if url.get_backend_name() == "sqlite":
        return Path(f"{url.database}.key")
    folder = data_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / "collector.key"


def server(
    store: str,
    host: str,
    port: int,
    settings: Settings | None = None,
    *,
    secret_file: Path | None = None,
    proxies: str = "127.0.0.1",
) -> uvicorn.Server:
    """A server that is ready to run; port 0 is any that is free, `proxies` are believed about addresses."""
    settings = settings or Settings()
    app = create_app(open_store(store), settings, secret=secret.load(secret_path(store, secret_file)))
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="httptools",
            ws="none",  # a library for it, where there is one, would log addresses
            host=host,
            port=port,
            access_log=False,
            log_config=None,
            server_header=False,
            date_header=False,
            forwarded_allow_ips=proxies,
            limit_concurrency=settings.max_connections + 1,  # uvicorn refuses from this one on
            timeout_keep_alive=15,
            timeout_graceful_shutdown=20,
        )
    )


def make_room(connections: int) -> None:
    """Let this process have so many connections: many systems allow 1,024 open files unless asked."""
    with contextlib.suppress(ImportError):  # Windows has no such limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = connections + _OTHER_FILES
        if soft not in (resource.RLIM_INFINITY, hard) and soft < files:
            allowed = files if hard == resource.RLIM_INFINITY else min(files, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def run(process: uvicorn.Server, connections: int) -> None:
    """Serve until a signal says stop; requests under way are finished."""
    make_room(connections)
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn handles them, then raises them again for whoever was there before: the end was clean.
        signal.signal(number, lambda *_: None)
    process.run()
