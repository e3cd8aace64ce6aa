"""The secure stream, interrupted at every step of the interpreter: no word is unfilled, none given twice.

`np.empty` gives memory that is marked, since what the system gives is often zero or, worse, somebody's. Each
word that anybody was given, before, meanwhile and afterwards, has to be neither zero nor marked nor one that
was given before: 64 random bits are that by chance less than once in 10^11 runs.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

from sottovoce import randomness
from sottovoce.randomness.secure_stream import SecureStream, secure_stream
from sottovoce.randomness.word_source import WordSource, word_source

# An exception at the `with` of a file leaves it to be closed when it is freed, of which Python warns.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

MARK = 0x5E5E5E5E5E5E5E5E
empty = np.empty


class Interrupt(Exception):
    """What a time limit or Ctrl-C raises wherever a program is."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Few words need a key, a room is soon full, a key soon used up; unfilled memory is marked."""

    def marked(shape: Any, dtype: Any = float, **rest: Any) -> np.ndarray:
        array = empty(shape, dtype, **rest)
        array.reshape(-1).view(np.uint8).fill(MARK & 255)
        return array

    monkeypatch.setattr(np, "empty", marked)
    for name, value in {"_FEW": 24, "_MOST_AHEAD": 80, "_KEYS": 3}.items():
        monkeypatch.setattr(randomness.secure_stream, name, value)
    randomness.secure_stream._aes()
    yield
    monkeypatch.undo()


def few(source: WordSource) -> Iterator[np.ndarray]:
    yield source.words(2)


def many(source: WordSource) -> Iterator[np.ndarray]:
    yield source.words(9)


def blocks(source: WordSource) -> Iterator[np.ndarray]:
    """Of parts that are given, given again and grow; who uses them finds them as they were."""
    for count, most in ((24, 24), (70, 20), (90, 90), (30, 20), (230, 90)):
        for words in source.blocks(count, most):
            drawn = words.copy()
            yield drawn
            # `np.array_equal` takes an exception for "not equal": what is raised meanwhile would be lost.
            assert (words == drawn).all()


def once(source: WordSource) -> Iterator[np.ndarray]:
    yield from blocks(SecureStream())


def mine(_: WordSource) -> Iterator[np.ndarray]:
    yield secure_stream().words(2)


#: Calls one after the other, on a stream that has words, keys and a room from those before, or has none.
CALLS: list[Callable[[WordSource], Iterator[np.ndarray]]] = [few, few, many, blocks, many, once, few, mine]
SOURCES: dict[str, Callable[[], WordSource]] = {
    "stream": SecureStream,
    "seeded": lambda: word_source(7),
}


def judge(given: list[np.ndarray]) -> None:
    words = np.concatenate(given)
    assert len(words)
    assert not np.isin(words, [0, MARK]).any()
    assert len(np.unique(words)) == len(words)


def run(source: WordSource, act: Callable[[], None], step: int) -> tuple[list[np.ndarray], bool]:
    """Draw by all calls and act at one step of the stream: what was drawn, and whether there is that step."""
    left, acted = step, False

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left, acted
        if frame.f_code.co_filename != randomness.secure_stream.__file__:
            return None
        frame.f_trace_opcodes = True
        left -= event == "opcode"
        if left < 0 and not acted:
            acted = True
            act()
        return trace

    given: list[np.ndarray] = []
    for call in CALLS:
        before = sys.gettrace()
        sys.settrace(None if acted else trace)
        try:
            for words in call(source):
                given.append(words.copy())
        except Interrupt:
            pass
        finally:
            sys.settrace(before)
    return given, acted


def steps(stride: int = 1) -> Iterator[int]:
    """Every step until there is none."""
    step = 0
    while True:
        yield step
        step += stride


