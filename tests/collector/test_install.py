"""The documented installation checks every package against its hash."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_every_package_is_checked_and_the_clone_brings_none() -> None:
    script = (ROOT / "tools/install").read_text()
    commands = re.findall(r'^"\$\{pip\[@\]\}" (.*)$', script, re.MULTILINE)
    assert len(commands) == 3
    assert all("--require-hashes" in command or "--no-deps" in command for command in commands)
    assert subprocess.run(["bash", "-n", ROOT / "tools/install"]).returncode == 0
    assert "tools/install build/empty server" in (ROOT / "Makefile").read_text()  # `make dist` runs it


@pytest.mark.attack("L7")
@pytest.mark.parametrize(("checks", "installed"), [(True, False), (False, True)])
def test_a_package_that_was_exchanged_is_not_installed(tmp_path: Path, checks: bool, installed: bool) -> None:
    """The options of tools/install, for a package whose content is not the one that was pinned."""
    wheel = tmp_path / "exchanged-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("exchanged.py", "")
        file.writestr("exchanged-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(
            "exchanged-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: exchanged\nVersion: 1.0\n"
        )
        file.writestr("exchanged-1.0.dist-info/RECORD", "")
    pins = tmp_path / "pins.txt"
    pins.write_text(f"exchanged==1.0 --hash=sha256:{hashlib.sha256(b'the original').hexdigest()}\n")
    wanted = ["--require-hashes", "-r", str(pins)] if checks else ["exchanged==1.0"]
    target = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--target", str(target)]
    done = subprocess.run([*command, "--find-links", str(tmp_path), *wanted], capture_output=True, text=True)
    assert (target / "exchanged.py").exists() == installed, done.stderr
    assert ("DO NOT MATCH THE HASHES" in done.stderr) == checks


def test_collectors_are_installed_that_way() -> None:
    for page in ("howto/run-a-collector", "operations/install", "operations/upgrade"):
        text = (ROOT / f"docs/{page}.md").read_text()
        assert "tools/install" in text
        for command in re.findall(r"pip install .*", text):
            assert "--require-hashes" in command
