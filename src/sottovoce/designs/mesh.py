"""Where narrow windows need points: every one near an end of the domain, few nodes inside.

Near the ends of the domain an optimal background has atoms and gaps, in the middle it is smooth. So a
function on the mesh has a value of its own at every point of a layer near either end; farther in it is linear
between nodes that lie farther and farther apart. Functions are symmetric about ½.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.arrays import FloatArray, IntArray

_COARSE = 8  # reports in half a typical window, farther in than the layer
_LAYER = 4  # half windows that the layer has
_BEYOND = 2  # half windows that reports may lie outside the domain
_GROWTH = 1.25
_FARTHEST = 0.03  # between two nodes


@dataclass(frozen=True)
class Mesh:
    """Inputs, reports, and the hats that functions of them are made of.

    Attributes:
        radius: Half a typical window.
        wider: True if reports may lie outside the domain.
        fine: Reports in half a typical window, within the layer.
    """

    radius: float
    wider: bool
    fine: int

    @cached_property
    def layer(self) -> FloatArray:
        """Reports near the lower end, outside and inside of the domain."""
        first = -_BEYOND * self.fine if self.wider else 0
        return np.arange(first, _LAYER * self.fine) * self.radius / self.fine

    @cached_property
    def inner(self) -> FloatArray:
        """Points from there to the middle of the domain."""
        begin = _LAYER * self.radius
        return np.linspace(begin, 0.5, math.ceil((0.5 - begin) * _COARSE / self.radius) + 1)

    @cached_property
    def x(self) -> FloatArray:
        """Inputs of the lower half of the domain: in the layer reports and what lies halfway between."""
        return np.append(np.arange(2 * _LAYER * self.fine) * self.radius / (2 * self.fine), self.inner)

    @cached_property
    def y(self) -> FloatArray:
        """All reports."""
        half = np.append(self.layer, self.inner)
        return np.append(half, 1 - half[-2::-1])

    @cached_property
    def width(self) -> FloatArray:
        """What a report stands for: the space to the next one if it is not an atom of the layer."""
        width = np.full(len(self.y), self.inner[1] - self.inner[0])
        width[: len(self.layer)] = width[len(self.y) - len(self.layer) :] = 0.0
        return width

    @cached_property
    def input_nodes(self) -> IntArray:
        """Twice as many as of reports, so that an error between those does not go unseen."""
        at = self._nodes(2 * _LAYER * self.fine)
        return np.union1d(at, (at[1:] + at[:-1]) // 2)

    @cached_property
    def over_inputs(self) -> FloatArray:
        """Averages over the lower half of the domain, in columns."""
        table = _hats(len(self.x), self.input_nodes)
        table[-1] /= 2  # the middle belongs to both halves
        return np.asarray(table / table.sum(axis=0))

    @cached_property
    def over_reports(self) -> FloatArray:
        """Backgrounds of mass 1, in columns."""
        half = _hats(len(self.layer) + len(self.inner), self._nodes(len(self.layer)))
        table = np.vstack((half, half[-2::-1]))
        return np.asarray(table / table.sum(axis=0))

    @cached_property
    def moments(self) -> NDArray[np.float64]:
        """Sums of (y − ½)^p over the reports before each one: by report, p up to 2, and background."""
        powers = (self.y - 0.5)[:, None, None] ** np.arange(3)[None, :, None]
        sums = np.cumsum(powers * self.over_reports[:, None, :], axis=0)
        return np.concatenate((np.zeros_like(sums[:1]), sums))

    def _nodes(self, layer: int) -> IntArray:
        """Indices of nodes among so many points of the layer and the inner ones."""
        most = max(_FARTHEST / (self.inner[1] - self.inner[0]), 1.0)
        growing = _GROWTH ** np.arange(1.0, 2 + math.log(most) / math.log(_GROWTH))
        last = len(self.inner) - 1
        steps = np.append(np.minimum(growing, most), np.full(math.ceil(last / most), most))
        inner = np.rint(np.cumsum(steps)).astype(np.int64)
        inner = inner[inner <= last - steps / 2]
        return np.concatenate((np.arange(layer + 1), layer + np.unique(inner), [layer + last]))


def _hats(points: int, nodes: IntArray) -> FloatArray:
    """A column per node: 1 there, 0 at the others, linear between."""
    index = np.arange(points)
    return np.stack([np.interp(index, nodes, unit) for unit in np.eye(len(nodes))], axis=1)
