"""A law as explicit integer rows: what it becomes when somebody wants to run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, whole_number
from sottovoce.exact.rows_that_keep_epsilon import repaired
from sottovoce.reporters.rows import MAX_ENTRIES, Rows

if TYPE_CHECKING:
    from sottovoce.laws.law import Law

_LEAST = 2.0**-40  # cells that no input reaches more often are left out


def tabulate(law: Law, inputs: int, cells: int) -> Rows:
    """Make the rows of a law (see `Law.tabulate`)."""
    n, m = whole_number(inputs, "inputs", least=2), whole_number(cells, "cells", least=2)
    if n * m > MAX_ENTRIES:
        raise ArgumentError(
            f"inputs times cells must be at most {MAX_ENTRIES}, got {n * m}", argument="cells"
        )
    # On a circle the last input would be the first again.
    t = np.arange(n) / n if law.domain.is_circle else np.linspace(0.0, 1.0, n)
    edges = np.linspace(*law._range(), m + 1)
    p, values = _with_atoms(law, t, edges, _cell_masses(law, t, edges))
    order = np.argsort(values, kind="stable")
    order = order[p.max(axis=0)[order] > _LEAST]
    rows = repaired(np.maximum(p[:, order], 0.0), law.epsilon)
    return Rows(law.epsilon, law.domain, t, rows, values[order], law.name)


def _cell_masses(law: Law, t: FloatArray, edges: FloatArray) -> FloatArray:
    """P(cell | input), atoms included; the little mass beyond the range goes to its outermost cells."""
    below = law._cdf(t[:, None], np.broadcast_to(edges, (t.size, edges.size))).copy()
    below[:, 0], below[:, -1] = 0.0, 1.0
    return np.diff(below, axis=1)


def _with_atoms(law: Law, t: FloatArray, edges: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Every atom as a cell of its own, taken out of the equal cell that holds it; and all cells' values."""
    values = (edges[1:] + edges[:-1]) / 2
    for where, mass in law._atoms(t):
        # Cells are (edge, edge]; an atom at the lowest edge was counted in the first one.
        cell = min(max(int(np.searchsorted(edges, where, side="left")) - 1, 0), edges.size - 2)
        p[:, cell] -= mass
        p, values = np.column_stack((p, mass)), np.append(values, where)
    return p, values
