"""A power cut at any moment: whatever was not yet synced may be lost, and what was sent is still recorded.

In a ledger, in a client's outbox and in a budget file. The system calls of a device that answers and sends
are traced; between any two of them the power may go. Then of the writes to a file since its last sync any may
be missing, and of the files made and removed since the folder's last sync the latest may be. Every such disk
is laid out, and the file opened on it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.device.outbox import Outbox
from sottovoce.errors import LedgerError

CALLS = "openat,write,pwrite64,ftruncate,fsync,fdatasync,unlink,rename,link"
CARELESS = """
import os, sys
from sottovoce.storage.durable_file import DurableFile
connect, level = DurableFile._connect, sys.argv[2]
def careless(self, path):
    db = connect(self, path)
    db.execute(f"PRAGMA synchronous = {level}")
    return db
DurableFile._connect = careless
"""
LEDGER = """
import sottovoce as sv
ledger = sv.Ledger(sys.argv[1])
for day in range(3):
    report = ledger.report("a", 1.0, str(day))
    os.write(1, report.key.encode())
    ledger.acknowledge(report)
"""
OUTBOX = """
from sottovoce.device.outbox import Outbox
box = Outbox(sys.argv[1])
for person in range(3):
    letter = box.put_single(str(person), b"cell")
    os.write(1, letter.key.encode())
    box.settle(letter, "sent")
"""
BUDGET = """
import sottovoce as sv
account = sv.central.Accountant(1, sys.argv[1])
for release in range(3):
    account.spend(0.1, str(release))
    os.write(1, str(release).encode())
"""


@dataclass
class Disk:
    """One folder, as it is on the platter and as programs see it."""

    synced: dict[str, bytes] = field(default_factory=dict)
    pending: dict[str, list[tuple[int, bytes]]] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    changes: list[tuple[str, bool]] = field(default_factory=list)

    def make(self, name: str) -> None:
        self.changes.append((name, True))
        self.synced[name], self.pending[name] = b"", []

    def remove(self, name: str) -> None:
        self.changes.append((name, False))

    def sync(self, name: str) -> None:
        self.synced[name] = written(self.synced.get(name, b""), self.pending.get(name, []))
        self.pending[name] = []

    def sync_names(self) -> None:
        self.names, self.changes = self._after(len(self.changes)), []

    def _after(self, count: int) -> set[str]:
        names = set(self.names)
        for name, there in self.changes[:count]:
            (names.add if there else names.discard)(name)
        return names

    def cut(self, rng: np.random.Generator) -> dict[str, bytes]:
        """What may be found after the power comes back."""
        found = {}
        for name in self._after(int(rng.integers(len(self.changes) + 1))):
            kept = [write for write in self.pending.get(name, []) if rng.random() < 0.5]
            found[name] = written(self.synced.get(name, b""), kept)
        return found


def written(content: bytes, writes: list[tuple[int, bytes]]) -> bytes:
    out = bytearray(content)
    for place, data in writes:
        out.extend(bytes(max(0, place + len(data) - len(out))))
        out[place : place + len(data)] = data
    return bytes(out)


def device(file: Path, program: str, level: str) -> list[str]:
    """Run the device under strace; its system calls, one line each."""
    trace = file.parent.parent / "trace"
    command = ["strace", "-f", "-y", "-xx", "-s", "100000", "-e", f"trace={CALLS}", "-o", str(trace)]
    run = [sys.executable, "-c", CARELESS + program, str(file), level]
    subprocess.run([*command, *run], check=True, env=os.environ, stdout=subprocess.DEVNULL)
    return trace.read_text().splitlines()


def plain(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def replay(lines: list[str], folder: Path, disk: Disk) -> Iterator[list[str]]:
    """Apply call after call to the disk; after each, the keys that have left so far."""
    sent: list[str] = []
    for line in lines:
        call = re.match(r"\d+\s+(\w+)\((.*)\) += (\d+)", line)
        if not call:
            assert "=" not in line.split(")")[-1] or " = -1 " in line or "+++" in line, line
            continue
        name, rest = call[1], call[2]
        texts = [plain(t) for t in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', rest)]
        opened = re.match(r"\d+<((?:\\x[0-9a-f]{2})*)>", rest)
        path = Path(os.fsdecode(plain(opened[1]) if opened else texts[0] if texts else b""))
        if name == "write" and rest.startswith("1<"):
            sent.append(texts[0].decode())
        elif path == folder and name in ("fsync", "fdatasync"):
            disk.sync_names()
        elif path.parent != folder:
            continue
        elif name == "openat":
            if "O_CREAT" in rest and path.name not in disk._after(len(disk.changes)):
                disk.make(path.name)
        elif name == "pwrite64":
            disk.pending.setdefault(path.name, []).append((int(rest.split(", ")[-1]), texts[-1]))
        elif name in ("fsync", "fdatasync"):
            disk.sync(path.name)
        elif name == "unlink":
            disk.remove(path.name)
        else:
            raise AssertionError(f"a call that the disk does not know: {line[:200]}")
        yield sent


def new_ledger(file: Path) -> None:
    sv.Ledger(file, budget=9).enrol("a", sv.duchi(0.5))


def in_ledger(file: Path) -> set[str]:
    try:
        return {answer.key for answer in sv.Ledger(file).account("a").reports.values()}
    except (LedgerError, ValueError):
        return set()


def in_outbox(file: Path) -> set[str]:
    try:
        box = Outbox(file)
        return {letter.key for person in range(3) if (letter := box.single(str(person))) is not None}
    except LedgerError:
        return set()


def in_budget(file: Path) -> set[str]:
    try:
        return {spent.purpose for spent in sv.central.Accountant(1, file).history}
    except LedgerError:
        return set()


KINDS: dict[str, tuple[str, Callable[[Path], object], Callable[[Path], set[str]]]] = {
    "ledger": (LEDGER, new_ledger, in_ledger),
    "outbox": (OUTBOX, Outbox, in_outbox),
    "budget": (BUDGET, lambda file: sv.central.Accountant(1, file), in_budget),
}


def losses(tmp_path: Path, kind: str, level: str) -> tuple[int, int]:
    """Power cuts that were played, and how many of them lost a report that had left."""
    program, create, recorded = KINDS[kind]
    file = tmp_path / "device" / "file.db"
    file.parent.mkdir()
    create(file)
    disk = Disk({file.name: file.read_bytes()}, {}, {file.name})
    cuts = lost = 0
    rng = np.random.default_rng(1)
    for sent in replay(device(file, program, level), file.parent, disk):
        for attempt in range(3):
            after = tmp_path / f"after-{cuts}-{attempt}"
            after.mkdir()
            for name, content in disk.cut(rng).items():
                (after / name).write_bytes(content)
            cuts += 1
            lost += not set(sent) <= recorded(after / file.name)
    assert len(sent) == 3
    return cuts, lost


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_left_survives_a_power_cut_at_any_moment(tmp_path: Path, kind: str) -> None:
    cuts, lost = losses(tmp_path, kind, "EXTRA")
    assert cuts > 100
    assert lost == 0


@pytest.mark.parametrize("level", ["FULL", "OFF"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_syncs_less_is_found_out(tmp_path: Path, kind: str, level: str) -> None:
    """FULL does not sync the folder after the journal is removed: it may come back and undo a record."""
    assert losses(tmp_path, kind, level)[1] > 0
