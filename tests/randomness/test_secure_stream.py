"""The secure stream, seeded streams, and the attack that breaks samplers in floating point."""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Callable
from io import FileIO
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import randomness
from sottovoce.randomness.secure_stream import SecureStream, secure_stream
from sottovoce.randomness.word_source import word_source

EXPECTED = "817ec6dedddfc0b3d5848ffc5fff5b45c24bed5e62ef33e074b04c410050fdd1"


def test_fork_gives_the_child_its_own_stream() -> None:
    secure_stream().words(4)
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, secure_stream().words(4).tobytes())
        os._exit(0)
    ours = secure_stream().words(4).tobytes()
    os.wait()
    theirs = os.read(reader, 64)
    assert len(theirs) == 32
    assert ours != theirs


def test_a_stream_object_carried_over_a_fork_reseeds_itself() -> None:
    stream = SecureStream()
    stream.words(1)
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, stream.words(2).tobytes())
        os._exit(0)
    ours = stream.words(2).tobytes()
    os.wait()
    assert os.read(reader, 16) != ours


def test_threads_do_not_share_output() -> None:
    seen: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: seen.append(secure_stream().words(8).tobytes())) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 8


def test_the_key_is_replaced_by_its_own_output_before_it_makes_words(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    real = randomness.secure_stream._system_words
    monkeypatch.setattr(
        randomness.secure_stream, "_system_words", lambda count: calls.append(count) or real(count)
    )
    stream = SecureStream()
    keys = [stream._own()["keys"][0].tobytes() for _ in range(65) if stream.words(1 << 16).size]
    assert [keys.count(key) for key in dict.fromkeys(keys)] == [32, 32, 1]  # 32 are set up at a time
    assert calls == [4]  # one key from the operating system; each of the others from the one before
    drawn = [part.copy() for part in stream.blocks(400_000, 1 << 16)]
    assert [part.size for part in drawn] == [65_536] * 6 + [6_784]
    assert len(np.unique(np.concatenate((*drawn, stream.words(1000))))) == 401_000


def test_no_word_is_given_twice() -> None:
    stream = SecureStream()
    drawn = [
        stream.words(count).copy() for count in (1, 3, 8, 0, 100, 60, 5000, 1, 1, 40_000, 90_000, 7, 5000)
    ]
    assert [part.size for part in drawn] == [1, 3, 8, 0, 100, 60, 5000, 1, 1, 40_000, 90_000, 7, 5000]
    assert len(np.unique(np.concatenate(drawn))) == sum(part.size for part in drawn)


@pytest.mark.parametrize("there", [True, False], ids=["file", "no file"])
def test_a_few_words_come_from_the_operating_system(monkeypatch: pytest.MonkeyPatch, there: bool) -> None:
    """Read to where they are wiped: `os.urandom` returns a copy that nobody can wipe."""
    asked: list[int] = []
    real = os.urandom
    monkeypatch.setattr(os, "urandom", lambda n: asked.append(n) or real(n))
    if not there:
        monkeypatch.setattr(randomness.secure_stream, "FileIO", lambda _: FileIO("/there/is/no/such/file"))
    stream = SecureStream()
    words = [int(stream.words(1)[0]) for _ in range(9)]
    assert len(set(words)) == 9
    assert asked == ([1, 1] if there else [1, 64, 1, 64])  # for one byte: it waits until there is entropy
    assert "keys" not in stream._own()


def test_bits_are_balanced() -> None:
    """Each of the 64 bits: a binomial count, false-alarm rate 1e−6 over all."""
    n = 200_000
    words = secure_stream().words(n)
    ones = np.array([np.count_nonzero(words >> np.uint64(b) & np.uint64(1)) for b in range(64)])
    assert (np.abs(ones - n / 2) < 6.1 * np.sqrt(n) / 2).all()


def test_two_reports_of_the_same_values_differ_and_a_reused_seed_is_seen() -> None:
    m = sv.ogpm(1.0, loss="l1")
    x = np.full(64, 0.5)

    def repeats(draw: object) -> bool:
        return np.array_equal(*(m.report(x, rng=draw) for _ in range(2)))  # type: ignore[arg-type]

    assert not repeats(None)
    assert not repeats(np.random.default_rng(1))  # a generator moves on
    assert repeats(1)  # the mutant: the same seed twice


def test_a_seed_gives_the_same_cells_on_every_machine() -> None:
    """A fixed hash of the cells: numpy's PCG64 and exact arithmetic leave nothing to the platform."""
    x = np.linspace(0, 1, 100_003)
    cells = np.concatenate(
        [
            m.report(x, rng=2024).astype("<u4")
            for m in (sv.ogpm(1.0, loss="l1"), sv.pm(2.0, (0, 1)), sv.sw(0.5))
        ]
    )
    assert hashlib.sha256(cells.tobytes()).hexdigest() == EXPECTED


@pytest.mark.parametrize("rng", [lambda: 7, lambda: np.random.default_rng(7)], ids=["seed", "generator"])
def test_noise_is_independent_of_people_simulated_with_the_same_seed(rng: Callable[[], Any]) -> None:
    """x from default_rng(7) and m.report(x, rng=7): the words that made x must not make the noise."""
    n = 200_000
    x = np.random.default_rng(7).random(n)
    m = sv.pm(1.0)
    noise = m.perturb(x, rng=rng()) - x
    limit = 5 / np.sqrt(n)  # 1e-6
    assert abs(np.corrcoef(x, noise)[0, 1]) < limit
    raw = np.random.default_rng(7).integers(0, 1 << 64, size=n, dtype=np.uint64)  # as 0.1.0 drew its words
    same = m.decode(m.report_from(raw, x)) - x
    assert abs(np.corrcoef(x, same)[0, 1]) > limit


def test_blocks_are_as_long_as_asked_for_and_share_no_words() -> None:
    """Of one call, and of the next, whose first words lie where those of the last one lay."""
    stream, parts = SecureStream(), []
    calls = (100, 200), (40_000, 1 << 15), (200_000, 1 << 16), (20_000, 1 << 14), (90_000, 1 << 17), (0, 9)
    for count, most in calls:
        drawn = [part.copy() for part in stream.blocks(count, most)]
        assert [part.size for part in drawn] == [min(most, count - first) for first in range(0, count, most)]
        parts += drawn
    assert len(np.unique(np.concatenate(parts))) == sum(count for count, _ in calls)  # or once in 10^8


def test_no_key_that_is_there_has_made_words_that_were_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between calls of any sizes: the key of a call is gone with it, and where its words lay is nothing."""
    opened: list[weakref.ref[Any]] = []

    class Noting(SecureStream):
        def _open(self) -> Callable[[Any], None]:
            fill = super()._open()

            def noting(data: memoryview) -> None:
                fill(data)

            opened.append(weakref.ref(noting))
            return noting

    monkeypatch.setattr(randomness.secure_stream, "_MOST_AHEAD", 1 << 10)
    stream = Noting()
    for count in (300, 270, 500, *(310,) * 9, 1600, 510, 1100, *(800,) * 4):
        parts = [(part, part.copy()) for part in stream.blocks(count, 1 << 9)]
        assert len(np.unique(np.concatenate([drawn for _, drawn in parts]))) == count
        assert not any(part.any() for part, _ in parts)
        assert not any(key() for key in opened)


def test_words_are_counter_mode() -> None:
    """The words of a key are AES of one number after the other."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    key = memoryview(os.urandom(32))
    block, first = Cipher(algorithms.AES(key[:16]), modes.ECB()).encryptor(), int.from_bytes(key[16:], "big")
    numbers = b"".join(((first + i) % 2**128).to_bytes(16, "big") for i in range(64))
    assert randomness.secure_stream._aes()(key).update(bytes(1024)) == block.update(numbers)


def test_seeded_words_do_not_depend_on_blocks() -> None:
    whole = word_source(5).words(100)
    source = word_source(5)
    assert np.array_equal(np.concatenate([source.words(n) for n in (1, 2, 30, 67)]), whole)


# -- the attack of FACTS section 9 --------------------------------------------------------------------------


def float_sampler(epsilon: float, x: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """OGPM as one writes it at first: uniform doubles, scaled and shifted. Not private."""
    p = np.exp(epsilon / 2)
    w = (np.exp(epsilon) - p) / (p * (np.exp(epsilon) - 1))
    left = min(max(x - w / 2, 0.0), 1 - w)
    u, inside = rng.random(n), rng.random(n) < p * w
    outside = np.where(u * (1 - w) < left, u * (1 - w), u * (1 - w) + w)
    return np.where(inside, left + u * w, outside)


def impossible(reports: np.ndarray, epsilon: float, x: float) -> float:
    """The share of reports in the window of x that no uniform double of the float sampler could give."""
    p = np.exp(epsilon / 2)
    w = (np.exp(epsilon) - p) / (p * (np.exp(epsilon) - 1))
    left = min(max(x - w / 2, 0.0), 1 - w)
    y = reports[(reports >= left) & (reports < left + w)]
    guess = np.rint((y - left) / w * 2.0**53)
    possible = np.zeros(len(y), dtype=bool)
    for nudge in range(-4, 5):
        possible |= left + (guess + nudge) * 2.0**-53 * w == y
    return float(1 - possible.mean())


def test_the_float_sampler_gives_people_away_and_ours_does_not() -> None:
    epsilon, truth, other, n = 1.0, 0.3, 0.3000001, 20_000
    naive = float_sampler(epsilon, truth, n, np.random.default_rng(0))
    assert impossible(naive, epsilon, truth) == 0
    assert impossible(naive, epsilon, other) > 0.05  # single reports that prove the value was not 0.3000001
    m = sv.ogpm(epsilon, loss="l1")
    assert (m.counts([truth, other]) >= 1).all()  # every report is possible from every value
    exact = m.perturb(np.full(n, truth))
    assert set(exact.tolist()) <= set(m.decode(np.arange(m.cells)).tolist())
