"""The matrix P(cell | input) as an operator, in its difference form.

    (Pᵀw)_j = b_j Σw + e_j · cumsum(D w)_j          the probability of every cell
    (P f)_i = b·f + Σ_s D_si · tail(e ∘ f)_s        an expectation for every input; tail_s = Σ_{j ≥ s}

Every law is a background b_j plus a part of e_j: how large a part is a step function of the cell, and column
i of D holds the steps of input i. The window of a mechanism has two steps, one at each end; an end lies
inside a cell, so a step is shared between that cell and the next, and one place with two entries describes
it. So a product costs two entries per end and one pass over the cells, instead of inputs × cells.

The same form holds a mixture (its parts stacked), averages over bins (the steps of a bin's inputs together),
bins of cells (a bin is a cell again) and explicit rows (a step at every cell).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray, IntArray
from sottovoce.errors import ArgumentError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_SPARE = 2  # slots after the cells of a part, where the steps at its very end land


@dataclass(frozen=True, eq=False)
class Operator:
    """P(cell | input) for some inputs.

    Attributes:
        background: b, per slot; the cells of each part are followed by two slots of weight 0.
        extra: e, per slot.
        places: Where the steps of each input are, inputs × steps.
        steps: How much of each step falls on its place and on the next slot, inputs × steps × 2.
        sizes: How many cells each part has.
    """

    background: FloatArray
    extra: FloatArray
    places: NDArray[np.int32]
    steps: FloatArray
    sizes: tuple[int, ...]

    # -- making one -------------------------------------------------------------------------------------

    @classmethod
    def windows(
        cls,
        background: FloatArray,
        extra: FloatArray,
        lower: tuple[IntArray, FloatArray],
        upper: tuple[IntArray, FloatArray],
        wrapped: NDArray[np.bool_],
    ) -> Operator:
        """The law of windows that run from `lower` to `upper` on the extra coordinate.

        Args:
            background: The background probability of every cell.
            extra: The probability that a window adds to a cell that it covers.
            lower: For every input the cell that holds the window's start, and the part of it below.
            upper: The same for the window's end.
            wrapped: Whether the window goes around the seam of a circle.

        Returns:
            The operator.
        """
        ends = [(lower[0], 1 - lower[1], lower[1]), (upper[0], upper[1] - 1, -upper[1])]
        if wrapped.any():
            zero, around = np.zeros_like(lower[0]), wrapped.astype(np.float64)
            ends += [(zero, around, 0 * around), (zero + len(extra), -around, 0 * around)]
        return cls(
            np.append(background, np.zeros(_SPARE)),
            np.append(extra, np.zeros(_SPARE)),
            np.stack([place for place, _, _ in ends], axis=1).astype(np.int32),
            np.stack([np.stack(pair, axis=1) for _, *pair in ends], axis=1),
            (len(extra),),
        )

    @classmethod
    def rows(cls, matrix: FloatArray) -> Operator:
        """A law given as explicit probabilities.

        Args:
            matrix: P(cell | input), a row per input.

        Returns:
            The operator.
        """
        inputs, cells = matrix.shape
        least = matrix.min(axis=0)
        extra = matrix.max(axis=0) - least
        cover = np.divide(matrix - least, extra, out=np.zeros_like(matrix), where=extra > 0)
        pairs = cells // 2 + 1
        steps = np.zeros((inputs, 2 * pairs))
        steps[:, : cells + 1] = np.diff(cover, axis=1, prepend=0.0, append=0.0)
        places = np.tile(np.arange(pairs, dtype=np.int32) * 2, (inputs, 1))
        spare = np.zeros(_SPARE)
        return cls(
            np.append(least, spare),
            np.append(extra, spare),
            places,
            steps.reshape(inputs, pairs, 2),
            (cells,),
        )

    @classmethod
    def stack(cls, parts: Sequence[Operator], shares: Sequence[float]) -> Operator:
        """The law of a public coin: the cells of all parts side by side.

        Args:
            parts: The laws of the parts.
            shares: The probability of each.

        Returns:
            The operator.
        """
        firsts = np.cumsum([0, *(len(part.extra) for part in parts[:-1])])
        return cls(
            np.concatenate([share * part.background for part, share in zip(parts, shares, strict=True)]),
            np.concatenate([share * part.extra for part, share in zip(parts, shares, strict=True)]),
            np.hstack([part.places + np.int32(first) for part, first in zip(parts, firsts, strict=True)]),
            np.hstack([part.steps for part in parts]),
            sum((part.sizes for part in parts), ()),
        )

    def averaged(self, inside: int) -> Operator:
        """The law of averages over consecutive inputs: values spread over a bin.

        Args:
            inside: How many inputs are one bin.

        Returns:
            An operator whose inputs are the bins.
        """
        if inside == 1:
            return self
        inputs = len(self.places) // inside
        places, steps = self.places.reshape(inputs, -1), self.steps.reshape(inputs, -1, 2) / inside
        return Operator(self.background, self.extra, places, steps, self.sizes)

    def coarsen(self, first: IntArray) -> Operator:
        """The same law on bins of neighbouring cells.

        Args:
            first: The first cell of each bin, increasing from 0; a bin lies within one part.

        Returns:
            An operator whose cells are the bins.

        Raises:
            ValueError: If a bin spans two parts.
        """
        begins = np.cumsum([0, *self.sizes])
        if not np.isin(begins[:-1], first).all():
            raise ArgumentError("a bin of cells must not span two parts of a mixture", argument="first")
        if self.places.shape[1] > len(first):  # explicit rows: a step at every cell
            return Operator.rows(np.add.reduceat(self.dense(), first, axis=1))
        part_of = np.searchsorted(begins, first, side="right") - 1
        sizes = tuple(np.bincount(part_of, minlength=len(self.sizes)).tolist())
        # Slots of the bins, and for every slot its bin and what part of the bin lies from it on.
        slot_of = np.arange(len(first)) + _SPARE * part_of
        background, extra = np.zeros((2, len(first) + _SPARE * len(sizes)))
        background[slot_of] = np.add.reduceat(self.background[self.cells], first)
        extra[slot_of] = np.add.reduceat(self.extra[self.cells], first)
        size = np.diff(np.append(first, begins[-1]))
        bin_of = np.repeat(np.arange(len(first)), size)
        cell_extra = self.extra[self.cells]
        before = np.cumsum(cell_extra) - cell_extra
        before -= before[first[bin_of]]
        weight = extra[slot_of][bin_of]
        tail = np.divide(weight - before, weight, out=np.ones_like(weight), where=weight > 0)
        to, share = np.empty(len(self.extra), dtype=np.int32), np.ones(len(self.extra))
        to[self.cells], share[self.cells] = slot_of[bin_of], tail
        share[np.arange(len(self.extra))[self.cells][first]] = 1.0
        ends = np.cumsum([size + _SPARE for size in self.sizes])
        to_ends = np.cumsum([size + _SPARE for size in sizes])
        to[ends - 2], to[ends - 1] = to_ends - 2, to_ends - 1
        here, there = self.places, self.places + 1
        same = to[here] == to[there]  # otherwise the next slot begins the next bin
        one, two = self.steps[..., 0], self.steps[..., 1]
        stay = one * share[here] + np.where(same, two * share[there], 0.0)
        steps = np.stack((stay, one + two - stay), axis=-1)
        return Operator(background, extra, to[here], steps, sizes)

    # -- products ---------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """(inputs, cells)."""
        return len(self.places), sum(self.sizes)

    @cached_property
    def cells(self) -> IntArray | slice:
        """Where the cells are among the slots (a slice is quicker than a list of places)."""
        if len(self.sizes) == 1:
            return slice(0, self.sizes[0])
        firsts = np.cumsum([0, *(size + _SPARE for size in self.sizes[:-1])])
        return np.concatenate(
            [np.arange(size) + first for size, first in zip(self.sizes, firsts, strict=True)]
        )

    def on_slots(self, f: FloatArray) -> FloatArray:
        """A function of the cells on all slots.

        Args:
            f: One number per cell, or several columns of them.

        Returns:
            One number per slot, zero where there is no cell.
        """
        out = np.zeros((len(self.extra), *f.shape[1:]))
        out[self.cells] = f
        return out

    def expect(self, f: FloatArray) -> FloatArray:
        """P f: the expectation of a function of the cell, for every input.

        Args:
            f: One number per cell, or several columns of them.

        Returns:
            One number per input, for each column.
        """
        f = self.on_slots(np.asarray(f, dtype=np.float64))
        if f.ndim > 1:
            tail = np.cumsum((self.extra[:, None] * f)[::-1], axis=0)[::-1]
            return np.asarray(self.differences[1] @ tail + self.background @ f)
        tail = np.append(np.cumsum((self.extra * f)[::-1])[::-1], 0.0)
        out = np.full(len(self.places), np.cumsum(self.background * f)[-1])
        for place, step in zip(self.places.T, self.steps.transpose(1, 2, 0), strict=True):
            out += step[0] * tail[place] + step[1] * tail[place + 1]
        return out

    def mix(self, w: FloatArray) -> FloatArray:
        """Pᵀ w: the probability of every cell when inputs have weights w.

        Args:
            w: One weight per input, or several columns of them.

        Returns:
            One number per cell, for each column.
        """
        w = np.ascontiguousarray(w, dtype=np.float64)
        if w.ndim > 1:
            cover = np.cumsum(self.differences[0] @ w, axis=0)
            cover *= self.extra[:, None]
            cover += np.multiply.outer(self.background, w.sum(axis=0))
            return np.asarray(cover[self.cells])
        place, slots = self.places.reshape(-1), len(self.extra)
        here, there = (
            np.bincount(place, (self.steps[..., k] * w[:, None]).reshape(-1), slots) for k in (0, 1)
        )
        here[1:] += there[:-1]
        total = np.cumsum(np.append(0.0, w))[-1]
        return np.asarray((self.background * total + self.extra * np.cumsum(here))[self.cells])

    @cached_property
    def differences(self) -> tuple[csr_array, csr_array]:
        """D and Dᵀ as sparse matrices by rows, for products with many columns and many repetitions."""
        from scipy.sparse import csc_array

        inputs, each = self.places.shape
        slots = np.stack((self.places, self.places + 1), axis=-1).reshape(-1)
        starts = np.arange(inputs + 1, dtype=np.int32) * (2 * each)
        d = csc_array((self.steps.reshape(-1), slots, starts), shape=(len(self.extra), inputs))
        return d.tocsr(), d.T.tocsr()

    def dense(self) -> FloatArray:
        """The whole matrix, for small problems and for tests.

        Returns:
            Probabilities, inputs by cells.
        """
        inputs, slots = len(self.places), len(self.extra)
        rise = np.zeros((inputs, slots + 1))
        each = np.arange(inputs)[:, None]
        for k in (0, 1):
            np.add.at(rise, (each, self.places + k), self.steps[..., k])
        matrix = self.background + self.extra * np.cumsum(rise[:, :-1], axis=1)
        return np.asarray(matrix[:, self.cells])
