"""What drew a report is forgotten at once: an image of the memory taken afterwards does not hold it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

#: Draws one report and looks for what drew it in all writable memory. Copies are kept under a mask, so that
#: the search does not find itself. Prints how often the old key, the word and the draw were found.
LOOK = """
import re, sys
import numpy as np
import sottovoce as sv
from sottovoce.core import number, randomness

MASK, REMEMBERS = 0x5A, sys.argv[1] == "remembers"
masked = []

def note(data):
    masked.append(bytes(byte ^ MASK for byte in data))

class Noting(randomness.SecureStream):
    def open(self):
        if self._pid >= 0:
            note(self._key)
        if REMEMBERS:  # as 0.1.0 did: one key for a gibibyte
            self._old = bytes(self._key)
        fill = super().open()
        def noting(words):
            fill(words)
            note(words.tobytes())
            shifted = (words >> np.uint64(12)).astype(np.float64)
            note(shifted.tobytes())
            shifted.fill(0)
            if REMEMBERS:
                self._words = words.tobytes()
        return noting

stream = Noting()
number.word_source = lambda rng: stream
m = sv.sw(1.0) if sys.argv[2] == "uniform" else sv.optimal(1.0)
m.report(0.25)
masked.clear()
m.report(0.25)
secrets = masked[:3]

counts = [0] * len(secrets)
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
            hidden = image.translate(bytes(byte ^ MASK for byte in range(256)))
            image[:] = bytes(len(image))
            for i, secret in enumerate(secrets):
                counts[i] += hidden.count(secret)
            del hidden
print(*counts)
"""


def found(mode: str, design: str, plain: bool) -> list[int]:
    environment = {**os.environ, "SOTTOVOCE_PLAIN": "1" if plain else "0"}
    out = subprocess.run(
        [sys.executable, "-c", LOOK, mode, design],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(number) for number in out.stdout.split()]


@pytest.mark.parametrize("design", ["uniform", "general"])
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "compiled"])
def test_memory_does_not_hold_what_drew_a_report(design: str, plain: bool) -> None:
    assert found("forgets", design, plain) == [0, 0, 0]


def test_the_search_finds_what_is_kept() -> None:
    key, word, _ = found("remembers", "uniform", True)
    assert key >= 1
    assert word >= 1
