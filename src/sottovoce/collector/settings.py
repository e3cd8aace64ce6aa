"""What an operator may choose about the service as a whole; campaigns choose the rest."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.errors import whole_number

_RANGES = {
    "max_body": (1024, 1 << 26),
    "max_batch": (1, 10_000_000),
    "rate": (0, 1_000_000),
    "burst": (1, 1_000_000),
    "max_waiting": (1, 1_000_000),
    "max_connections": (1, 1_000_000),
    "max_estimates": (1, 10_000),
    "estimate_seconds": (1, 3600),
    "key_days": (1, 365),
}


@dataclass(frozen=True)
class Settings:
    """Limits of the service; each field is described below it, and in the reference from there."""

    max_body: int = 1 << 20
    """The most bytes of a request's body, before and after decompression."""
    max_batch: int = 100_000
    """The most reports in one request."""
    rate: int = 50
    """Requests per second that one address (IPv6: one network /64) may make in the long run; 0: no limit. A
    request to an open campaign is one report."""
    burst: int = 200
    """Requests that one address may make at once."""
    max_waiting: int = 2_000
    """The most batches that wait for the store before the service says that it is busy (503)."""
    max_connections: int = 2_000
    """The most connections at once; requests on more than these are refused (503)."""
    max_estimates: int = 4
    """The most questions that wait for their estimates; more are told that the service is busy (503)."""
    estimate_seconds: int = 60
    """How long estimates may be computed before they are given up (503)."""
    key_days: int = 7
    """How many days an idempotency key is remembered: how late a request may be repeated."""
    allow_origins: tuple[str, ...] = ()
    """Sites whose pages may post reports, such as https://survey.example; none but the service's own."""

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            whole_number(getattr(self, name), name, least, most)
