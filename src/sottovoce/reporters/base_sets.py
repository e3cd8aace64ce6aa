"""Base sets on a finite group: their rules, sums over translates, and the wire format `translates/1`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import SpecError
from sottovoce.exact.exponential import MAX_BITS, MIN_BITS
from sottovoce.reporters.window import MAX_CELLS
from sottovoce.values.area import Area, read_area
from sottovoce.values.options import Options
from sottovoce.wire.checked_json import as_float, as_int, as_list, check_keys


class BaseSets:
    """Base sets and all their translates: cell (b, s) holds the elements x with s − x in the set b."""

    domain: Options | Area
    blocks: tuple[tuple[int, ...], ...]
    multipliers: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many different reports there are: a shift of the group for each set."""
        return len(self.blocks) * len(self.multipliers) * self._size

    @property
    def elements(self) -> int:
        """How many elements all sets have: the cells that hold one choice."""
        return len(self.multipliers) * sum(len(self.domain.members(block)) for block in self.blocks)

    @property
    def _size(self) -> int:
        return math.prod(self.domain.group)

    @cached_property
    def indicator(self) -> FloatArray:
        """1 where a base set has an element, 0 elsewhere: sets × group."""
        table = np.zeros((len(self.sets), self._size))
        for row, one in zip(table, self.sets, strict=True):
            row[one] = 1.0
        return table.reshape(len(self.sets), *self.domain.group)

    @cached_property
    def sets(self) -> list[IntArray]:
        """The base sets, each block times each multiplier."""
        return [
            self.domain.members(block) * h % self._size for block in self.blocks for h in self.multipliers
        ]

    def held(self, counts: ArrayLike) -> FloatArray:
        """For every element the sum of the counts of the cells that hold it, by Fourier transforms.

        Args:
            counts: One number per cell.

        Returns:
            One sum per element of the group.
        """
        return self.correlated(counts, self.indicator)

    def correlated(self, counts: ArrayLike, weights: FloatArray) -> FloatArray:
        """For every element x the sum over cells of count(b, s)·weight(b, s − x).

        Args:
            counts: One number per cell.
            weights: Sets × group.

        Returns:
            One sum per element of the group.
        """
        table = np.asarray(counts, dtype=np.float64).reshape(weights.shape)
        return self._inverse((self._transform(table) * np.conj(self._transform(weights))).sum(axis=0))

    @cached_property
    def together(self) -> IntArray:
        """How many cells hold both element 0 and δ, for every δ; in a balanced family all δ ≠ 0 agree."""
        spectrum = (np.abs(self._transform(self.indicator)) ** 2).sum(axis=0)
        return np.rint(self._inverse(spectrum)).astype(np.int64)

    def _sets_content(self) -> dict[str, Any]:
        """What a spec says of the sets, and of where they lie."""
        if isinstance(self.domain, Area):
            return {"area": self.domain.content(), "blocks": self.blocks}
        return {"blocks": self.blocks, "multipliers": self.multipliers, "options": self.domain.names}

    def _transform(self, table: FloatArray) -> NDArray[np.complex128]:
        return np.fft.rfftn(table, axes=tuple(range(1, table.ndim)))

    def _inverse(self, transform: NDArray[Any]) -> FloatArray:
        return np.fft.irfftn(transform, self.domain.group, axes=tuple(range(transform.ndim))).reshape(-1)


def check_sets(domain: Options | Area, blocks: Sequence[Sequence[int]], multipliers: tuple[int, ...]) -> int:
    """Every element of the group lies in as many cells as any other: the rules that make it so.

    Returns:
        How many elements all sets have.
    """
    size = math.prod(domain.group)
    if not blocks or not multipliers or len(blocks) * len(multipliers) * size > MAX_CELLS:
        raise SpecError(f"blocks must give 1 to {MAX_CELLS} cells", argument="blocks")
    elements = sum(len(domain.members(block)) for block in blocks)
    if len(set(multipliers)) != len(multipliers) or any(
        not 0 < h < max(size, 2) or math.gcd(h, size) != 1 for h in multipliers
    ):
        raise SpecError(
            f"multipliers must be different, below {size} and without a divisor in common with it",
            argument="multipliers",
        )
    return elements * len(multipliers)


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
    own = {"area"} if "area" in content else {"multipliers", "options"}
    check_keys(content, own | {"format", "epsilon", "bits", "background", "extra", "blocks"}, "spec")
    domain = read_area(content["area"]) if "area" in content else Options.read(content["options"])
    blocks = as_list(content["blocks"], "blocks", lambda one, at: as_list(one, at, as_int))
    multipliers = tuple(as_list(content.get("multipliers", [1]), "multipliers", as_int))
    background, extra, bits = (as_int(content[key], key) for key in ("background", "extra", "bits"))
    if bits < MIN_BITS:
        raise SpecError(f"bits must be at least {MIN_BITS}, got {bits}", argument="bits")
    elements = check_sets(domain, blocks, multipliers)
    check_counts(len(blocks) * len(multipliers) * math.prod(domain.group), elements, background, extra, bits)
    return {
        "epsilon": as_float(content["epsilon"], "epsilon"),
        "domain": domain,
        "blocks": tuple(map(tuple, blocks)),
        "multipliers": multipliers,
        "background": background,
        "extra": extra,
        "bits": bits,
    }
