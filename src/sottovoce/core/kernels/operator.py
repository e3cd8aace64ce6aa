"""The matrix P(cell | input) as an operator: background plus a moving window, by prefix sums.

    (P f)_i = (Σ_j a_j f_j + Σ_j o_ij f_j) / T        one expectation per input
    (Pᵀ w)_j = (a_j Σ_i w_i + Σ_i o_ij w_i) / T       one probability per cell

o_ij is how much of the window of input i lies on cell j. A window covers whole cells between its two
ends, which lie inside one cell each; so both sums need only cumulative sums and two look-ups per input.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.core.kernels.dispatch import compiled_available
from sottovoce.core.kernels.tables import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class WindowOperator:
    """P for the inputs whose windows run from position `lower` to `upper` of the extra coordinate.

    Positions are given as (cell, fraction of the cell below the position); a window that wraps around a
    circle has `wrapped` 1. Weights are probabilities: background and extra divided by the total.
    `lower_part` and `upper_part` are those fractions.
    """

    background: FloatArray
    extra: FloatArray
    lower: IntArray
    lower_part: FloatArray
    upper: IntArray
    upper_part: FloatArray
    wrapped: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(inputs, cells)."""
        return len(self.lower), len(self.background)

    def expect(self, f: FloatArray, *, compiled: bool | None = None) -> FloatArray:
        """P f: the expectation of a function of the cell, for every input.

        `compiled` chooses the kernel; numba's where it is installed unless said.
        """
        f = np.ascontiguousarray(f, dtype=np.float64)
        if compiled_available() if compiled is None else compiled:
            from sottovoce.core.kernels import compiled_operator

            return compiled_operator.expect(*self._arrays(), f)
        gain = self.extra * f
        below = np.concatenate(([0.0], np.cumsum(gain)))
        gain = np.append(gain, 0.0)
        base = np.cumsum(self.background * f)[-1]
        high = below[self.upper] + self.upper_part * gain[self.upper]
        low = below[self.lower] + self.lower_part * gain[self.lower]
        return base + ((high - low) + self.wrapped * below[-1])

    def mix(self, w: FloatArray, *, compiled: bool | None = None) -> FloatArray:
        """Pᵀ w: the probability of every cell when inputs have weights w.

        `compiled` chooses the kernel; numba's where it is installed unless said.
        """
        w = np.ascontiguousarray(w, dtype=np.float64)
        if compiled_available() if compiled is None else compiled:
            from sottovoce.core.kernels import compiled_operator

            return compiled_operator.mix(*self._arrays(), w)
        cells = len(self.background)
        # A step of height w_i at each end of the window, spread over the two cells it touches.
        rise = np.bincount(self.lower, w, cells + 1)
        rise -= np.bincount(self.upper, w, cells + 1)
        part = np.bincount(self.upper, w * self.upper_part, cells + 1)
        part -= np.bincount(self.lower, w * self.lower_part, cells + 1)
        around = np.cumsum(np.append(0.0, w * self.wrapped))[-1]
        cover = np.cumsum(rise)[:-1] + part[:-1]
        total = np.cumsum(np.append(0.0, w))[-1]
        return self.background * total + self.extra * (cover + around)

    def coarsen(self, first: IntArray) -> WindowOperator:
        """The same law on groups of neighbouring cells: group i holds cells first[i] … first[i+1]−1.

        A group is a cell again: weights add up, and a window's end lies at some fraction of the group's
        extra weight. So the products cost O(groups + inputs).
        """
        extra = np.add.reduceat(self.extra, first)
        below = np.concatenate(([0.0], np.cumsum(self.extra)))
        group = np.searchsorted(first, np.arange(len(self.extra)), side="right") - 1

        def within(cell: IntArray, part: FloatArray) -> tuple[IntArray, FloatArray]:
            to = group[cell]
            weight = below[cell] - below[first[to]] + part * self.extra[cell]
            return to, np.divide(weight, extra[to], out=np.zeros_like(weight), where=extra[to] > 0)

        lower, lower_part = within(self.lower, self.lower_part)
        upper, upper_part = within(self.upper, self.upper_part)
        background = np.add.reduceat(self.background, first)
        return WindowOperator(background, extra, lower, lower_part, upper, upper_part, self.wrapped)

    def dense(self) -> FloatArray:
        """The whole matrix, inputs by cells: for small problems and for tests."""
        return np.stack([self.mix(row, compiled=False) for row in np.eye(len(self.lower))])

    def _arrays(
        self,
    ) -> tuple[FloatArray, FloatArray, IntArray, FloatArray, IntArray, FloatArray, FloatArray]:
        return (
            self.background, self.extra, self.lower, self.lower_part,
            self.upper, self.upper_part, self.wrapped,
        )  # fmt: skip
