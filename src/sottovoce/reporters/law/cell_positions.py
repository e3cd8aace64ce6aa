"""Where reports lie: losses, edges and densities on the positions of cells."""

from __future__ import annotations

import numpy as np

from sottovoce.arrays import FloatArray, IntArray


def power_loss(positions: FloatArray, t: FloatArray, k: float, circular: bool) -> FloatArray:
    """|v − t|^k for every input t and every position v, all in the unit coordinate."""
    distance = positions - t[:, None]
    np.abs(distance, out=distance)
    if circular:
        if distance.max(initial=0.0) > 1.0:
            np.mod(distance, 1.0, out=distance)
        np.minimum(distance, 1.0 - distance, out=distance)
    return np.asarray(distance if k == 1 else np.square(distance, out=distance) if k == 2 else distance**k)


def cell_edges(positions: FloatArray, first: float, last: float) -> FloatArray:
    """Boundaries halfway between reports; the outermost cells reach `first` and `last` further."""
    middle = (positions[1:] + positions[:-1]) / 2
    return np.concatenate(([positions[0] - first], middle, [positions[-1] + last]))


def density_on(edges: FloatArray, y: FloatArray, chance: FloatArray, cell: IntArray) -> FloatArray:
    """Probability over width for the cell of each y; 0 beyond the edges, infinite where edges coincide."""
    with np.errstate(divide="ignore", over="ignore"):
        density = chance / (edges[cell + 1] - edges[cell])
    atom = np.searchsorted(edges, y, side="right") - np.searchsorted(edges, y, side="left") > 1
    return np.where((y >= edges[0]) & (y <= edges[-1]), np.where(atom, np.inf, density), 0.0)
