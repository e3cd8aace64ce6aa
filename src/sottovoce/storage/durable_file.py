"""An SQLite file whose transactions are on disk when they end, for one writer at a time.

A rollback journal with synchronous=EXTRA, which syncs the folder as well: with less, a power cut can undo
what was written. A write-ahead log would be faster and leave the newest rows in a second file that a copy of
the first one misses. A connection lives for one transaction, so threads and forked processes share none.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sottovoce.errors import LedgerError

VERSION = 1
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def sync(path: Path) -> None:
    """Wait until the content of a file, or the names in a folder, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Kind:
    """What a file is for.

    Attributes:
        name: What errors call it.
        mark: Four letters in its header, so that one kind is not read as another.
        outcome: What did not happen if it cannot be used.
    """

    name: str
    mark: str
    outcome: str


@dataclass(frozen=True)
class DurableFile:
    """One file. Whatever goes wrong with it is a LedgerError that says what did not happen.

    Attributes:
        path: Where it is.
        kind: What it is for.
        wait: How many seconds to wait while others write.
    """

    path: Path
    kind: Kind
    wait: float = 30.0

    def create(self, write: Callable[[sqlite3.Connection], None]) -> None:
        """Make the file with its first content, unless there is one; it has its name only when complete.

        Args:
            write: Writes the first content.
        """
        draft = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with self._described(), contextlib.closing(self._connect(draft)) as db:
                db.execute(f"PRAGMA application_id = {_number(self.kind.mark)}")
                db.execute(f"PRAGMA user_version = {VERSION}")
                db.execute("BEGIN IMMEDIATE")
                write(db)
                db.execute("COMMIT")
            with contextlib.suppress(FileExistsError):  # another program was quicker
                os.link(draft, self.path)  # unlike a rename it never replaces a file
            sync(self.path.parent)
        except OSError as error:
            raise LedgerError(
                f"cannot create the {self.kind.name} {self.path}: {error.strerror}", code="io"
            ) from error
        finally:
            draft.unlink(missing_ok=True)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Be the only writer for a block: all it writes is on disk when it ends, nothing if it fails."""
        with self._described():
            db = self._connect(self.path)
        try:
            with self._described():
                db.execute("BEGIN IMMEDIATE")
            try:
                with self._described():
                    yield db
                    db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                raise
        finally:
            db.close()

    def check_pages(self, db: sqlite3.Connection) -> None:
        """Let SQLite check its own pages."""
        verdict = db.execute("PRAGMA quick_check").fetchone()[0]
        if verdict != "ok":
            raise LedgerError(f"{self.path} is damaged: {verdict}", code="damaged")

    def _connect(self, path: Path) -> sqlite3.Connection:
        # mode=rw: a file that has vanished must not come back empty, with a full budget.
        address = f"file:{quote(str(path))}?mode=rw"
        db = sqlite3.connect(address, uri=True, timeout=self.wait, isolation_level=None)
        try:
            if path == self.path:
                self._check_header(db)  # before anything is changed
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("PRAGMA synchronous = EXTRA")
        except BaseException:
            db.close()
            raise
        return db

    def _check_header(self, db: sqlite3.Connection) -> None:
        if self.path.stat().st_size == 0:
            raise LedgerError(
                f"{self.path} is empty: it was cut off or never was a {self.kind.name}", code="damaged"
            )
        if db.execute("PRAGMA application_id").fetchone()[0] != _number(self.kind.mark):
            raise LedgerError(f"{self.path} is damaged or no {self.kind.name}", code="damaged")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            raise LedgerError(
                f"{self.path} is a {self.kind.name} of version {version}; this program reads version "
                f"{VERSION} and does not guess what another one means",
                code="version",
            )

    @contextlib.contextmanager
    def _described(self) -> Iterator[None]:
        """SQLite's errors in words."""
        name = self.kind.name
        try:
            yield
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY
            reason = "another program is using it" if busy else str(error)
            raise LedgerError(
                f"cannot use the {name} {self.path}: {reason}; {self.kind.outcome}",
                code="busy" if busy else "io" if self.path.exists() else "gone",
            ) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the second for its own messages
            raise LedgerError(f"{self.path} is damaged or no {name}: {error}", code="damaged") from error


def _number(mark: str) -> int:
    """Four letters as SQLite keeps them."""
    return int.from_bytes(mark.encode())
