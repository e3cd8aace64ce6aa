"""The outbox: what a client has drawn, written down before it is sent.

A draw that got lost must not be drawn again: two draws tell more than one, and choosing among draws breaks ε.
So each body is recorded with its idempotency key first, and a retry sends the same bytes. The outbox holds
randomised cells only, never a value.

The people of a job are a run. Its batches are written in one transaction, together with its name if it has
one, which stays: a job that is started again finds them, whenever it was killed, and draws nobody again.
"""

from __future__ import annotations

import os
import secrets
import time
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sottovoce.errors import EntryError, LedgerError, PrivacyError
from sottovoce.storage.durable_file import Kind, sync
from sottovoce.storage.folders import state_folder
from sottovoce.storage.journal import Entry, Journal

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
        run: The name of the run that a batch is of; empty if it has none.
    """

    key: str
    place: str
    single: bool
    body: bytes
    created: float
    state: str = "waiting"
    run: str = ""

    def to_entry(self) -> Entry:
        """The letter in a journal."""
        return {"kind": "letter", **vars(self), "body": b64encode(self.body).decode()}


@dataclass(frozen=True)
class Run:
    """People who are drawn together, once.

    Attributes:
        place: As of its batches.
        run: Its name; empty if it has none, and then it is not remembered.
        people: How many they are.
    """

    place: str
    run: str
    people: int

    @property
    def key(self) -> tuple[str, str]:
        """A campaign has one run of a name, whatever its mechanism and the token."""
        return _campaign(self.place), self.run

    def to_entry(self) -> Entry:
        """The run in a journal."""
        return {"kind": "run", **vars(self)}


class Letters:
    """What an outbox's entries add up to."""

    def __init__(self) -> None:
        self.by_key: dict[str, Letter] = {}
        self.runs: dict[tuple[str, str], Run] = {}
        self.singles: dict[str, str] = {}
        self.idle = 0  # entries that say nothing any more

    def apply(self, entry: Entry) -> None:
        """Take one entry."""
        match entry["kind"]:
            case "open":
                pass
            case "letter":
                fields = {name: entry[name] for name in ("key", "place", "single", "created", "state")}
                body = b64decode(entry["body"], validate=True)
                letter = Letter(body=body, run=entry.get("run", ""), **fields)
                if letter.key in self.by_key or (letter.single and letter.place in self.singles):
                    raise EntryError("a letter is written twice")
                self.by_key[letter.key] = letter
                if letter.single:
                    self.singles[letter.place] = letter.key
            case "settle":
                letter = self.by_key.pop(entry["key"])
                stays = letter.single or entry["state"] != "sent"
                if stays:
                    self.by_key[letter.key] = replace(letter, state=entry["state"])
                self.idle += 1 if stays else 2
            case "run":
                run = Run(entry["place"], entry["run"], entry["people"])
                if run.key in self.runs:
                    raise EntryError("a run is written twice")
                self.runs[run.key] = run
            case kind:
                raise EntryError(f"an entry of an unknown kind, {kind!r}")

    def drawn(self, run: Run) -> bool:
        """Whether a run was drawn before; refused if nobody can tell, or if it was for others."""
        known = self.runs.get(run.key)
        if known is None:
            batches = [letter for letter in self.by_key.values() if not letter.single]
            if any(_may_hold(letter, run) for letter in batches):
                raise PrivacyError(
                    "batches of this campaign were drawn before and not accepted. They may be of the same "
                    "people, whose second draw would spend epsilon again. Call flush() to send what waits. "
                    "Other people need a run with a name of its own, such as run='2026-11'",
                    code="repeated",
                    argument="run",
                )
        elif known.place != run.place:
            raise PrivacyError(
                f"run {run.run!r} was drawn for another token or another mechanism of the campaign: "
                "a second draw would spend epsilon again",
                code="repeated",
                argument="run",
            )
        elif known.people != run.people:
            raise PrivacyError(
                f"values must be of the {known.people} people for whom run {run.run!r} was drawn, got "
                f"{run.people}: nobody is drawn again. Call flush() to send what waits; people who came "
                "later need a run of their own",
                code="repeated",
                argument="values",
            )
        return known is not None


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

    def drawn(self, run: Run) -> bool:
        """Whether a run was drawn before; refused if nobody can tell, or if it was for others."""
        with self._journal.open() as turn:
            return turn.state.drawn(run)

    def put_batches(self, run: Run, bodies: Sequence[bytes]) -> None:
        """Write a run down, all batches or none, unless another program was quicker: then its draws stay."""
        now = time.time()
        with self._journal.open() as turn:
            if turn.state.drawn(run):
                return
            if run.run:
                turn.append(run.to_entry())
            for body in bodies:
                letter = Letter(secrets.token_hex(16), run.place, False, body, now, run=run.run)
                turn.append(letter.to_entry())

    def single(self, place: str) -> Letter | None:
        """The one report of a person, sent or not."""
        with self._journal.open() as turn:
            key = turn.state.singles.get(place)
            return None if key is None else turn.state.by_key[key]

    def waiting(self, place: str, run: str = "") -> list[Letter]:
        """What is written down and not yet settled, oldest first; of a run also what was refused."""
        with self._journal.open() as turn:
            letters = [letter for letter in turn.state.by_key.values() if letter.place == place]
        return [letter for letter in letters if letter.state == "waiting" or (run and letter.run == run)]

    def settle(self, letter: Letter, state: str) -> None:
        """Note what became of a letter, unless another program has.

        A single report is remembered, so that it is not drawn again; a batch that was sent is cleared away.
        """
        with self._journal.open() as turn:
            letters = turn.state
            if letter.key not in letters.by_key:
                return
            lasting: list[Run | Letter] = [*letters.runs.values(), *letters.by_key.values()]
            if letters.idle >= max(_SLACK, len(lasting)):
                turn.restart()
                turn.append({"kind": "open"})
                for kept in lasting:
                    turn.append(kept.to_entry())
            turn.append({"kind": "settle", "key": letter.key, "state": state})


def _campaign(place: str) -> str:
    return place.partition(" ")[0]


def _may_hold(letter: Letter, run: Run) -> bool:
    """Whether a batch may be of the people of a run.

    Nobody can tell if the run has no name. A named run is not another; but what `flush` would send of batches
    without a name may be an earlier start of the same job.
    """
    if run.run:
        return (letter.run, letter.place, letter.state) == ("", run.place, "waiting")
    return _campaign(letter.place) == _campaign(run.place)


def _make_folder(folder: Path) -> None:
    """Make a folder that is still there after a power cut."""
    absent = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for each in absent:
            sync(each.parent)
    except OSError as error:
        raise LedgerError(f"cannot use the outbox in {folder}: {error.strerror}", code="io") from error
