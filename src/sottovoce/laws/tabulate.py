"""A law as explicit integer rows: what it becomes when somebody wants to run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sottovoce.core.domains import FloatArray
from sottovoce.core.errors import whole_number
from sottovoce.core.repair import repaired
from sottovoce.core.rows import MAX_ENTRIES, Rows

if TYPE_CHECKING:
    from sottovoce.laws.law import Law


def tabulate(law: Law, inputs: int, cells: int) -> Rows:
    """The rows of a law (see `Law.tabulate`)."""
    n = whole_number(inputs, "inputs", least=2)
    m = whole_number(cells, "cells", least=2)
    if n * m > MAX_ENTRIES:
        raise ValueError(f"inputs times cells must be at most {MAX_ENTRIES}, got {n * m}")
    # On a circle the last input would be the first again.
    t = np.arange(n) / n if law.domain.is_circle else np.linspace(0.0, 1.0, n)
    p, values = _probabilities(law, t, m)
    return Rows(law.epsilon, law.domain, t, repaired(p, law.epsilon), values, law.name)


def _probabilities(law: Law, t: FloatArray, cells: int) -> tuple[FloatArray, FloatArray]:
    """P(cell | input) and the cells' values: equal cells over the range of reports, and the atoms."""
    low, high = law._range()
    edges = np.linspace(low, high, cells + 1)
    # The little mass beyond the range goes to its outermost cells.
    ends = law._cdf(t[:, None], edges[None, :].repeat(t.size, axis=0))
    ends[:, 0], ends[:, -1] = 0.0, 1.0
    p, values = np.diff(ends, axis=1), (edges[1:] + edges[:-1]) / 2
    for where, mass in law._atoms(t):
        if not (mass > 0).any():
            continue
        # (edge, edge] holds an atom; one at the lowest edge was counted in the first cell.
        cell = min(max(int(np.searchsorted(edges, where, side="left")) - 1, 0), cells - 1)
        p[:, cell] -= mass
        p, values = np.column_stack((p, mass)), np.append(values, where)
    order = np.argsort(values, kind="stable")
    p, values = p[:, order], values[order]
    used = p.max(axis=0) > 2.0**-40  # beyond PM's range a hybrid of Duchi alone has nothing
    return np.maximum(p[:, used], 0.0), values[used]
