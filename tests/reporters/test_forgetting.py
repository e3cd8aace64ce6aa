"""What drew a report is forgotten at once: an image of the memory taken afterwards does not hold it."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Draws one report and looks for what drew it in all writable memory. Copies are kept under a mask, so that
#: the search does not find itself. Prints how often old keys, words and draws were found.
LOOK = """
import secrets, sys, tempfile
import numpy as np
import sottovoce as sv
from sottovoce.randomness import secure_stream

MASK, REMEMBERS = 0x5A, sys.argv[1] == "remembers"
masked = []

def note(kind, data):
    hidden = np.frombuffer(data, np.uint8) ^ np.uint8(MASK)
    masked.append((kind, hidden.tobytes()))

class Noting(secure_stream.SecureStream):
    def __init__(self):
        super().__init__()
        self._later, self._last = [], None  # keys that have made nothing yet; the key of the last words
    def _next_keys(self, key):
        aes, keys = secure_stream._aes, []
        def noting(key):  # without the counter, as a cipher holds it
            keys.append(np.frombuffer(key, np.uint8)[:16] ^ np.uint8(MASK))
            return aes()(key)
        secure_stream._aes = lambda: noting
        key, ciphers = super()._next_keys(key)
        secure_stream._aes = aes
        masked.append(("key", keys[0].tobytes()))  # it has made keys, and is of no more use
        self._later = keys[1:]
        return key, ciphers
    def _open(self):
        fill, key = super()._open(), self._later.pop()
        self._note_key()
        self._last = key
        return fill
    def _note_key(self):
        if self._last is not None:
            masked.append(("key", self._last.tobytes()))
            if REMEMBERS:  # as 0.1.0 did: one key for a gibibyte
                self._old = (self._last ^ np.uint8(MASK)).tobytes()
        self._last = None
    def blocks(self, count, most):
        for words in super().blocks(count, most):
            self._note(words[:1])
            self._note(words[-1:])
            yield words
    def words(self, count):
        words = super().words(count)
        self._note_key()
        self._note(words)
        return words
    def _note(self, words):
        for i in range(min(words.size, 2)):
            note("word", words[i : i + 1])
            for bits in {52, 64 - SHIFT}:  # as every sampler holds it, a double or an integer
                draw = words[i : i + 1] >> np.uint64(64 - bits)
                for kind in (np.float64, np.int64):
                    number = draw.astype(kind)
                    if draw[0] >= 2**40:
                        note("draw", number)
                    number.fill(0)
                draw.fill(0)
        if REMEMBERS:
            self._words = words.tobytes()

def ledger():
    book = sv.Ledger(tempfile.mkdtemp() + "/ledger.db", budget=9)
    book.enrol("a", sv.sw(1.0))
    return lambda rng: book.report("a", 0.25, secrets.token_hex(8), rng=rng)

SHIFT, (name, *with_numba) = 12, sys.argv[2].split(", ")
if with_numba:  # which is loaded by then
    import numba
if name == "rows":
    rows = sv.laws.laplace(1.0).tabulate(inputs=65, cells=256)
    SHIFT = 65 - rows.total.bit_length()

def survey():
    number = sv.ogpm(1.0, cells=64)
    both = sv.Survey(1.0, {"a": number, "b": number}, 1)
    return lambda rng: both.report([0.25, 0.5], rng=rng)

def blocks():
    number = sv.optimal(1.0)
    return lambda rng: [number.report(np.full(size, 0.25), rng=rng) for size in (150_000, 50_000)]

