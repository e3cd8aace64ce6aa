"""A law of moving windows in its difference form, for the thousands of products that a reconstruction takes.

    Pᵀw = b·Σw + e ∘ cumsum(D w)          the probability of every cell
    P f = b·f − Dᵀ below(e ∘ f)           an expectation for every input; below_k sums what comes before k

Column i of D holds the edges of input i's window: a rise at its lower end, a fall at its upper end, each
shared between two cells (the end lies inside one). So a product costs four entries per input and one pass
over the cells. Windows that wrap around a circle rise at the first slot and fall at the last; a mixture
stacks its parts. Each part has two slots more than cells, where what falls at the very end lands; so
every column of D adds up to zero.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.kernels import WindowOperator
from sottovoce.core.kernels.tables import FloatArray, IntArray
from sottovoce.core.mixture import MixtureOperator
from sottovoce.core.reporter import Operator
from sottovoce.estimates.model import Averaged

_SPARE = 2


def difference_form(law: Operator | Differences) -> Operator | Differences:
    """The difference form of a law of windows; any other law as it is."""
    inner = law.law if isinstance(law, Averaged) else law
    return Differences(law) if isinstance(inner, WindowOperator | MixtureOperator) else law


class Differences:
    """The difference form of an operator: of windows, of a mixture of them, or averaged over bins."""

    def __init__(self, law: Any) -> None:
        inner: Any = law.law if isinstance(law, Averaged) else law
        inside = law.inside if isinstance(law, Averaged) else 1
        mixed = isinstance(inner, MixtureOperator)
        parts, shares = (inner.parts, inner.shares) if mixed else ((inner,), np.ones(1))
        sizes = [part.shape[1] for part in parts]
        firsts = np.concatenate(([0], np.cumsum([size + _SPARE for size in sizes])[:-1]))
        spare = np.zeros(_SPARE)
        self.shape: tuple[int, int] = law.shape
        pieces = list(zip(parts, shares, strict=True))
        self.background = np.concatenate(
            [np.append(share * part.background, spare) for part, share in pieces]
        )
        self.extra = np.concatenate([np.append(share * part.extra, spare) for part, share in pieces])
        #: Where the cells of the operator are among the slots (a slice is quicker than a list of places).
        self.cells: IntArray | slice = slice(0, sizes[0])
        if mixed:
            places = [np.arange(size) + first for size, first in zip(sizes, firsts, strict=True)]
            self.cells = np.concatenate(places)
        edges = [_edges(part) for part in parts]
        slots = np.hstack([slot + first for (slot, _), first in zip(edges, firsts, strict=True)])
        entries = np.hstack([entry for _, entry in edges])
        #: D by columns: input i has entries[i] in slots[i].
        self.slots: NDArray[np.int32] = np.ascontiguousarray(slots.reshape(self.shape[0], -1), dtype=np.int32)
        self.entries: FloatArray = np.ascontiguousarray(entries.reshape(self.shape[0], -1)) / inside

    @cached_property
    def matrices(self) -> tuple[Any, Any]:
        """D and −Dᵀ, both by rows."""
        from scipy.sparse import csc_array

        inputs, each = self.slots.shape
        starts = np.arange(inputs + 1, dtype=np.int32) * each
        content = (self.entries.reshape(-1), self.slots.reshape(-1), starts)
        d = csc_array(content, shape=(len(self.background), inputs))
        return d.tocsr(), (-d.T).tocsr()

    def mix(self, w: FloatArray) -> FloatArray:
        """Pᵀw; w may have columns."""
        cover = np.cumsum(self.matrices[0] @ w, axis=0)
        each = (slice(None),) + (None,) * (w.ndim - 1)
        q = self.background[each] * w.sum(axis=0) + self.extra[each] * cover
        return np.asarray(q[self.cells])

    def expect(self, f: FloatArray) -> FloatArray:
        """P f."""
        f = self.on_slots(f)
        below = np.zeros(len(f))
        np.cumsum((self.extra * f)[:-1], out=below[1:])
        return np.asarray(self.background @ f + self.matrices[1] @ below)

    @cached_property
    def spare(self) -> FloatArray:
        """1 on the slots that are no cells."""
        return 1.0 - self.on_slots(np.ones(self.shape[1]))

    def on_slots(self, f: FloatArray) -> FloatArray:
        """A function of the cells, zero on the spare slots."""
        out = np.zeros(len(self.background))
        out[self.cells] = f
        return out


def _edges(part: WindowOperator) -> tuple[IntArray, FloatArray]:
    """Slots and entries of D for every input of one window operator."""
    inputs, cells = part.shape
    slots = [part.lower, part.lower + 1, part.upper, part.upper + 1]
    entries = [1 - part.lower_part, part.lower_part, part.upper_part - 1, -part.upper_part]
    if part.wrapped.any():
        zero = np.zeros(inputs, dtype=np.int64)
        slots += [zero, zero + cells]
        entries += [part.wrapped, -part.wrapped]
    return np.stack(slots, axis=1), np.stack(entries, axis=1)
