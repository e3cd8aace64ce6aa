"""Which random words an `rng` argument means: secure ones, or those of a seed, for simulations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from sottovoce.arrays import Words
from sottovoce.errors import ArgumentError, ArgumentTypeError
from sottovoce.randomness.secure_stream import SecureStream, secure_stream


@runtime_checkable
class WordSource(Protocol):
    """Anything that gives independent uniform 64-bit words."""

    def words(self, count: int) -> Words: ...

    def blocks(self, count: int, most: int) -> Iterator[Words]:
        """Words for so many draws, at most `most` at a time: each array is used up before the next."""
        return (self.words(min(most, count - first)) for first in range(0, count, most))


#: Written as a text: looking at `np.random` loads it, and a device that passes no seed has no use for it.
Seeded: TypeAlias = "np.random.Generator | int | WordSource | None"


class SeededStream(WordSource):
    """The words of a numpy generator: reproducible, for simulations only."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def words(self, count: int) -> Words:
        """The next words."""
        return self._generator.integers(0, 1 << 64, size=count, dtype=np.uint64)


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
    if isinstance(rng, np.random.Generator):
        return SeededStream(_separate(rng.integers(0, 1 << 64, size=4, dtype=np.uint64).tolist()))
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        if rng < 0:
            raise ArgumentError(f"rng must not be a negative seed, got rng={int(rng)}", argument="rng")
        return SeededStream(_separate(int(rng)))
    if isinstance(rng, SecureStream | WordSource):  # last: to look at a protocol takes longest
        return rng
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