work = {
    "uniform": lambda: lambda rng, m=sv.sw(1.0): m.report(0.25, rng=rng),
    "general": lambda: lambda rng, m=sv.optimal(1.0): m.report(0.25, rng=rng),
    "some": lambda: lambda rng, m=sv.optimal(1.0): m.report(np.full(60, 0.25), rng=rng),
    "many": lambda: lambda rng, m=sv.optimal(1.0): m.report(np.full(4096, 0.25), rng=rng),
    "blocks": blocks,
    "mixture": lambda: lambda rng, m=sv.two_scale(1.0): m.report(0.25, rng=rng),
    "mixtures": lambda: lambda rng, m=sv.two_scale(1.0): m.report(np.full(150_000, 0.25), rng=rng),
    "rows": lambda: lambda rng: rows.report(0.25, rng=rng),
    "survey": survey,
    "position": lambda: lambda rng, m=sv.polar(1.0, 10.0): m.report([1.0, 2.0], rng=rng),
    "place": lambda: lambda rng, m=sv.place(1.0, 10.0, points=8): m.report([1.0, 2.0], rng=rng),
    "missing": lambda: lambda rng, m=sv.sw(1.0): m.report(None, missing="uniform", rng=rng),
    "ledger": ledger,
}[name]()
few, many = Noting(), Noting()
work(few)  # whatever the first report loads and keeps
few_words, secure_stream._FEW = secure_stream._FEW, 0
many.words(1).fill(0)
many._own().pop("stock")
masked.clear()
secure_stream._FEW = few_words
work(few)
assert "keys" not in few._own() or name in ("many", "blocks", "mixtures")
secure_stream._FEW = 0  # all words of a key, none of the operating system
work(many)
work(many)
noted = set(masked)
assert {"key", "word", "draw"} == {kind for kind, _ in noted}

counts = dict.fromkeys(("key", "word", "draw"), 0)
begins = {secret[:8]: (kind, secret) for kind, secret in noted}
may = np.zeros(1 << 16, bool)  # whether one begins with these two bytes
may[[int.from_bytes(begin[:2], sys.byteorder) for begin in begins]] = True
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps.read().splitlines():
        place, rights, *_ = line.split()
        if rights.startswith("rw") and not line.endswith(("[vvar]", "[vsyscall]")):
            first, last = (int(part, 16) for part in place.split("-"))
            try:
                memory.seek(first)
                image = bytearray(memory.read(last - first))
            except (OSError, OverflowError, ValueError):
                continue
            pages = np.frombuffer(image, np.uint64).reshape(-1, 512)
            used = pages.any(1)  # most are empty: a page is searched if it or a neighbour is not
            if not used.any():
                continue
            near = used.copy()
            near[1:] |= used[:-1]
            near[:-1] |= used[1:]
            pages ^= np.uint64(MASK * (2**64 // 255))  # in place, and so is nothing left of it
            hidden = pages[near].tobytes()
            for odd in (0, 1):
                twos = np.frombuffer(hidden, np.uint16, (len(hidden) - odd) // 2, odd)
                for place in 2 * np.flatnonzero(may[twos]) + odd:
                    kind, secret = begins.get(hidden[place : place + 8], ("key", b"none"))
                    counts[kind] += hidden.startswith(secret, place)
            del image, pages, hidden
print(*counts.values())
"""


PATHS = [
    "uniform",
    "general",
    "some",
    "many",
    "many, numba",
    "blocks",
    "blocks, numba",
    "mixture",
    "mixtures",
    "mixtures, numba",
    "rows",
    "survey",
    "position",
    "place",
    "missing",
    "ledger",
]


def counts(mode: str, path: str) -> list[int]:
    """How often keys, words and draws of the last report are in memory."""
    done = subprocess.run([sys.executable, "-c", LOOK, mode, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


@pytest.mark.attack("M4", "refused")
@pytest.mark.parametrize("path", PATHS)
def test_memory_does_not_hold_what_drew_a_report(path: str) -> None:
    """Single reports and, by both loops, "many", "blocks" of them and those of "mixtures"."""
    assert counts("forgets", path) == [0, 0, 0]


@pytest.mark.attack("M4", "succeeds")
def test_the_search_finds_what_is_kept() -> None:
    key, word, _ = counts("remembers", "uniform")
    assert key >= 1
    assert word >= 1
