"""Designs of these tests are kept for the session, away from the user's own cache."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOTTOVOCE_CACHE", str(tmp_path_factory.mktemp("designs")))
        yield
