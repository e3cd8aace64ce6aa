"""Limits per address, in memory only: a bucket of tokens for requests, a number for connections.

Whoever has an IPv6 address has its whole network /64, which therefore counts as one. The address itself is
not kept, only its hash under a key that dies with the process.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
import os
import time
from collections import OrderedDict
from collections.abc import Callable

_MOST = 100_000


def origin(address: str) -> str:
    """What counts as one address.

    >>> origin("2001:db8::1:2"), origin("::ffff:192.0.2.7"), origin("192.0.2.7")
    ('2001:db8::/64', '192.0.2.7', '192.0.2.7')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # the name of a socket
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))


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
        name = hashlib.blake2b(origin(address).encode(), key=self._key, digest_size=8).digest()
        now = self._clock()
        level, since = self._buckets.pop(name, (float(self._burst), now))
        level = min(self._burst, level + (now - since) * self._rate)
        passes = level >= 1
        self._buckets[name] = (level - passes, now)
        if len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
        return 0 if passes else max(1, math.ceil((1 - level) / self._rate))
