"""Limits per address, in memory only: requests, and shares of what is published together.

Whoever has an IPv6 address has its whole network /64, which therefore counts as one. The address itself is
not kept, only its hash under a key that dies with the process.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
import os
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from sottovoce.collector.store.pool import KEEP

_MOST = 100_000
_SHARE, _REST = 16, 3600.0  # reports from one address that count for a group; seconds between two groups


def origin(address: str, prefix: int = 64) -> str:
    """What counts as one address; of IPv6 it is a network with so long a prefix.

    >>> origin("2001:db8::1:2"), origin("::ffff:192.0.2.7"), origin("192.0.2.7")
    ('2001:db8::/64', '192.0.2.7', '192.0.2.7')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # the name of a socket
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, prefix), strict=False))


def _hashed(name: str, key: bytes) -> bytes:
    return hashlib.blake2b(name.encode(), key=key, digest_size=8).digest()


class Group:
    """The reports that an open campaign publishes together next: who sent them, so far as it matters.

    `published` is the number of reports that were published when the group began, on the store's `day`. Once
    it is full nobody is counted any more, so it never holds more than `KEEP` addresses.
    """

    def __init__(self, published: int, day: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.published, self.day, self._clock, self._begun = published, day, clock, clock()
        self._key = os.urandom(16)
        self._reports: Counter[bytes] = Counter()

    def add(self, address: str) -> None:
        """Count a report from an address, of IPv6 from a network /48: one customer may have all of that."""
        name = _hashed(origin(address, 48), self._key)
        if not self._full and self._reports[name] < _SHARE:
            self._reports[name] += 1

    @property
    def _full(self) -> bool:
        return self._reports.total() >= KEEP

    @property
    def due(self) -> bool:
        """Whether enough are there, at most `_SHARE` from one address, and the last group left long ago."""
        return self._full and (self.published == 0 or self._clock() - self._begun >= _REST)


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
        name = _hashed(origin(address), self._key)
        now = self._clock()
        level, since = self._buckets.pop(name, (float(self._burst), now))
        level = min(self._burst, level + (now - since) * self._rate)
        passes = level >= 1
        self._buckets[name] = (level - passes, now)
        if len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
        return 0 if passes else max(1, math.ceil((1 - level) / self._rate))
