"""The documented installation checks every package against its hash."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_package_is_checked_and_the_clone_brings_none() -> None:
    script = (ROOT / "tools/install").read_text()
    commands = re.findall(r'^"\$\{pip\[@\]\}" (.*)$', script, re.MULTILINE)
    assert len(commands) == 3
    assert all("--require-hashes" in command or "--no-deps" in command for command in commands)
    assert subprocess.run(["bash", "-n", ROOT / "tools/install"]).returncode == 0


def test_collectors_are_installed_that_way() -> None:
    for page in ("run-a-collector", "behind-a-proxy"):
        text = (ROOT / f"docs/howto/{page}.md").read_text()
        assert "tools/install" in text
        assert "pip install" not in text
