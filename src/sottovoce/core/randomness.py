"""The secure stream: AES-CTR keyed by the operating system, or a seeded generator passed on purpose.

Each thread has its own key, so no lock is taken and no two threads share output. A forked child drops
what it inherited before its first draw. What drew a report is forgotten at once: every opening of the stream
replaces the key by output of the old one (fast key erasure), so that a later image of the memory cannot give
back earlier words, and those who use words wipe them.

A virtual machine restored from a snapshot repeats its state like any user-space generator; a program
that lives through snapshots should start a fresh process afterwards.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sottovoce.core.errors import ArgumentError, ArgumentTypeError

Words = NDArray[np.uint64]

_KEY_BYTES = 32  # key and first counter block of AES-128-CTR
_ZEROS = bytes(1 << 19)

Fill = Callable[[Words], None]


@runtime_checkable
class WordSource(Protocol):
    """Anything that gives independent uniform 64-bit words."""

    def open(self) -> Fill: ...

    def fill(self, words: Words) -> None: ...

    def words(self, count: int) -> Words: ...


#: Written as a text: looking at `np.random` loads it, and a device that passes no seed has no use for it.
Seeded: TypeAlias = "np.random.Generator | int | WordSource | None"


class SecureStream:
    """Uniform 64-bit words from AES-128 in counter mode under a key from the operating system.

    A stream belongs to one thread of one process; `secure_stream()` hands out the right one.
    """

    def __init__(self) -> None:
        self._key = bytearray(_KEY_BYTES)
        self._pid = -1

    def open(self) -> Fill:
        """A function that fills arrays with fresh words, for one use: nothing remembers how it drew them.

        The key of this moment encrypts zeros: its first output is the next key, which takes its place, and
        all that follows are words. Dropping the function drops the old key, which OpenSSL wipes.
        """
        if self._pid != os.getpid():
            self._key[:] = os.urandom(_KEY_BYTES)
            self._pid = os.getpid()
        key = memoryview(self._key)
        encryptor = Cipher(algorithms.AES(key[:16]), modes.CTR(key[16:])).encryptor()
        encryptor.update_into(memoryview(_ZEROS)[:_KEY_BYTES], key)

        def fill(words: Words) -> None:
            """Overwrite a contiguous array with random words (little-endian, on any machine)."""
            buffer = words.view(np.uint8).data if words.size else memoryview(b"")
            for first in range(0, len(buffer), len(_ZEROS)):
                part = buffer[first : first + len(_ZEROS)]
                encryptor.update_into(memoryview(_ZEROS)[: len(part)], part)

        return fill

    def fill(self, words: Words) -> None:
        """Overwrite a contiguous array with random words, once."""
        self.open()(words)

    def words(self, count: int) -> Words:
        """Fresh words."""
        out = np.empty(count, dtype=np.uint64)
        self.fill(out)
        return out


class SeededStream:
    """The words of a numpy generator: reproducible, for simulations only."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def open(self) -> Fill:
        """A function that fills arrays with the next words."""
        return self.fill

    def fill(self, words: Words) -> None:
        """Overwrite an array with the next words."""
        words[...] = self.words(words.size)

    def words(self, count: int) -> Words:
        return self._generator.integers(0, 1 << 64, size=count, dtype=np.uint64)


_streams = threading.local()


def _forget_streams() -> None:
    global _streams
    _streams = threading.local()


os.register_at_fork(after_in_child=_forget_streams)


def secure_stream() -> SecureStream:
    """This thread's stream, created on first use."""
    stream: SecureStream | None = getattr(_streams, "stream", None)
    if stream is None:
        stream = _streams.stream = SecureStream()
    return stream


def word_source(rng: Seeded = None) -> WordSource:
    """The secure stream, unless a seed or a numpy Generator is passed explicitly, for simulations.

    Seeded words come from a stream of their own: people's values that were simulated with the same seed, or
    with a generator in the same state, are independent of them. A generator is moved on, so the next call
    gives other words. A source is passed on as it is, for what draws several times.

    >>> word_source(7).words(2).tolist() == word_source(7).words(2).tolist()
    True
    """
    if rng is None:
        return secure_stream()
    if isinstance(rng, WordSource):
        return rng
    if isinstance(rng, np.random.Generator):
        return SeededStream(_separate(rng.integers(0, 1 << 64, size=4, dtype=np.uint64).tolist()))
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        if rng < 0:
            raise ArgumentError(f"rng must not be a negative seed, got rng={int(rng)}", argument="rng")
        return SeededStream(_separate(int(rng)))
    raise ArgumentTypeError(
        f"rng must be a numpy Generator or an integer seed, got rng={rng!r}", argument="rng"
    )


def seeded_generator(rng: Seeded) -> np.random.Generator:
    """A numpy generator for what resamples: the one given, or one from a seed or a source of words."""
    if isinstance(rng, np.random.Generator):
        return rng
    return _separate(word_source(rng).words(4).tolist())


def _separate(entropy: int | list[int]) -> np.random.Generator:
    """A generator that nobody gets who seeds numpy with the same entropy."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=tuple(b"sottovoce")))


def as_words(words: NDArray[np.uint64], count: int) -> Words:
    """A copy of given words, one for each of `count` draws: a kernel reads so many without looking."""
    array = np.asarray(words)
    if array.dtype != np.uint64:
        raise ArgumentTypeError(
            f"words must be unsigned 64-bit integers, got {array.dtype}", argument="words"
        )
    if array.size != count:
        raise ValueError(f"words must be one for each value, got {array.size} for {count}")
    return np.array(array.reshape(-1), dtype="<u8")


def random_below(bound: int, source: WordSource) -> int:
    """A uniform integer in [0, bound) by rejection, of any size."""
    if bound < 1:
        raise ValueError(f"bound must be at least 1, got bound={bound}")
    bits = (bound - 1).bit_length()
    count = max(1, -(-bits // 64))
    while True:
        number = 0
        for word in source.words(count).tolist():
            number = number << 64 | word
        number >>= 64 * count - bits
        if number < bound:
            return number
