"""Stores and services for the collector's tests: every test that takes `store_url` runs on both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.collector.cluster import Cluster
from tests.collector.service import SECRET, Running

import sottovoce as sv
from sottovoce.collector import Settings, create_app, open_store
from sottovoce.collector.store import Store


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    made = Cluster()
    yield made
    made.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    made: Cluster = request.getfixturevalue("cluster")
    return made.database()


@pytest.fixture(autouse=True)
def no_store_left_open(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stores that a test opens in passing are closed when it ends."""
    opened: list[Store] = []
    real = Store.__init__

    def remember(store: Store, *arguments: Any, **options: Any) -> None:
        real(store, *arguments, **options)
        opened.append(store)

    monkeypatch.setattr(Store, "__init__", remember)
    yield
    for store in opened:
        store.close()


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = open_store(store_url).unlock(SECRET)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def mechanism() -> sv.Mechanism:
    return sv.sw(epsilon=1.0, domain=(0, 24), cells=1000)


@pytest.fixture
def running(tmp_path: Path, store_url: str) -> Iterator[Running]:
    """The application in this process, on each store."""
    app = create_app(open_store(store_url), Settings(rate=0, estimate_seconds=600), secret=SECRET)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Running(client, app)


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The application in this process, on SQLite: where the store makes no difference. Shared by a module."""
    path = tmp_path_factory.mktemp("embedded") / "store.db"
    app = create_app(open_store(path), Settings(rate=0, estimate_seconds=600), secret=SECRET)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield Running(client, app)


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client neither waits for its beat nor before it tries again."""
    monkeypatch.setattr("sottovoce.device.connection.time.sleep", lambda seconds: None)
