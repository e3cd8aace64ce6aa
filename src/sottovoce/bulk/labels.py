"""How a column of reports says which mechanism made it: spec and digest in the column's metadata."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sottovoce.core.errors import DataError
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.mixture import Mixture, from_json
from sottovoce.core.spec import parse_json

SPEC, DIGEST = "sottovoce:spec", "sottovoce:digest"

_MOST_BYTES = 1 << 25

AnyMechanism = Mechanism | Mixture


def label(mechanism: AnyMechanism) -> dict[str, str]:
    """The metadata of a column of this mechanism's reports."""
    return {SPEC: mechanism.to_json(), DIGEST: mechanism.digest}


def beside(path: Path) -> Path:
    """Where the mechanisms of a CSV file stand: the format itself has no metadata."""
    return path.with_suffix(".spec.json")


def label_beside(path: Path, name: str) -> dict[str, str]:
    """A CSV column's metadata from the file beside it: one spec, or one for each column's name."""
    try:
        text = beside(path).read_text()
    except FileNotFoundError:
        return {}
    content = parse_json(text, beside(path).name, _MOST_BYTES)
    if isinstance(content, dict) and "format" not in content:
        if name not in content:
            return {}
        text = json.dumps(content[name])
    return label(from_json(text))


def mechanism_of(metadata: Any, name: str) -> AnyMechanism | None:
    """The mechanism that a column's metadata names: its spec is read with suspicion, its digest checked."""
    plain = {_text(key): _text(value) for key, value in (metadata or {}).items()}
    if SPEC not in plain:
        return None
    mechanism = from_json(plain[SPEC])
    if plain.get(DIGEST) != mechanism.digest:
        raise DataError(f"column {name!r}: the digest in its metadata is not that of its spec")
    return mechanism


def agree(found: AnyMechanism | None, given: AnyMechanism | None, where: str) -> AnyMechanism:
    """The one mechanism of a column, from its metadata, from the caller, or from both if they agree."""
    if found is None and given is None:
        raise DataError(f"{where} does not say which mechanism made it: pass mechanism=")
    if found is not None and given is not None and found.digest != given.digest:
        digests = f"{found.digest[:12]}… and {given.digest[:12]}…"
        raise DataError(f"{where} holds reports of another mechanism: digests {digests}")
    return given if given is not None else found  # type: ignore[return-value]


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