@pytest.mark.parametrize("name", SOURCES)
def test_what_raises_at_any_step_leaves_nothing_unfilled(name: str) -> None:
    def act() -> None:
        raise Interrupt

    for step in steps():
        randomness.secure_stream._forget_streams()
        given, acted = run(SOURCES[name](), act, step)
        judge(given)
        if not acted:
            break
    assert step > (20 if name == "seeded" else 1000)


@pytest.mark.parametrize("name", SOURCES)
def test_what_draws_at_any_step_gets_other_words(name: str) -> None:
    """As a signal handler does, in each of the ways to draw, and raises or not."""
    for step in steps():
        randomness.secure_stream._forget_streams()
        source, others = SOURCES[name](), []

        def act(source: WordSource = source, others: list[np.ndarray] = others, step: int = step) -> None:
            others += [words for call in CALLS for words in call(source)]
            if step % 2:
                raise Interrupt

        given, acted = run(source, act, step)
        judge(given + others)
        if not acted:
            break
    assert step > (20 if name == "seeded" else 1000)


def test_another_thread_that_draws_at_any_step_gets_other_words() -> None:
    """From the stream of this one: that of a call which shares its work among threads."""
    for step in steps(5):
        source, others = SecureStream(), []

        def act(source: WordSource = source, others: list[np.ndarray] = others) -> None:
            def draw() -> None:
                others.extend(words for call in CALLS for words in call(source))

            thread = threading.Thread(target=draw)
            thread.start()
            thread.join()

        given, acted = run(source, act, step)
        judge(given + others)
        if not acted:
            break


@pytest.mark.parametrize("goes_on", [False, True], ids=["draws anew", "goes on"])
def test_a_process_forked_at_any_step_draws_other_words(goes_on: bool) -> None:
    """One that draws where it begins, or one that ends the call, which its parent ends as well."""
    for step in steps(23):
        source, child, ours = SecureStream(), [], os.getpid()
        reader, writer = os.pipe()

        def act(source: WordSource = source, child: list[int] = child, writer: int = writer) -> None:
            child.append(os.fork())
            if child == [0] and not goes_on:
                os.write(
                    writer, np.concatenate([words for call in CALLS for words in call(source)]).tobytes()
                )
                os._exit(0)

        given, acted = run(source, act, step)
        if goes_on:  # what the process draws then, after the call in which it forked
            given = [words for call in CALLS for words in call(source)]
        if os.getpid() != ours:
            os.write(writer, np.concatenate(given).tobytes())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            theirs = np.frombuffer(pipe.read(), dtype="<u8")
        judge([*given, theirs])
        if not acted:
            break
        assert theirs.size
        assert os.waitpid(child[0], 0)[1] == 0


@pytest.mark.parametrize("raises", [False, True])
def test_a_signal_handler_that_draws_gets_other_words(raises: bool) -> None:
    """Whenever the system sends a signal, also while AES works: many times within a second."""
    source, given, drawn, drawing = SecureStream(), [], 0, False

    def handle(*_: object) -> None:
        nonlocal drawn
        for call in (few, many, blocks):
            given.extend(call(source))
        drawn += 1
        if raises and drawing:  # a signal that comes late finds nobody who would catch it
            raise Interrupt

    earlier = signal.signal(signal.SIGALRM, handle)
    end = time.monotonic() + 20
    try:
        while drawn < 40 and time.monotonic() < end:
            try:
                drawing = True
                signal.setitimer(signal.ITIMER_REAL, 2e-4)
                for call in CALLS:
                    for words in call(source):
                        given.append(words)
                drawing = False
            except Interrupt:
                drawing = False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)
    assert drawn >= 40
    judge(given)


def test_without_cryptography_every_call_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one did; the next eight gave memory as it was."""
    randomness.secure_stream._aes.cache_clear()
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    stream = SecureStream()
    for _ in range(9):
        with pytest.raises(ImportError):
            stream.words(9)
    judge([stream.words(2)])
    monkeypatch.undo()
    judge([stream.words(9)])
