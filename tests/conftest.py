"""The order in which files go to workers: those that take longest first, so that no worker ends alone."""

from __future__ import annotations

import pytest

#: Files of ten seconds and more, the longest first.
LONGEST = (
    "bulk/test_spark_killed.py", "estimates/test_coverage.py", "bulk/test_spark.py",
    "collector/pages/test_dashboard.py", "core/test_contract.py", "compose/test_vectors.py",
    "clients/test_bundles.py", "estimates/test_extremes.py", "core/test_forgetting.py",
    "docs/test_snippets.py", "benchmarks/test_page.py", "docs/test_figures.py", "collector/test_demo.py",
    "device/test_promise.py", "docs/test_site.py", "planning/test_plan.py", "collector/test_fuzz.py",
    "clients/test_java.py", "compose/test_polar.py", "collector/pages/test_vectors.py",
    "compose/test_rounds.py", "collector/test_together.py", "collector/test_attacks.py",
    "examples/test_examples.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first; otherwise in the order they were found."""
    rank = {f"tests/{file}": place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.nodeid.partition("::")[0], len(rank)))
