"""The rules of base sets and their counts, and the wire format `translates/1`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sottovoce.core import spec
from sottovoce.core.errors import SpecError
from sottovoce.core.options import Options
from sottovoce.core.window import MAX_BITS, MAX_CELLS, MIN_BITS


def check_sets(group: tuple[int, ...], blocks: Sequence[Sequence[int]], multipliers: tuple[int, ...]) -> None:
    """Every element of the group lies in as many cells as any other: the rules that make it so."""
    size = math.prod(group)
    if not blocks or not multipliers or len(blocks) * len(multipliers) * size > MAX_CELLS:
        raise SpecError(f"blocks must give 1 to {MAX_CELLS} cells", argument="blocks")
    for block in blocks:
        if len(set(block)) != len(block) or not 1 <= len(block) < size:
            raise SpecError(
                "blocks must cover all options equally: each holds different ones, not none and not all",
                argument="blocks",
            )
        if not all(0 <= one < size for one in block):
            raise SpecError(f"blocks must hold numbers from 0 to {size - 1}", argument="blocks")
    if len(set(multipliers)) != len(multipliers) or any(
        not 0 < h < max(size, 2) or math.gcd(h, size) != 1 for h in multipliers
    ):
        raise SpecError(
            f"multipliers must be different, below {size} and without a divisor in common with it",
            argument="multipliers",
        )


def check_counts(cells: int, elements: int, background: int, extra: int, bits: int) -> None:
    """The draws of all cells add up to 2^bits."""
    if not 1 <= bits <= MAX_BITS:
        raise SpecError(f"bits must be at most {MAX_BITS}, got {bits}", argument="bits")
    if background < 1 or extra < 0:
        raise SpecError("background must be at least 1 and extra at least 0", argument="background")
    left = (1 << bits) - cells * background - elements * extra
    if not 0 <= left < cells:
        raise SpecError(
            f"background and extra must leave 0 to {cells - 1} of the 2^{bits} draws, not {left}",
            argument="background",
        )


def read(content: dict[str, Any]) -> dict[str, Any]:
    """What a `translates/1` spec says, checked for consistency but not yet for ε."""
    keys = {"format", "epsilon", "bits", "background", "extra", "blocks", "multipliers", "options"}
    spec.check_keys(content, keys, "spec")
    names = spec.as_list(content["options"], "options", lambda one, _: one)
    try:
        domain = Options(tuple(names))
    except (ValueError, TypeError) as error:
        raise SpecError(str(error), argument="options") from None
    if list(domain.names) != names:
        raise SpecError("options must be written without spaces around them", argument="options")
    blocks = spec.as_list(content["blocks"], "blocks", lambda one, at: spec.as_list(one, at, spec.as_int))
    multipliers = tuple(spec.as_list(content["multipliers"], "multipliers", spec.as_int))
    background, extra, bits = (spec.as_int(content[key], key) for key in ("background", "extra", "bits"))
    if bits < MIN_BITS:
        raise SpecError(f"bits must be at least {MIN_BITS}, got {bits}", argument="bits")
    check_sets(domain.group, blocks, multipliers)
    sets, size = len(multipliers), math.prod(domain.group)
    check_counts(len(blocks) * sets * size, sets * sum(map(len, blocks)), background, extra, bits)
    return {
        "epsilon": spec.as_float(content["epsilon"], "epsilon"),
        "domain": domain,
        "blocks": tuple(map(tuple, blocks)),
        "multipliers": multipliers,
        "background": background,
        "extra": extra,
        "bits": bits,
    }
