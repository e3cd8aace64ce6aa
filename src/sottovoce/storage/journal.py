"""An append-only file that loses nothing: under the ledger, the client's outbox and the central accountant.

Every entry is a JSON text, sealed by SHA-256 to the entry before it. A flipped bit, a lost page or a row
edited by hand is noticed, which SQLite's own check does not promise. The seals are no signature: the owner of
the file could write another chain. They protect the owner from accidents.

What entries mean is a state, which takes one after the other and refuses what breaks its rules. A new entry
counts when it is read back, not when it is written. But it is remembered from the moment it is on disk: a
program that has seen an entry refuses every file without it, for as long as it runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from sottovoce.errors import ArgumentError, LedgerError, SpecError
from sottovoce.storage.durable_file import VERSION, DurableFile, Kind
from sottovoce.wire.checked_json import parse_json

Entry = dict[str, Any]

MAX_ENTRY = 1 << 25  # twice the largest spec
_TABLE = "CREATE TABLE entries (n INTEGER PRIMARY KEY, body TEXT NOT NULL, seal TEXT NOT NULL) STRICT"


@dataclass(frozen=True)
class Head:
    """Number and seal of an entry: all that somebody else must remember to notice an older copy."""

    count: int
    seal: str

    def __str__(self) -> str:
        return f"{self.count}:{self.seal}"

    @staticmethod
    def first(kind: Kind) -> Head:
        """Where a chain begins."""
        return Head(0, hashlib.sha256(f"sottovoce {kind.name}/{VERSION}".encode()).hexdigest())

    @staticmethod
    def parse(text: str) -> Head:
        """Read what `str(head)` gave.

        Raises:
            ArgumentError: If it is something else.
        """
        count, _, seal = str(text).partition(":")
        if not (count.isdecimal() and len(seal) == 64 and set(seal) <= set("0123456789abcdef")):
            raise ArgumentError(
                "witness must be what `Ledger.witness` gave: a count, a colon and 64 hex digits",
                code="form",
                argument="witness",
            )
        return Head(int(count), seal)

    def then(self, body: str) -> Head:
        """The head after one more entry."""
        return Head(self.count + 1, hashlib.sha256(f"{self.seal}\n{body}".encode()).hexdigest())


class Replay(Protocol):
    """What entries add up to, taken one after the other."""

    def apply(self, entry: Entry) -> None:
        """Take one entry, or raise if it breaks the rules: such a journal is not believed."""


S = TypeVar("S", bound=Replay)


class Transaction(Generic[S]):
    """One writer's turn.

    Attributes:
        state: What all entries so far add up to.
        head: The last of them.
        bodies: What is added when the block ends.
    """

    def __init__(self, state: S, head: Head) -> None:
        self.state, self.head = state, head
        self.bodies: list[str] = []
        self.restarted = False

    def append(self, entry: Entry) -> None:
        """Add an entry when the block ends: all entries of a block are written, or none.

        Raises:
            LedgerError: If it is too long to be read again.
        """
        if self.restarted and not self.bodies:
            entry = {**entry, "after": self.head.seal}
        body = json.dumps(entry, sort_keys=True, separators=(",", ":"), allow_nan=False)
        if len(body) > MAX_ENTRY:
            raise LedgerError(
                f"an entry must be at most {MAX_ENTRY} bytes, got {len(body)}; nothing was recorded"
            )
        self.bodies.append(body)

    def restart(self) -> None:
        """Forget all entries so far: those of this block take their place, and the chain goes on."""
        self.bodies, self.restarted = [], True

    def write(self, db: sqlite3.Connection) -> Head:
        """Put the new entries into the file; the last entry then."""
        head = self.head
        if self.restarted:
            db.execute("DELETE FROM entries")
        for body in self.bodies:
            head = head.then(body)
            db.execute("INSERT INTO entries VALUES (?, ?, ?)", (head.count, body, head.seal))
        return head


class Journal(Generic[S]):
    """A state that is kept in a file, safe between threads and processes.

    Args:
        path: The file; None keeps the state in memory only.
        kind: What it is for.
        state: Makes an empty state.
        wait: How many seconds to wait while others write.
    """

    def __init__(self, path: Path | None, kind: Kind, state: Callable[[], S], wait: float = 30.0) -> None:
        self.path, self.kind, self._new = path, kind, state
        self.file = None if path is None else DurableFile(path, kind, wait)
        self._lock = threading.Lock()  # of the newest entry, and of a state in memory; a file has SQLite's
        self._newest = Head.first(kind)  # that was seen on disk; nothing makes it older
        self._pid, self._bodies = os.getpid(), list[str]()  # of a state in memory
        self._forget()

    def _forget(self) -> None:
        self._known = self._new(), Head.first(self.kind)  # one thing: neither is there without the other

    @property
    def head(self) -> Head:
        """The last entry that was read."""
        return self._known[1]

    def create(self, first: Entry) -> None:
        """Begin the journal, unless its file is there.

        Raises:
            LedgerError: If it cannot be written, for example because there is no such folder.
        """
        if self.file is None:
            self._bodies.append(json.dumps(first))
            return

        def write(db: sqlite3.Connection) -> None:
            db.execute(_TABLE)
            transaction = Transaction(self._new(), Head.first(self.kind))
            transaction.append(first)
            transaction.write(db)

        self.file.create(write)

    def check(self, witness: Head | None = None) -> None:
        """Read the whole file: its pages, its seals, its rules.

        Args:
            witness: A head of it that somebody remembers.

        Raises:
            LedgerError: If it is damaged, or an older copy than the witness saw.
        """
        if self.file is None:
            return
        self._forget()
        with self.file.transaction() as db:
            self.file.check_pages(db)
            if witness is not None and witness.count:
                self._recognise(db, witness)
            self._catch_up(db)

    @contextlib.contextmanager
    def open(self) -> Iterator[Transaction[S]]:
        """Be the only writer for a block; what it appends is on disk when it ends, nothing if it fails.

        Raises:
            LedgerError: If the file cannot be used or believed.
        """
        if self.file is not None:
            with self.file.transaction() as db:
                transaction = Transaction(*self._catch_up(db))
                yield transaction
                head = transaction.write(db)
            self._remember(head)
            return
        self._notice_fork()
        with self._lock:
            state, head = self._replay(self._in_memory)
            transaction = Transaction(state, head)
            yield transaction
            self._forget()
            state = self._new() if transaction.restarted else state
            for body in transaction.bodies:
                state.apply(json.loads(body))
            self._bodies = [*([] if transaction.restarted else self._bodies), *transaction.bodies]
            self._known = state, Head(len(self._bodies), "")

    def entries(self) -> list[tuple[Head, Entry]]:
        """Everything the file holds, in order."""
        assert self.file is not None, "a state in memory keeps no entries"
        with self.file.transaction() as db:
            return list(self._after(db, Head.first(self.kind)))

    def _catch_up(self, db: sqlite3.Connection) -> tuple[S, Head]:
        """Take in what others wrote, if the newest entry that was seen is still there."""
        (first,) = db.execute("SELECT min(n) FROM entries").fetchone()
        if first is None:
            raise self._damaged("it has no entries")
        self._notice_fork()
        if self._newest.count >= first:  # else the file was restarted since, which others may
            self._recognise(db, self._newest)
        if self.head.count < first:
            self._forget()
        try:
            known = self._replay(partial(self._after, db))
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            if isinstance(error, LedgerError):
                raise
            raise self._damaged(f"it breaks its own rules, {error}") from error
        self._remember(known[1])
        return known

    def _replay(self, after: Callable[[Head], Iterator[tuple[Head, Entry]]]) -> tuple[S, Head]:
        """Take in further entries. Nothing is known meanwhile: an interruption leaves no half of an entry."""
        state, last = self._known
        self._forget()
        for head, entry in after(last):
            state.apply(entry)
            last = head
        self._known = state, last
        return state, last

    def _in_memory(self, head: Head) -> Iterator[tuple[Head, Entry]]:
        for n, body in enumerate(self._bodies[head.count :], head.count + 1):
            yield Head(n, ""), json.loads(body)

    def _remember(self, head: Head) -> None:
        with self._lock:
            self._newest = max(self._newest, head, key=lambda each: each.count)

    def _notice_fork(self) -> None:
        """A fork may copy a state that is being changed, and a lock that nobody would open."""
        if self._pid != os.getpid():
            self._lock = threading.Lock()
            if self.file is not None:
                self._forget()
            self._pid = os.getpid()

    def _after(self, db: sqlite3.Connection, head: Head) -> Iterator[tuple[Head, Entry]]:
        """Entries after a head that is still there, each checked against its seal."""
        if head.count:
            self._recognise(db, head)
        for n, body, seal in db.execute(
            "SELECT n, body, seal FROM entries WHERE n > ? ORDER BY n", (head.count,)
        ):
            if not head.count and n > 1:  # a restarted journal says which entry it goes on from
                head = Head(n - 1, str(self._parse(n, body).get("after")))
            head, expected = Head(n, seal), head.then(body)
            if head != expected:
                raise self._damaged(f"entry {expected.count} does not match its seal")
            yield head, self._parse(n, body)

    def _parse(self, n: int, body: str) -> Entry:
        try:
            entry = parse_json(body, "an entry", MAX_ENTRY)
        except SpecError as error:
            raise self._damaged(f"entry {n}, {error}") from error
        if not isinstance(entry, dict):
            raise self._damaged(f"entry {n} is not an object")
        return entry

    def _recognise(self, db: sqlite3.Connection, head: Head) -> None:
        row = db.execute("SELECT seal FROM entries WHERE n = ?", (head.count,)).fetchone()
        if row is None or row[0] != head.seal:
            raise LedgerError(
                f"{self.path} is not the {self.kind.name} it was: entry {head.count} is missing or "
                "another one. An older copy may have been put back",
                code="older",
            )

    def _damaged(self, reason: str) -> LedgerError:
        return LedgerError(f"{self.path} is damaged: {reason}", code="damaged")
