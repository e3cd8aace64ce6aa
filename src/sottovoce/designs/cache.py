"""Designs already computed, kept in the user's cache folder: a search costs a second, a file a millisecond.

A file holds the spec and the certificate of one design on [0, 1]. Its name is the digest of everything the
design depends on, the library's version and the interpreter's numbers among them, so a new version never
reads an old file. Writers put a temporary file beside it and rename: a reader sees a whole file or none, and
of two writers of the same design either may win. What is read is not trusted for privacy: the spec's counts
are checked as those of any spec are, and a file that does not parse is computed anew.

`SOTTOVOCE_CACHE` names another folder; empty, it turns the cache off.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from sottovoce._version import __version__
from sottovoce.core.mechanism import Mechanism, from_json
from sottovoce.designs.certificate import Certificate

_LAYOUT = 2


def folder() -> Path | None:
    """Where designs are kept, or None if the cache is turned off."""
    named = os.environ.get("SOTTOVOCE_CACHE")
    if named is not None:
        return Path(named) if named else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "sottovoce" / "designs"


def key(question: dict[str, Any]) -> str:
    """A name for a design question."""
    text = json.dumps({"version": __version__, "layout": _LAYOUT, **question}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load(name: str) -> Mechanism | None:
    """The design of that name, if a readable file holds it."""
    place = folder()
    if place is None:
        return None
    try:
        text = (place / f"{name}.json").read_text()
        data = json.loads(text)
        made = from_json(data["spec"])
        return replace(made, certificate=Certificate.from_dict(data["certificate"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(name: str, made: Mechanism) -> None:
    """Keep a design; a folder that cannot be written to costs nothing but time."""
    place = folder()
    if place is None:
        return
    text = json.dumps({"spec": made.to_json(), "certificate": made.certificate.to_dict()})
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, prefix=f"{name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "w") as file:
                file.write(text)
            os.replace(temporary, place / f"{name}.json")
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
