"""Objects that pickle and copy by their fields, not by what was computed from them on the way."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class Compact:
    """A frozen dataclass whose cached properties stay where they were computed.

    Tables of a used mechanism take megabytes and are quick to make again, so they do not travel to other
    processes.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
