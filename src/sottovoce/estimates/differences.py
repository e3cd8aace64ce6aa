"""A law of moving windows in its difference form, for the thousands of products that a reconstruction takes.

    Pᵀw = b·Σw + e ∘ cumsum(D w)          the probability of every cell
    P f = b·f + Dᵀ suffix_sum(e ∘ f)      an expectation for every input

Column i of D holds the edges of input i's window: a rise at its lower end, a fall at its upper end, each shared
between two cells (the end lies inside one). So a product costs four entries per input and one pass over the
cells. Windows that wrap around a circle rise at the first slot and fall at the last; a mixture stacks its parts.
Each part has two slots more than cells, where what falls at the very end lands.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.kernels import WindowOperator
from sottovoce.kernels.tables import FloatArray, IntArray
from sottovoce.mixture import MixtureOperator

_SPARE = 2


class Differences:
    """The difference form of a (coarsened) operator."""

    def __init__(self, operator: Any) -> None:
        if isinstance(operator, MixtureOperator):
            parts, shares = operator.parts, operator.shares
        else:
            parts, shares = (operator,), np.ones(1)
        background, extra, self._cells, slots, entries = [], [], [], [], []
        offset = 0
        for part, share in zip(parts, shares, strict=True):
            cells = part.shape[1]
            padding = np.zeros(_SPARE)
            background.append(np.concatenate((share * part.background, padding)))
            extra.append(np.concatenate((share * part.extra, padding)))
            slot, entry = _edges(part)
            slots.append(slot + offset)
            entries.append(entry)
            self._cells.append(np.arange(cells) + offset)
            offset += cells + _SPARE
        self.shape: tuple[int, int] = operator.shape
        self.background, self.extra = np.concatenate(background), np.concatenate(extra)
        #: Where the cells of the operator are among the slots.
        self.cells: IntArray = np.concatenate(self._cells)
        #: D by columns: input i has entries[i] in slots[i].
        self.slots = np.ascontiguousarray(np.concatenate(slots, axis=1), dtype=np.int32)
        self.entries: FloatArray = np.ascontiguousarray(np.concatenate(entries, axis=1))

    @cached_property
    def _rising(self) -> Any:
        from scipy.sparse import csc_array

        inputs, each = self.slots.shape
        starts = np.arange(inputs + 1, dtype=np.int32) * each
        columns = csc_array(
            (self.entries.reshape(-1), self.slots.reshape(-1), starts), shape=(len(self.background), inputs)
        )
        return columns.tocsr(), columns.T.tocsr()

    def mix(self, w: FloatArray) -> FloatArray:
        """Pᵀw; w may have columns."""
        return np.asarray(self.slot_mix(w)[self.cells])

    def expect(self, f: FloatArray) -> FloatArray:
        """P f."""
        on_slots = np.zeros(len(self.extra))
        on_slots[self.cells] = f
        return self.slot_expect(on_slots)

    def slot_mix(self, w: FloatArray) -> FloatArray:
        """`mix` on slots: the spare ones get nothing."""
        cover = np.cumsum(self._rising[0] @ w, axis=0)
        if w.ndim == 1:
            return np.asarray(self.background * w.sum() + self.extra * cover)
        return np.asarray(self.background[:, None] * w.sum(axis=0) + self.extra[:, None] * cover)

    def slot_expect(self, f: FloatArray) -> FloatArray:
        """`expect` of a function on slots."""
        return np.asarray(self.background @ f + self._rising[1] @ np.cumsum((self.extra * f)[::-1])[::-1])


def _edges(part: WindowOperator) -> tuple[IntArray, FloatArray]:
    """Slots and entries of D for every input of one window operator."""
    inputs, cells = part.shape
    zero = np.zeros(inputs, dtype=np.int64)
    slots = [part.lower, part.lower + 1, part.upper, part.upper + 1]
    entries = [1 - part.lower_part, part.lower_part, part.upper_part - 1, -part.upper_part]
    if part.wrapped.any():
        slots += [zero, zero + cells]
        entries += [part.wrapped, -part.wrapped]
    return np.stack(slots, axis=1), np.stack(entries, axis=1)
