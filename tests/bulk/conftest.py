"""Java that starts quickly."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def quick_java() -> Iterator[None]:
    """No Spark here lives long enough for Java's best compiler: without it the tests cost half as much."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield
