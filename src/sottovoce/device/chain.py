"""The file: an append-only chain of entries in SQLite.

Every entry is a JSON text sealed by SHA-256 to the entry before it, so a flipped bit, a lost page or a row
edited by hand is noticed, which SQLite's own check does not promise. The chain is no secret and no
signature: its owner could write another one. It protects the owner from accidents.

An entry is on disk before `append` returns: a rollback journal with synchronous=EXTRA, which also syncs the
directory. A write-ahead log would be faster and leave the newest entries in a second file that a copy of
the first one misses.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sottovoce.core.durable import described, sync
from sottovoce.core.errors import LedgerError
from sottovoce.core.spec import parse_json

APPLICATION = 0x53564C47  # "SVLG" in the file's header
VERSION = 1
MAX_ENTRY = 1 << 25  # twice the largest spec
_TABLE = "CREATE TABLE entries (n INTEGER PRIMARY KEY, body TEXT NOT NULL, digest TEXT NOT NULL) STRICT"
_GENESIS = hashlib.sha256(b"sottovoce ledger/1").hexdigest()


@dataclass(frozen=True)
class Head:
    """The last entry's number and seal: what a witness elsewhere remembers."""

    count: int = 0
    digest: str = _GENESIS

    def __str__(self) -> str:
        return f"{self.count}:{self.digest}"

    @staticmethod
    def parse(text: str) -> Head:
        count, _, digest = str(text).partition(":")
        if not (count.isdecimal() and len(digest) == 64 and set(digest) <= set("0123456789abcdef")):
            raise ValueError("witness must be what `Ledger.witness` gave: a count, a colon and 64 hex digits")
        return Head(int(count), digest)


def seal(previous: str, body: str) -> str:
    return hashlib.sha256(f"{previous}\n{body}".encode()).hexdigest()


class Chain:
    """One ledger file. A connection lives for one transaction, so nothing is shared by threads or forks."""

    def __init__(self, path: Path, wait: float) -> None:
        self.path, self.wait = path, wait

    def create(self, first: dict[str, Any]) -> bool:
        """Write a new file with its first entry; False if there is one already, also in a race."""
        fresh = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        try:
            os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with self._described(), contextlib.closing(self._connect(fresh)) as db:
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {VERSION}")
                db.execute("BEGIN IMMEDIATE")
                db.execute(_TABLE)
                append(db, Head(), first)
                db.execute("COMMIT")
            try:
                os.link(fresh, self.path)  # unlike a rename it never replaces a ledger
            except FileExistsError:
                return False
            sync(self.path.parent)
            return True
        finally:
            fresh.unlink(missing_ok=True)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The one writer at a time, or LedgerError; what fails inside is rolled back."""
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

    def _described(self) -> contextlib.AbstractContextManager[None]:
        return described(self.path, "ledger", "nothing was spent or sent")

    def _connect(self, path: Path) -> sqlite3.Connection:
        if path.exists() and path.stat().st_size == 0 and path == self.path:
            raise LedgerError(f"{self.path} is empty: it was cut off or never was a ledger")
        # mode=rw: a file that has vanished must not come back as an empty ledger with a full budget.
        db = sqlite3.connect(
            f"file:{quote(str(path))}?mode=rw", uri=True, timeout=self.wait, isolation_level=None
        )
        try:
            if path == self.path:
                _recognise(db, self.path)
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("PRAGMA synchronous = EXTRA")
        except BaseException:
            db.close()
            raise
        return db


def _recognise(db: sqlite3.Connection, path: Path) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise LedgerError(f"{path} is not a ledger")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != VERSION:
        raise LedgerError(
            f"{path} is a ledger of version {version}; this program reads version {VERSION} "
            "and does not guess what another one means"
        )


def check_pages(db: sqlite3.Connection, path: Path) -> None:
    """SQLite's own check of its pages."""
    found = db.execute("PRAGMA quick_check").fetchone()[0]
    if found != "ok":
        raise LedgerError(f"{path} is damaged: {found}")


def entries_after(db: sqlite3.Connection, head: Head, path: Path) -> Iterator[tuple[Head, dict[str, Any]]]:
    """Entries that follow a known head, each checked against its seal; the head must still be there."""
    if head.count:
        row = db.execute("SELECT digest FROM entries WHERE n = ?", (head.count,)).fetchone()
        if row is None or row[0] != head.digest:
            raise LedgerError(
                f"{path} is not the ledger it was: entry {head.count} is missing or another one. "
                "An older copy may have been put back"
            )
    for n, body, digest in db.execute(
        "SELECT n, body, digest FROM entries WHERE n > ? ORDER BY n", (head.count,)
    ):
        if n != head.count + 1 or digest != seal(head.digest, body):
            raise LedgerError(f"{path} is damaged: entry {head.count + 1} does not match its seal")
        head = Head(n, digest)
        content = parse_json(body, "an entry", MAX_ENTRY)
        if not isinstance(content, dict):
            raise LedgerError(f"{path} is damaged: entry {n} is not an object")
        yield head, content


def append(db: sqlite3.Connection, head: Head, entry: dict[str, Any]) -> Head:
    body = json.dumps(entry, sort_keys=True, separators=(",", ":"), allow_nan=False)
    if len(body) > MAX_ENTRY:  # what could not be read again must not be written
        raise ValueError(f"an entry must be at most {MAX_ENTRY} bytes, got {len(body)}; nothing was recorded")
    head = Head(head.count + 1, seal(head.digest, body))
    db.execute("INSERT INTO entries VALUES (?, ?, ?)", (head.count, body, head.digest))
    return head
