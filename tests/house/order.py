"""The order of the parts, read from `order.txt`: the one place where it is written."""

from __future__ import annotations

from pathlib import Path

#: The parts, top first.
ORDER: list[str] = []
#: What a part may import and nothing else.
ONLY: dict[str, list[str]] = {}
for line in Path(__file__).with_name("order.txt").read_text().splitlines():
    part, colon, rest = line.partition("#")[0].partition(":")
    if colon:
        ONLY[part] = [part, *rest.split()]
    else:
        ORDER += part.split()
