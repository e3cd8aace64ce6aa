"""Kinds of arrays, for whoever reads types. They are plain ones when run: numpy's types take long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    BoolArray = NDArray[np.bool_]
    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]
    Words = NDArray[np.uint64]
else:
    BoolArray = FloatArray = IntArray = Words = np.ndarray
