"""The outbox: what a client has drawn, written down before it is sent.

A draw that got lost must not be drawn again: two draws tell more than one, and choosing among draws breaks ε.
So each body is stored with its idempotency key first, and a retry sends the same bytes. The outbox holds
randomised cells only, never a value.

What is written is on disk before the call returns, as in a ledger (`device.chain`): a rollback journal with
synchronous=EXTRA. With less, a power cut may undo what was written, and the draw be repeated.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sottovoce.core.durable import described, sync
from sottovoce.core.errors import LedgerError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS outbox (
    key TEXT PRIMARY KEY,
    place TEXT NOT NULL,      -- collector, campaign and token (hashed); of batches also the mechanism
    single INTEGER NOT NULL,  -- one person's report: remembered after it was sent
    body BLOB NOT NULL,
    state TEXT NOT NULL,      -- waiting, sent, refused
    created REAL NOT NULL     -- when it was drawn, in seconds since 1970
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS once ON outbox (place) WHERE single;
"""
_INSERT = "INSERT INTO outbox VALUES (?, ?, ?, ?, 'waiting', ?) ON CONFLICT DO NOTHING"
_inherited: list[sqlite3.Connection] = []  # of a parent process: neither used nor closed in this one


@dataclass(frozen=True)
class Letter:
    """A body and the key it is sent with."""

    key: str
    body: bytes
    state: str
    created: float


def default_path() -> Path:
    """Where programs keep state that should survive them."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "sottovoce" / "outbox.db"


class Outbox:
    """A file of letters; `:memory:` for simulations, where nothing has to survive.

    It may be shared by threads, and by processes, forked ones too.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._path = default_path() if path is None else path
        if self._path != ":memory:":
            file = Path(self._path)
            try:
                _make_folder(file.parent)
                os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            except OSError as error:
                raise LedgerError(f"cannot use the outbox {file}: {error.strerror}") from error
        self._connect()

    def _connect(self) -> None:
        self._pid, self._lock = os.getpid(), threading.Lock()
        with described(self._path, "outbox", "nothing new was recorded"):
            self._database = sqlite3.connect(
                self._path, timeout=30, isolation_level=None, check_same_thread=False
            )
            self._database.execute("PRAGMA synchronous=EXTRA")
            self._database.executescript(_SCHEMA)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one caller at a time."""
        if self._pid != os.getpid() and self._path != ":memory:":
            _inherited.append(self._database)
            self._connect()
        with self._lock, described(self._path, "outbox", "nothing new was recorded"):
            yield self._database

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and on disk at the end."""
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise

    def put_single(self, place: str, body: bytes) -> Letter:
        """Write one person's letter down. A second one for a place is not written: the first comes back."""
        with self._transaction() as database:
            database.execute(_INSERT, (secrets.token_hex(16), place, True, body, time.time()))
        letter = self.single(place)
        assert letter is not None
        return letter

    def put_batches(self, place: str, bodies: Sequence[bytes]) -> None:
        """Write batches down, all of them or none: no crash leaves some people drawn and others not."""
        now = time.time()
        with self._transaction() as database:
            rows = ((secrets.token_hex(16), place, False, body, now) for body in bodies)
            database.executemany(_INSERT, rows)

    def single(self, place: str) -> Letter | None:
        """The one report of a person, sent or not."""
        query = "SELECT key, body, state, created FROM outbox WHERE place = ? AND single"
        with self._open() as database:
            row = database.execute(query, (place,)).fetchone()
        return None if row is None else Letter(*row)

    def waiting(self, place: str) -> list[Letter]:
        """What is written down and not yet settled."""
        query = "SELECT key, body, state, created FROM outbox WHERE place = ? AND state = 'waiting'"
        with self._open() as database:
            return [Letter(*row) for row in database.execute(query, (place,)).fetchall()]

    def settle(self, letter: Letter, state: str) -> None:
        """A single report is remembered, so that it is not drawn again; a batch is done with."""
        with self._transaction() as database:
            database.execute("UPDATE outbox SET state = ? WHERE key = ? AND single", (state, letter.key))
            database.execute("DELETE FROM outbox WHERE key = ? AND NOT single", (letter.key,))

    def close(self) -> None:
        if self._pid == os.getpid():
            self._database.close()


def _make_folder(folder: Path) -> None:
    """Make a folder that is still there after a power cut."""
    fresh = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for each in fresh:
        sync(each.parent)
