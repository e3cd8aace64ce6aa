"""Files that are written whole or not at all, and once: half-written ones never have their name."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import IO

from sottovoce.errors import ExistingFile, MissingFile
from sottovoce.storage.durable_file import sync


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """A temporary file beside the target that takes its name once it is complete and on disk.

    What a killed run left behind is removed; a file that another run finished meanwhile is not replaced.
    """
    if not target.parent.is_dir():
        raise MissingFile(f"there is no folder {target.parent}", argument="path")
    _sweep(target)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        with open(temporary, "ab") as lock:
            _lock(lock)
            yield temporary
            sync(temporary)
            _name_once(temporary, target)
            sync(target.parent)
    except OSError as error:  # no space, no right to write: about the file that was asked for
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from None
    finally:
        temporary.unlink(missing_ok=True)


def _name_once(temporary: Path, target: Path) -> None:
    """The target's name for a finished file, unless it was taken meanwhile: a link never replaces."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise ExistingFile(
            f"{target} was written by another run: its reports stand", argument="path"
        ) from None
    except OSError:  # a file system without links
        if target.exists():
            raise ExistingFile(
                f"{target} was written by another run: its reports stand", argument="path"
            ) from None
        os.replace(temporary, target)


def _lock(file: IO[bytes]) -> bool:
    """A lock that dies with the process; True if nobody else holds it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except ImportError:  # no such locks here: leave the files of others alone
        return False
    return True


def _sweep(target: Path) -> None:
    """Remove the half-written files of runs that are no more."""
    for left in target.parent.glob(f".{escape(target.name)}.*.partial"):
        with open(left, "ab") as file:
            if _lock(file):
                left.unlink(missing_ok=True)
