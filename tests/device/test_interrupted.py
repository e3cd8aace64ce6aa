"""A program that is interrupted wherever it reads or writes its outbox sends the same report afterwards."""

from __future__ import annotations

import dis
import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sottovoce.device import outbox
from sottovoce.device.outbox import Outbox, Run
from sottovoce.storage import journal

FILES = {journal.__file__, outbox.__file__}


class Interrupt(BaseException):
    """As Ctrl-C raises, wherever a program is."""


def interrupted(act: Callable[[], object], step: int) -> bool:
    """Do something, interrupted at one step at which Python looks for signals; whether there is that step."""
    left, called = step, False

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left, called
        if frame.f_code.co_filename not in FILES:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            left -= called or name in ("RESUME", "JUMP_BACKWARD")
            called = name.startswith("CALL")
        if left < 0:
            raise Interrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def check(box: Outbox, again: Callable[[], Outbox], act: Callable[[], object], step: int) -> bool:
    """What was recorded stands, and what was not is recorded once: now, and in the file."""
    known = box.put_single("a", b"first")
    for _ in range(3):  # that many are cleared away
        box.put_batches(Run("b", "", 2), [b"one", b"two"])
        for letter in box.waiting("b"):
            box.settle(letter, "sent")
    happened = interrupted(act, step)
    assert box.put_single("a", b"second") == known
    third = box.put_single("c", b"third")
    sent = {len(box.waiting("d"))}
    for one in (box, again()):
        assert one.single("a") == known
        assert [one.single("c"), *one.waiting("c")] == [third, third]
        sent.add(len(one.waiting("d")))
    assert sent in ({0}, {3})  # all batches or none
    return happened


@pytest.mark.parametrize("does", ["one", "several", "settles"])
@pytest.mark.parametrize("kind", ["memory", "file", "forked"])
def test_an_interrupted_program_draws_nobody_again(
    kind: str, does: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In memory, in a file that another program writes as well, and in a process that was just forked."""
    monkeypatch.setattr(outbox, "_SLACK", 4)
    begun = os.getpid()
    for step in itertools.count(0, 1 if kind == "memory" else 7):
        monkeypatch.setattr(os, "getpid", lambda: begun)
        path = ":memory:" if kind == "memory" else tmp_path / f"{step}.db"
        box = Outbox(path)

        def act(box: Outbox = box, path: Any = path) -> None:
            if kind == "forked":
                monkeypatch.setattr(os, "getpid", lambda: begun + 1)
            {
                "one": lambda: box.put_single("c", b"other"),
                "several": lambda: box.put_batches(Run("d", "a run", 3), [b"1", b"2", b"3"]),
                "settles": lambda: [box.settle(letter, "sent") for letter in box.waiting("e")],
            }[does]()

        if does == "settles":
            box.put_batches(Run("e", "", 1), [b"1"])
        if kind == "file":
            Outbox(path).put_single("f", b"of another program")
        if not check(box, lambda: box if kind == "memory" else Outbox(path), act, step):  # noqa: B023
            break
    assert step > 20
