"""Every attack of the threat model is run: against what is shipped, and against what it succeeded on."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs/explanation/threat-model.md"
MARK = re.compile(r"""@pytest\.mark\.attack\("(\w+)"(?:, "(refused|succeeds)")?\)""")


def test_each_attack_is_run_against_both() -> None:
    """A mark without a word is one of a test that does both."""
    rows = set(re.findall(r"^\| ([A-Z]\d+) \|", PAGE.read_text(), re.MULTILINE))
    runs = {"refused": set[str](), "succeeds": set[str]()}
    for path in TESTS.rglob("test_*.py"):
        for row, outcome in MARK.findall(path.read_text()):
            for word in (outcome,) if outcome else runs:
                runs[word].add(row)
    assert len(rows) == 32
    assert runs == {"refused": rows, "succeeds": rows}
