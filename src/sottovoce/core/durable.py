"""What files need that must not lose what they were given: synced to disk, SQLite's errors in words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sottovoce.core.errors import LedgerError


def sync(path: Path) -> None:
    """What a file holds, or the names in a folder, are on disk when this returns."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def described(path: Path | str, what: str, outcome: str) -> Iterator[None]:
    """SQLite's errors in words: of which file, and what did not happen because of them."""
    try:
        yield
    except sqlite3.OperationalError as error:
        reason = str(error)
        if "locked" in reason or "busy" in reason:
            reason = "another program is using it"
        raise LedgerError(f"cannot use the {what} {path}: {reason}; {outcome}") from error
    except sqlite3.DatabaseError as error:
        raise LedgerError(f"{path} is damaged or no {what}: {error}") from error
