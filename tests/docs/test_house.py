"""What is said of the tree is so: the picture of the house, and the files on each way."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from tools.house import PAGE, SOURCE, furnished

from tests.docs.surface import ROOT

WAYS = (ROOT / "docs/explanation/five-ways.md").read_text()
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", WAYS, re.MULTILINE | re.DOTALL))
#: Which ways of tools/way.py go through the files of a section.
FOLLOWED = {
    "A report": ["report"],
    "A mean": ["mean"],
    "A quantile": ["quantile"],
    "A survey, to the dashboard": ["post", "shown"],
    "Shuffled reports": ["shuffled"],
}
#: Between two processes, or later than the one request of the tool.
BETWEEN = {f"collector/{name}.py" for name in (
    "store/pool", "store/publishing", "api/reading", "api/result_schemas", "results/results_cache",
    "results/worker",
)}  # fmt: skip


def files(text: str) -> set[str]:
    return set(re.findall(r"`([\w/]+(?:\.py|\.js|/))`", text))


def test_the_picture_is_that_of_the_tree() -> None:
    assert PAGE.read_text() == furnished(PAGE.read_text()), "run python -m tools.house --write"


def test_every_path_exists() -> None:
    named = files(WAYS) | files(PAGE.read_text().partition("## The house")[2])
    assert len(named) > 30
    assert not [path for path in sorted(named) if not ((SOURCE / path).exists() or (ROOT / path).exists())]


@pytest.mark.parametrize("section", SECTIONS)
def test_a_way_passes_its_files(section: str) -> None:
    passed: set[str] = set()
    for way in FOLLOWED[section]:
        line = [sys.executable, ROOT / "tools/way.py", "--follow", way]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        passed |= set(json.loads(done.stdout.splitlines()[-1])["files"])
    named = {path for path in files(SECTIONS[section]) if path.endswith(".py")}
    assert len(named) >= 6
    assert not named - passed - BETWEEN
