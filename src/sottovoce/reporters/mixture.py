"""A public coin between mechanisms: one ε, several shapes of noise.

    m = sottovoce.two_scale(epsilon=1.0, domain=(0, 24))
    cells = m.report(hours)      # part and cell in one integer: offset of the part + its cell

Every person's device tosses a coin that does not look at the value, runs the part it names, and reports
which one it was. The coin is the same for every input, so the ratio of two probabilities of a report is the
ratio within its part: the mixture keeps the ε that every part keeps, exactly. Weights are integers that add
up to 2^k, so the coin is exact too. As a spec:

    {"format": "mixture/1", "parts": [window/1, …], "weights": [614, 410]}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce import compiling
from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentError, SpecError
from sottovoce.exact.exponential import MAX_BITS
from sottovoce.reporters.base import Composition
from sottovoce.reporters.mechanism import Mechanism, Windowed
from sottovoce.reporters.sampling.coin import MAX_COIN_BITS, Coin
from sottovoce.reporters.sampling.dispatch import Sampler
from sottovoce.reporters.sampling.tables import CoinBits
from sottovoce.reporters.window import MAX_CELLS, Window
from sottovoce.values.domain import Domain
from sottovoce.wire.canonical import MIXTURE, canonical, untasked

if TYPE_CHECKING:
    from fractions import Fraction

    from sottovoce.reporters.law.operator import Operator

MAX_PARTS = 16


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(Windowed):
    """Mechanisms of one ε and one domain, and the integer weights of the coin between them.

    Attributes:
        parts: The mechanisms.
        weights: How often the coin names each, as integers that add up to a power of two.
        certificate: None; nothing is proved about mixtures.
        name: Which design it is.
        made_for: The question it was made for, such as "distribution", or None.
    """

    parts: tuple[Mechanism, ...]
    weights: tuple[int, ...]
    certificate: None = field(default=None, compare=False)
    name: str = field(default="mixture", compare=False)
    made_for: str | None = field(default=None, compare=False)

    draws = 2  # the word of the part, and that of the coin

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "weights", tuple(self.weights))
        check_coin(self.weights, [(part.epsilon, part.domain, part.window) for part in self.parts])

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def epsilon(self) -> float:  # type: ignore[override]
        """The ε of every part, and so of the mixture."""
        return self.parts[0].epsilon

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """The domain of every part."""
        return self.parts[0].domain

    @cached_property
    def offsets(self) -> IntArray:
        """Part i reports the cells offsets[i] … offsets[i+1]−1."""
        return np.concatenate(([0], np.cumsum([part.cells for part in self.parts])))

    @cached_property
    def cells(self) -> int:
        """How many different reports there are: cells 0 … cells−1."""
        return sum(part.cells for part in self.parts)

    @property
    def composition(self) -> Composition:  # type: ignore[override]
        """The parts, of which the coin names one."""
        return Composition(self.parts, tuple(self.shares.tolist()), 1)

    @property
    def shares(self) -> FloatArray:
        """The probability of each part."""
        return np.array(self.weights) / sum(self.weights)

    @cached_property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one cell: the coin cancels, so that of the worst part."""
        return max(part.largest_ratio for part in self.parts)

    @cached_property
    def positions(self) -> FloatArray:
        """Where each cell's report lies, in the unit coordinate of the domain."""
        return np.concatenate([part.positions for part in self.parts])

    def to_json(self) -> str:
        import json

        parts = [json.loads(untasked(part.to_json())) for part in self.parts]
        return canonical({"format": MIXTURE, "weights": list(self.weights), "parts": parts}, self.made_for)

    # -- what the device does ---------------------------------------------------------------------------

    def _fill(
        self, out: NDArray[Any], x: FloatArray, words: NDArray[np.uint64], *, paired: bool = False
    ) -> bool:
        fresh = len(words) == 1  # a draw is at most 52 bits and a coin 10: one word has both
        if fresh and self._sampler and compiling.compiled(out.size):
            return self._sampler.fill(out, words[0], x) == 0
        toss = self._coin.toss(words[0] << np.uint64(MAX_BITS) if fresh else words[1])
        draw = toss.sort(words[0]) if fresh or paired else words[0]
        x, cells = toss.sort(x), np.empty_like(out)
        inside = all(
            first == end or part._fill(cells[first:end], x[first:end], draw[None, first:end])
            for part, first, end in zip(self.parts, toss.begin, toss.begin[1:], strict=False)
        )
        toss.put_back(out, cells, self.offsets[:-1])
        if fresh:
            draw.fill(0)  # a copy, which nobody else forgets; the coin is public
        return inside

    @cached_property
    def _coin(self) -> Coin:
        return Coin(self.weights)

    @cached_property
    def _sampler(self) -> Sampler | None:
        """Draws the cells of both parts and keeps one, where that is quicker than sorting by the coin."""
        tables = [part.window.tables for part in self.parts]
        if len(tables) != 2 or any(one.line is None for one in tables):
            return None
        total = sum(self.weights)
        shift, mask = 64 - MAX_BITS - total.bit_length() + 1, total - 1
        toss = CoinBits(
            np.uint64(shift), np.uint64(mask), np.uint64(self.weights[0]), np.int32(tables[0].cells)
        )
        return Sampler(tables[0], self.domain, (tables[1], toss))

    # -- the exact law ----------------------------------------------------------------------------------

    @property
    def _coin_sides(self) -> tuple[list[Window], list[float]]:
        return [part.window for part in self.parts], self.shares.tolist()

    @cached_property
    def total(self) -> int:
        """The number of equally likely draws that `counts` counts."""
        return sum(self.weights) << max(part.window.bits for part in self.parts)

    def counts(self, x: ArrayLike) -> IntArray:
        most = max(part.window.bits for part in self.parts)
        rows = [
            part.counts(x) * (weight << (most - part.window.bits))
            for part, weight in zip(self.parts, self.weights, strict=True)
        ]
        return np.concatenate(rows, axis=-1)

    def operator(self, x: ArrayLike) -> Operator:
        from sottovoce.reporters.law.operator import Operator

        return Operator.stack([part.operator(x) for part in self.parts], self.shares.tolist())

    def unit_table(self, t: FloatArray, first: IntArray) -> FloatArray:
        parts = zip(self.parts, self.shares, _split(first, self.offsets), strict=True)
        return np.hstack([share * part.unit_table(t, piece) for part, share, piece in parts])

    def bins(self, most: int, between: tuple[float, float] | None = None) -> IntArray:
        share, parts = max(1, most // len(self.parts)), zip(self.parts, self.offsets[:-1], strict=True)
        return np.concatenate([part.bins(share, between) + offset for part, offset in parts])

    def bends(self, first: IntArray) -> FloatArray:
        pieces = _split(first, self.offsets)
        return np.unique(
            np.concatenate([part.bends(piece) for part, piece in zip(self.parts, pieces, strict=True)])
        )

    def unit_bends(self, first: IntArray) -> FloatArray:
        parts = zip(self.parts, _split(first, self.offsets), strict=True)
        return np.concatenate([part.unit_bends(piece) for part, piece in parts])

    def density(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        densities = (share * part.density(x, y) for part, share in zip(self.parts, self.shares, strict=True))
        return np.asarray(sum(densities))[()]


def _split(first: IntArray, offsets: IntArray) -> list[IntArray]:
    """Starts of bins, part by part, counted from the part's first cell."""
    at = np.searchsorted(first, offsets)
    if at[-2] == len(first) or (first[at[:-1]] != offsets[:-1]).any():
        raise ArgumentError("a bin of cells must not span two parts of a mixture", argument="first")
    return [first[i:j] - offset for (i, j), offset in zip(pairwise(at), offsets[:-1], strict=True)]


def check_coin(weights: Sequence[int], parts: Sequence[tuple[float, Domain, Window]]) -> None:
    """The rules of a mixture that are not those of its parts: an exact coin, one ε, one domain."""
    if not 1 <= len(parts) <= MAX_PARTS:
        raise SpecError(f"a mixture has between 1 and {MAX_PARTS} parts, got {len(parts)}")
    if len(weights) != len(parts):
        raise SpecError(f"weights must have one entry per part, got {len(weights)} for {len(parts)}")
    if not all(type(weight) is int and weight >= 1 for weight in weights):
        raise SpecError(f"weights must be whole numbers of at least 1, got weights={tuple(weights)!r}")
    total = sum(weights)
    if total.bit_count() != 1 or total > 1 << MAX_COIN_BITS:
        raise SpecError(f"weights must add up to a power of two up to {1 << MAX_COIN_BITS}, got {total}")
    if any(part[:2] != parts[0][:2] for part in parts):
        raise SpecError("the parts of a mixture must have the same epsilon and the same domain")
    if sum(window.cells for _, _, window in parts) > MAX_CELLS:
        raise SpecError(f"there can be at most {MAX_CELLS} cells")
