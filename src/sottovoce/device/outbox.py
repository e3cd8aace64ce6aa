"""The outbox: what a client has drawn, written down before it is sent.

A draw that got lost must not be drawn again: two draws tell more than one, and choosing among draws breaks ε.
So each body is recorded with its idempotency key first, and a retry sends the same bytes. The outbox holds
randomised cells only, never a value.
"""

from __future__ import annotations

import os
import secrets
import time
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.core.durable import Kind, sync
from sottovoce.core.errors import LedgerError
from sottovoce.core.folders import state_folder
from sottovoce.core.journal import Entry, Journal

OUTBOX = Kind("outbox", "SVOB", "nothing new was recorded")
_SLACK = 1000  # entries about batches that are done with, before they are cleared away


@dataclass(frozen=True)
class Letter:
    """A body and the key it is sent with.

    Attributes:
        key: The idempotency key.
        place: Collector, campaign and token (hashed); of a batch also the mechanism.
        single: Whether it is one person's report, which is remembered after it was sent.
        body: What is sent.
        created: When it was drawn, in seconds since 1970.
        state: "waiting", "sent" or "refused".
    """

    key: str
    place: str
    single: bool
    body: bytes
    created: float
    state: str = "waiting"

    def to_entry(self) -> Entry:
        """The letter in a journal."""
        return {"kind": "letter", **vars(self), "body": b64encode(self.body).decode()}


class Letters:
    """What an outbox's entries add up to."""

    def __init__(self) -> None:
        self.by_key: dict[str, Letter] = {}
        self.singles: dict[str, str] = {}
        self.idle = 0  # entries that say nothing any more

    def apply(self, entry: Entry) -> None:
        """Take one entry."""
        match entry["kind"]:
            case "open":
                pass
            case "letter":
                fields = {name: entry[name] for name in ("key", "place", "single", "created", "state")}
                letter = Letter(body=b64decode(entry["body"], validate=True), **fields)
                if letter.key in self.by_key or (letter.single and letter.place in self.singles):
                    raise ValueError("a letter is written twice")
                self.by_key[letter.key] = letter
                if letter.single:
                    self.singles[letter.place] = letter.key
            case "settle":
                letter = self.by_key.pop(entry["key"])
                if letter.single:
                    self.by_key[letter.key] = replace(letter, state=entry["state"])
                self.idle += 1 if letter.single else 2
            case kind:
                raise ValueError(f"an entry of an unknown kind, {kind!r}")


class Outbox:
    """A file of letters, shared by threads and processes, forked ones too.

    Args:
        path: The file, by default in the user's state folder; ":memory:" for simulations, where nothing has
            to survive.

    Raises:
        LedgerError: If the file cannot be used, is damaged or no outbox.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        named = state_folder() / "outbox.db" if path is None else Path(path).absolute()
        file = None if path == ":memory:" else named
        self._journal = Journal(file, OUTBOX, Letters)
        if file is not None:
            _make_folder(file.parent)
        if file is None or not file.exists():
            self._journal.create({"kind": "open"})
        self._journal.check()

    def put_single(self, place: str, body: bytes) -> Letter:
        """Write one person's letter down. A second one for a place is not written: the first comes back."""
        with self._journal.open() as turn:
            key = turn.state.singles.get(place)
            if key is not None:
                return turn.state.by_key[key]
            letter = Letter(secrets.token_hex(16), place, True, body, time.time())
            turn.append(letter.to_entry())
        return letter

    def put_batches(self, place: str, bodies: Sequence[bytes]) -> None:
        """Write batches down, all of them or none: no crash leaves some people drawn and others not."""
        now = time.time()
        with self._journal.open() as turn:
            for body in bodies:
                turn.append(Letter(secrets.token_hex(16), place, False, body, now).to_entry())

    def single(self, place: str) -> Letter | None:
        """The one report of a person, sent or not."""
        with self._journal.open() as turn:
            key = turn.state.singles.get(place)
            return None if key is None else turn.state.by_key[key]

    def waiting(self, place: str) -> list[Letter]:
        """What is written down and not yet settled, oldest first."""
        with self._journal.open() as turn:
            letters = turn.state.by_key.values()
            return [letter for letter in letters if (letter.place, letter.state) == (place, "waiting")]

    def settle(self, letter: Letter, state: str) -> None:
        """Note what became of a letter, unless another program has.

        A single report is remembered, so that it is not drawn again; a batch is done with, and cleared away.
        """
        with self._journal.open() as turn:
            letters = turn.state
            if letter.key not in letters.by_key:
                return
            if letters.idle >= max(_SLACK, len(letters.by_key)):
                turn.restart()
                turn.append({"kind": "open"})
                for kept in letters.by_key.values():
                    turn.append(kept.to_entry())
            turn.append({"kind": "settle", "key": letter.key, "state": state})


def _make_folder(folder: Path) -> None:
    """Make a folder that is still there after a power cut."""
    absent = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for each in absent:
            sync(each.parent)
    except OSError as error:
        raise LedgerError(f"cannot use the outbox in {folder}: {error.strerror}", code="io") from error
