"""The outbox: one letter per person, all batches or none, whoever writes at the same time."""

from __future__ import annotations

import multiprocessing
import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sottovoce.device import outbox
from sottovoce.device.outbox import Outbox, Run
from sottovoce.errors import LedgerError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "folders" / "outbox.db"


def put(path: Path, name: str, many: int) -> None:
    box = Outbox(path)
    for person in range(many):
        box.put_single(str(person), name.encode())
        box.put_batches(Run("b", f"{name} {person}", 1), [f"{name} {person}".encode()])


def test_processes_that_start_together_keep_one_letter_per_person(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=put, args=(path, str(i), 5)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    box = Outbox(path)
    assert all(len(box.waiting(str(person))) == 1 for person in range(5))
    assert len({letter.key for letter in box.waiting("b")}) == 20


def test_threads_share_one_outbox(path: Path) -> None:
    box = Outbox(path)
    seen: list[tuple[str, bytes]] = []

    def work(name: str) -> None:
        for person in range(20):
            letter = box.put_single(str(person), name.encode())
            seen.append((letter.key, letter.body))
            box.put_batches(Run("b", f"{name} {person}", 3), [name.encode()] * 3)
            assert len(box.waiting("b")) % 3 == 0  # never a part of what another thread writes

    threads = [threading.Thread(target=work, args=(str(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 80
    assert len(set(seen)) == 20
    assert len(box.waiting("b")) == 240


def test_a_forked_child_writes_to_the_same_file(path: Path) -> None:
    box = Outbox(path)
    box.put_single("a", b"parent")
    child = os.fork()
    if child == 0:
        fine = box.put_single("a", b"child").body == b"parent"
        box.put_single("b", b"child")
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert box.put_single("b", b"parent").body == b"child"


def test_batches_are_written_together_or_not_at_all(path: Path) -> None:
    box = Outbox(path)

    with pytest.raises(TypeError):
        box.put_batches(Run("b", "", 3), [b"one", b"two", object()])  # type: ignore[list-item]
    assert box.waiting("b") == []
    box.put_batches(Run("b", "", 2), [b"one", b"two"])
    first, second = box.waiting("b")
    box.settle(first, "sent")
    assert box.waiting("b") == [second]
    assert path.parent.stat().st_mode & 0o077 == 0


def test_what_is_settled_is_cleared_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches leave the file, a person's report stays; a program that has read it before goes on reading."""
    monkeypatch.setattr(outbox, "_SLACK", 10)
    box, other = Outbox(path), Outbox(path)
    kept = box.put_single("a", b"one")
    box.settle(kept, "sent")
    sizes = []
    for _ in range(30):
        box.put_batches(Run("b", "", 2), [b"two", b"three"])
        for letter in other.waiting("b"):
            other.settle(letter, "sent")
            other.settle(letter, "sent")  # again, as a second program would
        sizes.append(len(box._journal.entries()))
        assert box.waiting("b") == []
    assert max(sizes) <= 20
    assert box.single("a") == Outbox(path).single("a") == replace(kept, state="sent")


def test_no_flipped_bit_goes_unnoticed(path: Path) -> None:
    """What is not read as it was written would be drawn again."""
    letter = Outbox(path).put_single("a", b"cell")
    good = path.read_bytes()
    rng, refused = np.random.default_rng(3), 0
    places = rng.choice([i for i, byte in enumerate(good) if byte], size=100, replace=False)
    for place in places:
        damaged = bytearray(good)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            assert Outbox(path).single("a") == letter
        except LedgerError:
            refused += 1
    assert refused > 80


def test_an_older_copy_is_noticed_by_a_running_program(path: Path) -> None:
    box = Outbox(path)
    older = path.read_bytes()
    box.put_single("a", b"cell")
    assert box.single("a") is not None
    path.write_bytes(older)
    with pytest.raises(LedgerError, match="An older copy may have been put back"):
        box.put_single("b", b"cell")


def test_a_file_that_is_no_outbox_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear collector, " * 100)
    with pytest.raises(LedgerError, match=r"letter\.txt is damaged or no outbox"):
        Outbox(tmp_path / "letter.txt")
    with pytest.raises(LedgerError, match="cannot use the outbox"):
        Outbox(tmp_path)
