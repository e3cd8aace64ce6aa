"""Results of a long run in parts: each is kept when it is done, and they are added up when they are read."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Parts:
    """A file of results: named lists of parts, and the machine."""

    path: Path

    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.path.read_text()) if self.path.exists() else {}
        return content

    def read(self, name: str) -> list[dict[str, Any]]:
        """The parts under a name."""
        parts: list[dict[str, Any]] = self._content().get(name, [])
        return parts

    def add(self, name: str, part: dict[str, Any], machine: str) -> None:
        """Keep one more part."""
        content = self._content() | {name: [*self.read(name), part], "machine": machine}
        self.path.write_text(json.dumps(content, indent=1) + "\n")

    def total(self, name: str) -> Counter[str]:
        """The sums of what is a whole number in the parts under a name."""
        total: Counter[str] = Counter()
        for part in self.read(name):
            total.update({key: value for key, value in part.items() if isinstance(value, int)})
        return total
