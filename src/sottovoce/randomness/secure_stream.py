"""The secure stream: random words of the operating system's generator.

Few words come from the operating system itself; for many, it gives a key of AES in counter mode. Each thread
has its own words and its own key, so no lock is taken and no two threads share output. A forked child drops
what it inherited before its first draw.

What drew a report is forgotten at once. Words are fetched for a few reports ahead, and those who use words
wipe them. A key makes no words but keys: some for words, each used once and dropped, and one that takes its
place (fast key erasure). So an image of the memory holds words and keys of reports to come, as that of any
generator does, and nothing that gives back earlier ones.

A virtual machine restored from a snapshot repeats its state like any user-space generator; a program
that lives through snapshots should start a fresh process afterwards.
"""

from __future__ import annotations

import os
from _thread import _local  # this is `threading.local`; loading all of `threading` takes a millisecond
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from io import FileIO
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from sottovoce.arrays import Words

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

Fill = Callable[[memoryview], None]

_AHEAD = 8  # requests that one fetch serves
_KEYS = 32  # keys that one gives: setting one up between two reports takes twice as long
_MOST_AHEAD = 1 << 16  # words: what the cache holds
_FEW = 512  # words that the operating system gives itself: it is slower, but loading AES takes longer
_KEY_WORDS = 4  # key and first counter block of AES-128-CTR
_ZEROS = 1 << 19  # bytes encrypted at a time


class _Kept(TypedDict, total=False):
    """What is kept between calls: one takes out what it uses, in one step, and puts back what is complete.

    A signal handler or a thread that draws in between begins anew; what an exception interrupts is dropped.
    """

    stock: Words  # to give
    keys: tuple[Words, list[CipherContext]]  # the key, and ciphers of keys that have made nothing yet
    room: Words  # what blocks lie in, wiped


class SecureStream:
    """Uniform 64-bit words that nobody can foretell or get back.

    A stream belongs to one thread of one process; `secure_stream()` hands out the right one.
    """

    def __init__(self) -> None:
        self._kept: tuple[int, _Kept] = -1, {}  # by which process

    def words(self, count: int) -> Words:
        """Fresh words, given once. Who takes them wipes them after use."""
        kept = self._own()
        stock = kept.pop("stock", _NO_WORDS)
        if count > stock.size:
            fetched = max(1, min(_AHEAD * count, _MOST_AHEAD) // count) * count
            if fetched <= _FEW:
                stock = _system_words(fetched)
            else:
                stock = np.empty(fetched, dtype="<u8")
                self._open()(_bytes(stock))
        kept["stock"] = stock[count:]
        return stock[:count]

    def blocks(self, count: int, most: int) -> Iterator[Words]:
        """Fresh words, which lie where the ones before them lay; the last ones are wiped.

        One key makes those of a call and is dropped with it: between two calls, no key that is there has made
        words that were used.
        """
        if not count:
            return
        if count <= most and 4 * count <= _MOST_AHEAD:
            words = self.words(count)
            yield words
            words.fill(0)
            return
        kept, size, fill = self._own(), min(most, count), self._open()
        room = kept.pop("room", _NO_WORDS)
        if size > room.size:
            room = np.empty(size, dtype="<u8")
        for first in range(0, count, most):
            part = room[: min(size, count - first)]
            fill(_bytes(part))
            yield part
        room[:size].fill(0)
        kept["room"] = room

    def _own(self) -> _Kept:
        """What this process keeps: one that was forked has neither words nor a key yet."""
        pid, kept = self._kept
        if pid != os.getpid():
            kept = {}
            self._kept = os.getpid(), kept
        return kept

    def _open(self) -> Fill:
        """A function that overwrites memory with words under a key that nothing else uses.

        Dropping the function drops the key, which OpenSSL wipes.
        """
        kept, zeros = self._own(), _zeros()
        key, ciphers = kept.pop("keys", (_NO_WORDS, []))
        if not ciphers:
            key, ciphers = self._next_keys(key if key.size else _system_words(_KEY_WORDS))
        context = ciphers.pop()
        kept["keys"] = key, ciphers

        def fill(data: memoryview) -> None:
            for first in range(0, len(data), len(zeros)):
                part = data[first : first + len(zeros)]
                context.update_into(zeros[: len(part)], part)

        return fill

    def _next_keys(self, key: Words) -> tuple[Words, list[CipherContext]]:
        """The key that takes the place of this one, and ciphers of all others that this one gives."""
        keys = np.empty((_KEYS + 1, _KEY_WORDS), dtype="<u8")
        _aes()(_bytes(key)).update_into(_zeros()[: keys.nbytes], _bytes(keys.reshape(-1)))
        key[:] = keys[-1]
        ciphers = [_aes()(_bytes(one)) for one in keys[:-1]]
        keys.fill(0)
        return key, ciphers


_NO_WORDS: Words = np.empty(0, dtype="<u8")


def _bytes(words: Words) -> memoryview:
    """The memory that words lie in, little-endian on any machine."""
    return words.view(np.uint8).data


def _system_words(count: int) -> Words:
    """Words of the operating system's own generator, read to where they will be wiped.

    Python cannot wipe the bytes that `os.urandom` returns: it is asked only where there is no such file.
    """
    words = np.empty(count, dtype="<u8")
    os.urandom(1)  # returns once the generator has been seeded, for which the file does not wait
    with suppress(FileNotFoundError, PermissionError), FileIO("/dev/urandom") as device:
        if device.readinto(_bytes(words)) == words.nbytes:
            return words
    return np.frombuffer(os.urandom(words.nbytes), dtype="<u8").copy()


@cache
def _aes() -> Callable[[memoryview], CipherContext]:
    """AES in counter mode; loading it takes longer than a few reports do."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return lambda key: Cipher(algorithms.AES(key[:16]), modes.CTR(key[16:])).encryptor()


@cache
def _zeros() -> memoryview:
    return memoryview(bytes(_ZEROS))


_streams = _local()


def _forget_streams() -> None:
    global _streams
    _streams = _local()


os.register_at_fork(after_in_child=_forget_streams)


def secure_stream() -> SecureStream:
    """This thread's stream, created on first use."""
    stream: SecureStream | None = getattr(_streams, "stream", None)
    if stream is None:
        stream = _streams.stream = SecureStream()
    return stream
