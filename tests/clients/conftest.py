"""A collector for clients in other languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.collector.pages.site import Site


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    running = Site(tmp_path_factory.mktemp("site"))
    yield running
    running.stop()
