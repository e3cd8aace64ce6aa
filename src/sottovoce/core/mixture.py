"""A public coin between mechanisms: one ε, several shapes of noise.

    m = sottovoce.two_scale(epsilon=1.0, domain=(0, 24))
    cells = m.report(hours)      # part and cell in one integer: offset of the part + its cell

Every person's device tosses a coin that does not look at the value, runs the part it names, and reports
which one it was. The coin is the same for every input, so the ratio of two probabilities of a report is the
ratio within its part: the mixture keeps the ε that every part keeps, exactly. Weights are integers that add
up to 2^k, so the coin is exact too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core import spec
from sottovoce.core.domains import Domain
from sottovoce.core.errors import SpecError
from sottovoce.core.kernels import Operator
from sottovoce.core.kernels.coin import Coin, Toss
from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.core.mechanism import Mechanism, refuse_values
from sottovoce.core.randomness import Seeded, word_source
from sottovoce.core.values import as_cells, as_numbers
from sottovoce.core.window import MAX_CELLS, Window

MAX_COIN_BITS = 10  # with 52 bits of a part, counts of the mixture still fit 63 bits
MAX_PARTS = 16
_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Mixture(spec.Specified):
    """Mechanisms of one ε and one domain, and the integer weights of the coin between them.

    `parts` are the mechanisms; `certificate` is None: nothing is proved about mixtures.
    """

    parts: tuple[Mechanism, ...]
    weights: tuple[int, ...]
    certificate: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "weights", tuple(self.weights))
        check_coin(self.weights, [(part.epsilon, part.domain, part.window) for part in self.parts])

    # -- identity ---------------------------------------------------------------------------------------

    @property
    def epsilon(self) -> float:
        """The ε of every part, and so of the mixture."""
        return self.parts[0].epsilon

    @property
    def domain(self) -> Domain:
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

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The narrowest unsigned integer that holds every cell."""
        return np.min_scalar_type(self.cells - 1)

    @property
    def shares(self) -> FloatArray:
        """The probability of each part."""
        return np.array(self.weights) / sum(self.weights)

    @cached_property
    def largest_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one cell: the coin cancels, so that of the worst part."""
        return max(part.largest_ratio for part in self.parts)

    def to_json(self) -> str:
        """The canonical spec: the coin's weights and the spec of every part."""
        return spec.write_mixture(self.weights, [part.to_json() for part in self.parts])

    def __repr__(self) -> str:
        return (
            f"<Mixture of {len(self.parts)} epsilon={self.epsilon!r} {self.domain} "
            f"cells={self.cells} digest={self.digest[:12]}>"
        )

    # -- what the device does ---------------------------------------------------------------------------

    def report(self, values: ArrayLike, *, clip: bool = False, rng: Seeded = None) -> NDArray[Any]:
        """Randomise values: one integer cell each, the shape kept. As `Mechanism.report`."""
        numbers = as_numbers(values, "values")
        flat = numbers.reshape(-1)
        source = word_source(rng)
        out = np.empty(numbers.shape, dtype=self.dtype)
        target = out.reshape(-1)
        words = np.empty(min(_BLOCK, flat.size), dtype="<u8")
        for first in range(0, flat.size, _BLOCK):
            block = slice(first, first + _BLOCK)
            fresh = words[: target[block].size]
            source.fill(fresh)  # the coins of a block, then the words of part after part
            toss = self._coin.toss(fresh)
            source.fill(fresh)
            if not self._fill(target[block], flat[block], toss, fresh, clip):
                refuse_values(self.domain, flat, clip)
        return out[()]

    def report_from(
        self, words: NDArray[np.uint64], values: ArrayLike, coins: NDArray[np.uint64], *, clip: bool = False
    ) -> NDArray[Any]:
        """The cells that given words draw: one word for the coin and one for the part, per value.

        `coins` and `words` must be uniform and used only here.
        """
        flat = as_numbers(values, "values").reshape(-1)
        out = np.empty(flat.size, dtype=self.dtype)
        for first in range(0, flat.size, _BLOCK):
            block = slice(first, first + _BLOCK)
            toss = self._coin.toss(np.ascontiguousarray(coins[block], dtype=np.uint64))
            mine = toss.sort(np.ascontiguousarray(words[block], dtype=np.uint64))
            if not self._fill(out[block], flat[block], toss, mine, clip):
                refuse_values(self.domain, flat, clip)
        return out

    def _fill(
        self, out: NDArray[Any], values: NDArray[Any], toss: Toss, words: NDArray[np.uint64], clip: bool
    ) -> bool:
        """As `Mechanism._fill`; the words are those of the first part's values, then of the next's."""
        x, cells = toss.sort(np.ascontiguousarray(values, dtype=np.float64)), np.empty_like(out)
        for part, first, end in zip(self.parts, toss.begin, toss.begin[1:], strict=False):
            if first < end and not part._fill(cells[first:end], x[first:end], words[first:end], clip):
                return False
        toss.put_back(out, cells, self.offsets[:-1])
        return True

    @cached_property
    def _coin(self) -> Coin:
        return Coin(self.weights)

    def decode(self, cells: ArrayLike) -> FloatArray:
        """The value that each cell stands for, in the units of the domain."""
        return np.asarray(self._decoded[as_cells(cells, self.cells)])[()]

    @cached_property
    def _decoded(self) -> FloatArray:
        return np.concatenate([part.decode(np.arange(part.cells)) for part in self.parts])

    def perturb(self, values: ArrayLike, *, clip: bool = False, rng: Seeded = None) -> FloatArray:
        """`decode(report(values))`: noisy values instead of cells."""
        return self.decode(self.report(values, clip=clip, rng=rng))

    # -- the exact law ----------------------------------------------------------------------------------

    @cached_property
    def total(self) -> int:
        """The number of equally likely draws that `counts` counts."""
        return sum(self.weights) << max(part.window.bits for part in self.parts)

    def counts(self, x: ArrayLike) -> IntArray:
        """How many of the `total` equally likely draws give each cell: exact integers, a row per x."""
        most = max(part.window.bits for part in self.parts)
        rows = [
            part.counts(x) * (weight << (most - part.window.bits))
            for part, weight in zip(self.parts, self.weights, strict=True)
        ]
        return np.concatenate(rows, axis=-1)

    def probabilities(self, x: ArrayLike) -> FloatArray:
        """The probability of each cell, a row per x."""
        return np.asarray(self.counts(x) / self.total)

    def operator(self, x: ArrayLike) -> Operator:
        """P(cell | x) for many x as an operator with O(cells + inputs) products."""
        return Operator.stack([part.operator(x) for part in self.parts], self.shares.tolist())

    def groups(self, most: int) -> IntArray:
        """First cells of at most `most` (at least one per part) groups of neighbours."""
        share = max(1, most // len(self.parts))
        starts = [part.groups(share) + off for part, off in zip(self.parts, self.offsets[:-1], strict=True)]
        return np.concatenate(starts)

    def bends(self, first: IntArray) -> FloatArray:
        """Values between which the probability of every group of cells is linear in x.

        `first` has the first cell of each group.
        """
        pieces = _split(first, self.offsets)
        return np.unique(
            np.concatenate([part.bends(piece) for part, piece in zip(self.parts, pieces, strict=True)])
        )


def _split(first: IntArray, offsets: IntArray) -> list[IntArray]:
    """Starts of groups, part by part, counted from the part's first cell."""
    if not np.isin(offsets[:-1], first).all():
        raise ValueError("a group of cells must not span two parts of a mixture")
    return [first[(first >= a) & (first < b)] - a for a, b in pairwise(offsets)]


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


def from_json(text: str | bytes) -> Mechanism | Mixture:
    """Read a spec that anybody may have written; refused unless its counts give the ε it claims.

    `window/1` gives a `Mechanism`, `mixture/1` a `Mixture`.
    `text` is the spec as it was written; nothing in it is believed before it is counted.
    """
    weights, read = spec.read_parts(text)
    parts = tuple(Mechanism(*part) for part in read)
    return parts[0] if weights is None else Mixture(parts, tuple(weights))
