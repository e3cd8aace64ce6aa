"""How workers spend little: the longest files first, compiling once, no search for garbage, a light Java."""

from __future__ import annotations

import fcntl
import gc
import os
from collections.abc import Generator
from importlib import import_module

import pytest

#: Many values are drawn by compiled loops in tests; processes of their own try the plain ones.
import_module("numba")

#: Spark's processes live for a minute at most: a second compiler takes half of their time and gains nothing.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

#: Files of ten seconds and more, the longest first.
LONGEST = (
    "estimates/test_coverage.py", "bulk/test_spark_killed.py", "reporters/test_contract.py",
    "bulk/test_spark.py", "collector/pages/test_dashboard.py", "clients/test_bundles.py",
    "estimates/test_extremes.py", "collector/test_privacy_at_rest.py", "benchmarks/test_page.py",
    "docs/test_figures.py", "docs/test_snippets.py", "docs/test_shell.py", "clients/test_java.py",
    "collector/test_fuzz.py",
    "docs/test_site.py", "estimates/test_distribution.py", "surveys/test_vectors.py",
    "collector/test_results.py", "device/test_promise.py", "reporters/test_forgetting.py",
    "collector/test_reports.py", "estimates/test_error.py", "collector/test_durability.py",
    "shuffling/test_shuffled.py", "collector/test_kinds.py", "collector/test_crash.py",
    "collector/pages/test_survey.py", "laws/test_contract.py", "surveys/test_mean_rounds.py",
    "collector/test_operators.py", "designs/test_optimal.py", "reporters/test_sampling.py",
    "collector/test_demo.py", "collector/pages/test_vectors.py", "designs/test_ordinary_mean.py",
)  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The first to collect does it alone; what was imported and collected is no garbage until the end.

    On a fresh clone that is twice the work of the second time: bytecode and designs. The other workers wait
    and find both written.
    """
    gc.disable()
    try:
        with open(__file__) as turn:
            try:
                fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                fcntl.flock(turn, fcntl.LOCK_SH)
            return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_sessionfinish() -> None:
    gc.unfreeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first; otherwise in the order they were found."""
    rank = {f"tests/{file}": place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.nodeid.partition("::")[0], len(rank)))
