"""Every code block of the README and the site is of a kind that some test runs, or holds to the program."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter

import pytest
import yaml

from sottovoce.bulk import spark
from tests.bulk.test_sql import BY_GROUP, QUERY
from tests.docs.shell import FENCE
from tests.docs.test_commands import PAGES, ROOT

#: The test for each language; one without a name is a command, an output or a formula.
TESTED = {
    "": "docs/test_shell.py",
    "sh": "docs/test_shell.py",
    "text": "docs/test_shell.py",
    "toml": "docs/test_shell.py",
    "python": "docs/test_snippets.py",
    "py": "examples/test_examples.py",  # written by the programs that they show
    "ini": "collector/test_deploy.py",
    "nginx": "collector/test_proxy.py",
    "json": "collector/test_results.py",
    "java": "clients/conftest.py",
    "sql": "docs/test_blocks.py",
    "yaml": "docs/test_blocks.py",
}
BLOCKS = [(page, *block) for page in PAGES for block in FENCE.findall(page.read_text())]


def blocks(language: str) -> list[str]:
    """All blocks of a language."""
    return [text for _, name, text in BLOCKS if name == language]


def test_every_language_has_its_test() -> None:
    assert Counter(language for _, language, _ in BLOCKS).keys() == TESTED.keys()
    assert all((ROOT / "tests" / file).exists() for file in TESTED.values())


def test_queries_are_those_that_are_tried_on_databases() -> None:
    assert [line for block in blocks("sql") for line in block.splitlines()] == [f"{QUERY};", f"{BY_GROUP};"]


def test_prometheus_asks_for_what_there_is() -> None:
    (text,) = blocks("yaml")
    content = yaml.safe_load(text)
    (job,) = content["scrape_configs"]
    assert job["metrics_path"] == "/v1/metrics"
    assert all((ROOT / "docs/operations/deploy" / file).exists() for file in content["rule_files"])


def test_calls_of_spark_are_those_it_takes() -> None:
    """tests/bulk/test_spark.py runs them, on a cluster of its own."""
    page = (ROOT / "docs/howto/bulk.md").read_text()
    block = re.search(r"^ {4}from sottovoce\.bulk import spark\n(?:(?: {4}.*)?\n)+", page, re.MULTILINE)
    assert block
    tree = ast.parse(inspect.cleandoc(block[0]))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert len(calls) == 5
    for call in calls:
        assert isinstance(call.func, ast.Attribute)
        keywords = {word.arg: None for word in call.keywords if word.arg}
        inspect.signature(getattr(spark, call.func.attr)).bind(*call.args, **keywords)
    with pytest.raises(TypeError):
        inspect.signature(spark.report).bind(None, "wait", None, id="id")
