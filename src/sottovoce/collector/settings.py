"""What an operator may choose about the service as a whole; campaigns choose the rest."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.errors import whole_number


@dataclass(frozen=True)
class Settings:
    """Limits of the service.

    `rate` requests per second and address with bursts of `burst` (0: no limit); `max_body` bytes before and
    after decompression; `max_batch` reports in one request; `max_waiting` batches in memory before the
    service says that it is busy; `key_days` how long an idempotency key is remembered.
    """

    max_body: int = 1 << 20
    max_batch: int = 100_000
    rate: int = 50
    burst: int = 200
    max_waiting: int = 2_000
    key_days: int = 7
    allow_origins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        whole_number(self.max_body, "max_body", 1024, 1 << 26)
        whole_number(self.max_batch, "max_batch", 1, 10_000_000)
        whole_number(self.rate, "rate", 0, 1_000_000)
        whole_number(self.burst, "burst", 1, 1_000_000)
        whole_number(self.max_waiting, "max_waiting", 1, 1_000_000)
        whole_number(self.key_days, "key_days", 1, 365)
