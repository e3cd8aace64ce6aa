"""The outbox: what a client has drawn, written down before it is sent.

A draw that got lost must not be drawn again: two draws tell more than one, and choosing among draws breaks ε.
So each body is stored with its idempotency key first, and a retry sends the same bytes. The outbox holds
randomised cells only, never a value.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS outbox (
    key TEXT PRIMARY KEY,
    place TEXT NOT NULL,      -- collector, campaign, mechanism and token (hashed)
    single INTEGER NOT NULL,  -- one person's report: remembered after it was sent
    body BLOB NOT NULL,
    state TEXT NOT NULL,      -- waiting, sent, refused
    created REAL NOT NULL     -- when it was drawn, in seconds since 1970
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS once ON outbox (place) WHERE single;
"""


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
    """A file of letters; `:memory:` for simulations, where nothing has to survive."""

    def __init__(self, path: str | Path | None = None) -> None:
        target = default_path() if path is None else path
        if target != ":memory:":
            file = Path(target)
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        self._database = sqlite3.connect(target, timeout=30, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA synchronous=FULL")
        self._database.executescript(_SCHEMA)

    def put(self, place: str, body: bytes, *, single: bool) -> Letter:
        """Write a new letter down; returns once it is on disk.

        A second single letter for one place is not written: the first one comes back.
        """
        row = (secrets.token_hex(16), place, single, body, "waiting", time.time())
        self._database.execute("INSERT INTO outbox VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row)
        return (self.single(place) if single else None) or Letter(row[0], body, "waiting", row[-1])

    def single(self, place: str) -> Letter | None:
        """The one report of a person, sent or not."""
        query = "SELECT key, body, state, created FROM outbox WHERE place = ? AND single"
        row = self._database.execute(query, (place,)).fetchone()
        return None if row is None else Letter(*row)

    def waiting(self, place: str) -> list[Letter]:
        query = "SELECT key, body, state, created FROM outbox WHERE place = ? AND state = 'waiting'"
        return [Letter(*row) for row in self._database.execute(query, (place,)).fetchall()]

    def settle(self, letter: Letter, state: str) -> None:
        """A single report is remembered, so that it is not drawn again; a batch is done with."""
        self._database.execute("UPDATE outbox SET state = ? WHERE key = ? AND single", (state, letter.key))
        self._database.execute("DELETE FROM outbox WHERE key = ? AND NOT single", (letter.key,))

    def close(self) -> None:
        self._database.close()
