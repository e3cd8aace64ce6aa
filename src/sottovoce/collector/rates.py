"""Rate limits: a bucket of tokens per address, in memory only.

The address itself is not kept, only its hash under a key that dies with the process.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections import OrderedDict
from collections.abc import Callable

_MOST = 100_000


class RateLimit:
    """`rate` per second with bursts of `burst`; `rate=0` allows everything."""

    def __init__(self, rate: int, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._key = os.urandom(16)
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> int:
        """0 if the request may pass, otherwise the whole seconds after which it may."""
        if self._rate == 0:
            return 0
        name = hashlib.blake2b(address.encode(), key=self._key, digest_size=8).digest()
        now = self._clock()
        level, since = self._buckets.pop(name, (float(self._burst), now))
        level = min(self._burst, level + (now - since) * self._rate)
        passes = level >= 1
        self._buckets[name] = (level - passes, now)
        if len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
        return 0 if passes else max(1, math.ceil((1 - level) / self._rate))
