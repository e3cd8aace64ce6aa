"""The address of a collector in one spelling, so that one collector is not taken for several.

A device draws once for a campaign of a collector. `HTTPS://Collector.Example:443/` and
`https://collector.example` are the same one, and so are `127.1`, `localhost` and `[::1]`. What could be read
in more than one way is refused: user names, and paths with percent signs or dots for folders. A collector
with several names is still several; the budget of a ledger is what limits that.

The JavaScript client follows the same rules on the same vectors, `tests/vectors/ledger.json`.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import quote

from sottovoce.errors import ArgumentError

_PORTS = {"http": 80, "https": 443}
_URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>[^\x00-\x20\x7f/?#@:%\\\[\]]+|\[[0-9a-f:.]+\])"
    r"(:(?P<port>[0-9]{1,9}))?"
    r"(?P<prefix>(/[a-z0-9_~-][a-z0-9._~-]*)*)/*",
    re.IGNORECASE | re.ASCII,
)
_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*", re.ASCII)
_LAST_IS_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)", re.ASCII)
_AMBIGUOUS = set("ßẞς\u200c\u200d")  # which standards for international names read differently


@dataclass(frozen=True)
class Origin:
    """Where a collector is.

    Attributes:
        scheme: "http" or "https".
        host: A name or an address, in lower-case ASCII.
        port: The port.
        prefix: The path before `/v1`, without a slash at its end.
    """

    scheme: str
    host: str
    port: int
    prefix: str

    @classmethod
    def parse(cls, url: str) -> Origin:
        """Read an address.

        Args:
            url: Such as https://collector.example.

        Raises:
            ArgumentError: If it is none, or could be read in more than one way.
        """
        match = _URL.fullmatch(url) if isinstance(url, str) else None
        if match is not None:
            scheme = match["scheme"].lower()
            host, port = _host(match["host"]), int(match["port"] or _PORTS[scheme])
            if host is not None and 0 < port < 1 << 16:
                return cls(scheme, host, port, match["prefix"])
        # What was given may hold a user name and a password, so it is not repeated here.
        raise ArgumentError(
            "url must be like https://collector.example:8443/folder, without user name, query or fragment",
            code="form",
            argument="url",
        )

    def __str__(self) -> str:
        """The one spelling: without a default port, and every way to say this machine as localhost."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        local = self.host == "::1" or self.host.startswith("127.") or self.host.endswith(".localhost")
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{'localhost' if local else host}{port}{self.prefix}"

    def campaign(self, name: str) -> str:
        """The one spelling of a campaign's address, which is its name in outboxes and ledgers."""
        return f"{self}/v1/campaigns/{quote(name, safe='')}"


def _host(text: str) -> str | None:
    """A host in one spelling; None if it is none."""
    try:
        if text.startswith("["):
            address = ipaddress.IPv6Address(text[1:-1])
            number: ipaddress.IPv6Address | ipaddress.IPv4Address = address.ipv4_mapped or address
        else:
            name = text.encode("idna").decode().lower().removesuffix(".")
            if _LAST_IS_NUMBER.fullmatch(name):  # 127.1, 0x7f.1 and 2130706433 are addresses
                number = ipaddress.IPv4Address(socket.inet_aton(name))
            else:
                return name if _NAME.fullmatch(name) and not _AMBIGUOUS & set(text) else None
    except (ValueError, OSError):  # a UnicodeError is a ValueError
        return None
    return None if number.is_unspecified else str(number)
