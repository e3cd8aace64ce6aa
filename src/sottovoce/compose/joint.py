"""Joint reports as JSON: several windows within one ε.

    {"epsilon": ε, "format": "vector/1", "parts": [window/1, …], "sampled": k}
    {"epsilon": ε, "format": "polar/1", "loss": 2, "parts": [distance, angle], "weights": [1, 1]}

Canonical as `window/1` is, and read with the same suspicion. The largest ratio of a joint report is the
product of the k largest among its parts: they are independent, and the lot does not look at values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sottovoce.core import formats, spec
from sottovoce.core.errors import SpecError
from sottovoce.core.mechanism import Mechanism
from sottovoce.core.reporter import Reporter

if TYPE_CHECKING:
    from sottovoce.compose.polar import Polar
    from sottovoce.compose.vectors import Vector

VECTOR, POLAR = "vector/1", "polar/1"
MAX_ATTRIBUTES = 256
MAX_BYTES = 1 << 24  # 256 optimal designs of 50 KB
_KEYS = {
    VECTOR: {"epsilon", "format", "parts", "sampled"},
    POLAR: {"epsilon", "format", "loss", "parts", "weights"},
}


def product_of_largest(ratios: Iterable[Fraction], k: int) -> Fraction:
    """The exact ratio of a report of any k of these parts."""
    product = Fraction(1)
    for ratio in sorted(ratios, reverse=True)[:k]:
        product *= ratio
    return product


def write(form: str, epsilon: float, parts: Sequence[Mechanism], **rest: Any) -> str:
    """The canonical text."""
    content = {"format": form, "epsilon": epsilon, "parts": [json.loads(part.to_json()) for part in parts]}
    return json.dumps(content | rest, sort_keys=True, separators=(",", ":"), allow_nan=False)


def form_of(text: str | bytes) -> str | None:
    """`VECTOR` or `POLAR`, None for anything else."""
    content = spec.parse_json(text, most=MAX_BYTES)
    form = content.get("format") if isinstance(content, dict) else None
    return form if isinstance(form, str) and form in _KEYS else None


def read(text: str | bytes, form: str) -> dict[str, Any]:
    """The content, each part as a text of its own; what it claims is for the caller to check."""
    content = spec.parse_json(text, most=MAX_BYTES)
    if not isinstance(content, dict) or content.get("format") != form or set(content) != _KEYS[form]:
        keys = ", ".join(sorted(_KEYS[form]))
        raise SpecError(f"format must be {form!r}, with exactly the keys {keys}")
    parts, most = content["parts"], MAX_ATTRIBUTES if form == VECTOR else 2
    if not isinstance(parts, list) or not (1 if form == VECTOR else 2) <= len(parts) <= most:
        raise SpecError(f"parts must be a list of {'1 to ' if form == VECTOR else ''}{most} windows")
    sampled = content.get("sampled", 2)
    if type(sampled) is not int or not 1 <= sampled <= len(parts):
        raise SpecError(f"sampled must be a whole number between 1 and {len(parts)}")
    return content | {"parts": [json.dumps(part) for part in parts], "sampled": sampled}


def parts_of(content: dict[str, Any]) -> tuple[Mechanism, ...]:
    return tuple(Mechanism(*spec.read_window(spec.parse_json(part))) for part in content["parts"])


def from_json(text: str | bytes) -> Reporter | Vector | Polar:
    """Read any spec of this library; refused unless its counts give the ε it claims."""
    form = form_of(text)
    if form == VECTOR:
        from sottovoce.compose.vectors import Vector

        return Vector.from_json(text)
    if form == POLAR:
        from sottovoce.compose.polar import Polar

        return Polar.from_json(text)
    return formats.from_json(text)
