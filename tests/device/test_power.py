"""A power cut at any moment: whatever was not yet synced may be lost, and what was sent is still recorded.

The system calls of a device that answers and sends are traced; between any two of them the power may go. Then
of the writes to a file since its last sync any may be missing, and of the files made and removed since the
folder's last sync the latest may be. Every such disk is laid out, and the ledger opened on it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import LedgerError

CALLS = "openat,write,pwrite64,ftruncate,fsync,fdatasync,unlink,rename,link"
DEVICE = """
import os, sys
import sottovoce as sv
from sottovoce.device.chain import Chain
connect, level = Chain._connect, sys.argv[2]
def careless(self, path):
    db = connect(self, path)
    db.execute(f"PRAGMA synchronous = {level}")
    return db
Chain._connect = careless
ledger = sv.Ledger(sys.argv[1])
def send(answer):
    os.write(1, answer.key.encode())
for day in range(3):
    ledger.send("a", 1.0, send, str(day))
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


def device(folder: Path, level: str) -> list[str]:
    """Run the device under strace; its system calls, one line each."""
    trace = folder.parent / "trace"
    command = ["strace", "-f", "-y", "-xx", "-s", "100000", "-e", f"trace={CALLS}", "-o", str(trace)]
    run = [sys.executable, "-c", DEVICE, str(folder / "ledger.db"), level]
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


def losses(tmp_path: Path, level: str) -> tuple[int, int]:
    """Power cuts that were played, and how many of them lost a report that had left."""
    folder = tmp_path / "device"
    folder.mkdir()
    ledger = sv.Ledger(folder / "ledger.db", budget=9)
    ledger.enrol("a", sv.duchi(0.5))
    disk = Disk({"ledger.db": ledger.path.read_bytes()}, {}, {"ledger.db"})
    cuts = lost = 0
    rng = np.random.default_rng(1)
    for sent in replay(device(folder, level), folder, disk):
        for attempt in range(3):
            after = tmp_path / f"after-{cuts}-{attempt}"
            after.mkdir()
            for name, content in disk.cut(rng).items():
                (after / name).write_bytes(content)
            cuts += 1
            try:
                recorded = {a.key for a in sv.Ledger(after / "ledger.db").account("a").answers.values()}
            except LedgerError:
                recorded = set()
            lost += not set(sent) <= recorded
    assert len(sent) == 3
    return cuts, lost


def test_what_has_left_survives_a_power_cut_at_any_moment(tmp_path: Path) -> None:
    cuts, lost = losses(tmp_path, "EXTRA")
    assert cuts > 200
    assert lost == 0


@pytest.mark.parametrize("level", ["FULL", "OFF"])
def test_a_ledger_that_syncs_less_is_found_out(tmp_path: Path, level: str) -> None:
    """FULL does not sync the folder after the journal is removed: it may come back and undo a record."""
    assert losses(tmp_path, level)[1] > 0
