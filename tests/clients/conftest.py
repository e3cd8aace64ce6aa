"""A collector for clients in other languages, and the Java client as it ships."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.collector.pages.site import Site

ROOT = Path(__file__).parents[2]
JAVA = ROOT / "clients" / "java"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    running = Site(tmp_path_factory.mktemp("site"))
    yield running
    running.stop()


def run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


SHOWN = "import sottovoce.*; class Shown { void run(java.nio.file.Path folder) throws Exception { %s } }"


def _block(language: str, page: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return str(text)


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A class path: the jar as it ships, the tests, the sample, and what the documentation shows."""
    folder = tmp_path_factory.mktemp("java")
    jar = folder / "sottovoce.jar"
    run("make", "-C", ROOT, "jar", f"JAR={jar}")
    sources = [*(JAVA / "test" / "sottovoce").glob("*.java"), JAVA / "example" / "Commute.java"]
    shown = folder / "Shown.java"
    shown.write_text(SHOWN % _block("java", (ROOT / "docs/reference/java.md").read_text()))
    sources.append(shown)
    run("javac", "--release", "11", "-encoding", "UTF-8", "-cp", jar, "-d", folder / "tests", *sources)
    return f"{jar}:{folder / 'tests'}"
