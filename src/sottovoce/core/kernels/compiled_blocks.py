"""Translates of base sets on a finite group, compiled by numba. Importing this module imports numba."""

from __future__ import annotations

import numpy as np

from sottovoce.core.kernels.jit import as_double, compiled
from sottovoce.core.kernels.tables import TWO_52, TWO_52_BITS

_CHUNK = 256  # values that loops take turns with; their length is not known


@compiled
def sample_blocks(words, element, out, blocks):
    """Translates of base sets: one division, whichever of the three kinds a draw is."""
    shift, first, rest, one_more, background, extra, rows, columns, row, column, base, _ = blocks
    for i in range(element.size):
        draw = as_double((words[i] >> np.uint64(shift)) | TWO_52_BITS) - TWO_52
        in_set, more = draw >= rest, draw < first
        number = draw - (rest if in_set else (0.0 if more else one_more))
        size = extra if in_set else (background + 1.0 if more else background)
        place = np.floor(number / size)
        place -= 1.0 if place * size > number else 0.0
        entry = np.int64(place if in_set else 0.0)
        r = element[i] // columns + row[entry]
        r -= rows if r >= rows else 0
        c = element[i] % columns + column[entry]
        c -= columns if c >= columns else 0
        out[i] = base[entry] + r * columns + c if in_set else np.int64(place)


@compiled
def sample_options(words, element, out, blocks):
    """`sample_blocks` on a group of one axis, in loops that vectorise: draws, look-ups, cells.

    Returns whether an element is outside the group.
    """
    shift, first, rest, one_more, background, extra, _, columns, _, _, _, packed = blocks
    place, found = np.empty(_CHUNK, np.int32), np.empty(_CHUNK, np.int32)
    down = 1.0 - 2.0**-51  # quotients are at most one too small, never too large
    of_more, of_rest, of_set = down / (background + 1.0), down / background, down / extra
    wide, outside = np.int32(columns), np.int64(0)
    for chunk in range(0, element.size, _CHUNK):
        size = min(_CHUNK, element.size - chunk)
        for i in range(size):
            draw = as_double((words[chunk + i] >> np.uint64(shift)) | TWO_52_BITS) - TWO_52
            in_set, more = draw >= rest, draw < first
            number = draw - (rest if in_set else (0.0 if more else one_more))
            weight = extra if in_set else (background + 1.0 if more else background)
            quotient = np.floor(number * (of_set if in_set else (of_more if more else of_rest)))
            quotient += 1.0 if number - quotient * weight >= weight else 0.0
            place[i] = np.int32(-1.0 - quotient if in_set else quotient)  # entries are negative
        for i in range(size):
            found[i] = packed[np.uint32(~place[i] & (place[i] >> np.int32(31)))]
        for i in range(size):
            one, x = found[i], np.int32(element[chunk + i])
            outside |= np.int64(element[chunk + i]) | (np.int64(columns - 1) - np.int64(element[chunk + i]))
            around = np.int32((one & np.int32(1023)) - x) < 0
            cell = np.int32((one >> np.int32(10)) + x)
            cell = np.int32(cell - (wide if around else np.int32(0)))
            out[chunk + i] = cell if place[i] < 0 else place[i]
    place[:] = 0
    found[:] = 0
    return outside < 0
