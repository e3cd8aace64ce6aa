"""Where a peer runs: in this Python if it is installed here, otherwise in an environment made for it.

One environment per peer, so that what one asks for cannot break another, or this library's own packages.
What goes wrong is a result, not an exception: the page has to say so.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import pkgutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.page import peers, worker

#: A peer that hangs must not hang the page.
MOST_SECONDS = 1800.0


@dataclass(frozen=True)
class Peer:
    """A file of `benchmarks.page.peers`, or one like them."""

    name: str
    file: Path
    about: str
    distributions: tuple[str, ...]
    requires: tuple[str, ...]
    operations: Mapping[str, str]
    laws: Mapping[str, str]

    @classmethod
    def of(cls, file: Path) -> Peer:
        module = worker.load(str(file))
        tables = (getattr(module, table, {}) for table in ("SPEED", "PRIVATISERS", "HISTOGRAMS"))
        return cls(
            name=file.stem,
            file=file,
            about=_first_line(module),
            distributions=tuple(module.DISTRIBUTIONS),
            requires=tuple(module.REQUIRES),
            operations={name: _first_line(make) for table in tables for name, make in table.items()},
            laws=dict(getattr(module, "LAWS", {})),
        )

    @property
    def description(self) -> dict[str, Any]:
        """What the page says about it before anything is measured."""
        return {"about": self.about, "operations": dict(self.operations), "laws": dict(self.laws)}

    @property
    def here(self) -> bool:
        """Whether everything it reports the version of is installed in this Python."""
        try:
            return all(importlib.metadata.version(name) for name in self.distributions)
        except importlib.metadata.PackageNotFoundError:
            return False


def known_peers() -> list[Peer]:
    """Every peer, this library itself left out."""
    folder = Path(str(peers.__file__)).parent
    names = sorted(module.name for module in pkgutil.iter_modules([str(folder)]))
    return [Peer.of(folder / f"{name}.py") for name in names if name != "ours"]


def ourselves() -> Peer:
    """This library, measured like a peer."""
    return Peer.of(Path(str(peers.__file__)).parent / "ours.py")


def run_peer(
    peer: Peer,
    tasks: Mapping[str, Any],
    environments: Path,
    *,
    variables: Mapping[str, str] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """What the worker found of one peer, or {"failed": why}."""
    try:
        python = sys.executable if peer.here else environment(peer, environments, say)
        say(f"measuring {peer.name}: {', '.join(tasks)}")
        done = subprocess.run(
            [python, "-P", str(worker.__file__)],
            input=json.dumps({"peer": str(peer.file), "tasks": tasks}),
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **(variables or {})},
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"did not finish within {MOST_SECONDS:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {"failed": _reason(error.stderr)}
    except OSError as error:
        return {"failed": f"{type(error).__name__}: {error.strerror}"}
    return dict(json.loads(done.stdout.strip().split("\n")[-1]))


def environment(peer: Peer, environments: Path, say: Callable[[str], None]) -> str:
    """The Python of an environment with the peer in it, made unless the same is already there."""
    folder = environments / peer.name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted, complete = " ".join((*peer.requires, "numpy")), folder / "complete"
    if not complete.exists() or complete.read_text() != wanted:
        say(f"installing {peer.name}")
        venv.create(folder, clear=True, symlinks=os.name != "nt")
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
        install = [*pip, "install", "--quiet"]
        subprocess.run([*install, *wanted.split()], capture_output=True, text=True, check=True)
        complete.write_text(wanted)
    return str(python)


def _first_line(documented: Any) -> str:
    return (documented.__doc__ or "").strip().split("\n")[0]


def _reason(text: str | bytes | None) -> str:
    """The last line of what went wrong: pip's own word if there is one."""
    spoken = text.decode(errors="replace") if isinstance(text, bytes) else text or ""
    lines = [line.strip() for line in spoken.split("\n") if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["ended without a word"])[-1]
