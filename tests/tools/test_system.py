"""`tools/system` on machines that lack something: it says what, and takes nothing for present that is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THINGS = {
    "java": "a Java runtime",
    "jdk": "a Java compiler",
    "node": "Node.js",
    "typescript": "tsc",
}


def look(folder: Path, *things: str) -> subprocess.CompletedProcess[str]:
    """What the tool says where the shell, sed and what lies in a folder are all there is."""
    for program in ("bash", "sed", "id", "env"):
        path = next(Path(p, program) for p in os.defpath.split(":") if p and Path(p, program).exists())
        (folder / program).symlink_to(path)
    environment = {"PATH": str(folder), "PYTHON": sys.executable}
    return subprocess.run(
        ["bash", ROOT / "tools/system", *things], env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("thing", THINGS)
def test_what_is_missing_is_named(tmp_path: Path, thing: str) -> None:
    """The shell's own error names a line, which is no version."""
    done = look(tmp_path, thing)
    assert done.returncode == 1
    assert THINGS[thing] in done.stderr


@pytest.mark.parametrize(("printed", "enough"), [("javac 17.0.15", True), ("javac 1.8.0_402", False)])
def test_a_version_is_read(tmp_path: Path, printed: str, enough: bool) -> None:
    compiler = tmp_path / "javac"
    compiler.write_text(f"#!{tmp_path}/bash\necho {printed}\n")
    compiler.chmod(0o755)
    assert (look(tmp_path, "jdk").returncode == 0) == enough
