"""Sampling compiled by numba: the formula of `plain`, fused with the change of units and the check.

Importing this module imports numba. Each kernel returns how many values lie outside [low, high] (NaN
included): then its output is to be thrown away. Choices are written as selections, not branches, so that
the loops vectorise and nothing is left for the processor to mispredict.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from sottovoce.core.kernels.tables import TWO_52, TWO_52_BITS

_COMPILE: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}
_CHUNK = 2048


@intrinsic
def _as_double(context, word):
    """The double with these 64 bits."""

    def code(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), code


@njit(**_COMPILE)
def sample_uniform(
    words, x, out, units, shift, background, top, wraps, knot, start, slope, back_weight, more_weight, cells
):
    """One run of equal cells, one slope; on a circle no start to clamp.

    On a circle a cell is found on the line and brought back around.
    """
    low, high, per_width = units
    bad = 0
    for i in range(x.size):
        value = x[i]
        bad += 0 if (value >= low) & (value <= high) else 1
        t = (value - low) * per_width
        s = start + np.floor((t - knot) * slope)
        if not wraps:
            s = s if s > 0.0 else 0.0
            s = s if s < top else top
        draw = _as_double((words[i] >> shift) | TWO_52_BITS) - TWO_52
        inside = draw < background
        number = draw if inside else s - background + draw
        place = number / (back_weight if inside else more_weight)
        if wraps:
            place = place - cells if place >= cells else place
            place = place - cells if place >= cells else place
        out[i] = np.int32(place)
    return bad


@njit(inline="always")
def _segment(guide, next_knot, bucket, t):
    """The segment of the start table that holds t."""
    found = np.uint64(guide[np.uint64(np.uint32(bucket))])
    k = found >> np.uint64(1)
    if found & np.uint64(1):
        while t >= next_knot[k]:
            k += np.uint64(1)
    return k


@njit(**_COMPILE)
def sample_general(words, x, out, units, shift, background, top, wraps, around, guides, knots, runs, cells):
    """Any runs and any start table.

    `knots` holds (next knot, this knot, start, slope; no slopes in a step table), `runs` (end of run, begin,
    weight, first cell), the background before the extra ones; `cells` is their number where each run is one
    cell, else 0.
    `guides` are the two guide tables (twice the entry, plus one where a scan has to follow), what turns t, a
    background draw and an extra coordinate into a bucket, and where the extra runs' buckets begin. Chunk by
    chunk, arithmetic (which vectorises) takes turns with look-ups (which do not). Indices are unsigned: a
    signed one would be tested for being negative. (Runs are looked up in place: as a function it was slower.)
    """
    low, high, per_width = units
    knot_guide, run_guide, knot_factor, back_factor, more_factor, second = guides
    next_knot, this_knot, start, slope = knots
    end, begin, weight, first = runs
    one = np.uint64(1)
    place, entry = np.empty(_CHUNK), np.empty(_CHUNK, np.int32)
    bad = 0
    for chunk in range(0, x.size, _CHUNK):
        size = min(_CHUNK, x.size - chunk)
        for i in range(size):
            value = x[chunk + i]
            good = (value >= low) & (value <= high)
            bad += 0 if good else 1
            t = (value - low) * per_width
            t = t if good else 0.0
            place[i] = t
            entry[i] = np.int32(t * knot_factor)
        if slope.size:
            for i in range(size):
                t = place[i]
                k = _segment(knot_guide, next_knot, entry[i], t)
                place[i] = start[k] + np.floor((t - this_knot[k]) * slope[k])
        else:
            for i in range(size):
                place[i] = start[_segment(knot_guide, next_knot, entry[i], place[i])]
        for i in range(size):
            s = place[i]
            s = s if s > 0.0 else 0.0
            s = s if s < top else top
            draw = _as_double((words[chunk + i] >> shift) | TWO_52_BITS) - TWO_52
            if wraps:
                s = s - around if s >= around else s
            u = s - background + draw
            if wraps:
                u = u - around if u >= around else u
            inside = draw < background
            number = draw if inside else u
            place[i] = number
            entry[i] = np.int32(number * (back_factor if inside else more_factor)) + (0 if inside else second)
        for i in range(size):
            guide = np.uint64(run_guide[np.uint64(np.uint32(entry[i]))])
            run = guide >> one
            if guide & one:
                number = place[i]
                while number >= end[run]:
                    run += one
            if cells:
                cell = np.int32(run)
                out[chunk + i] = cell if cell < cells else cell - cells
            else:
                number = place[i]
                out[chunk + i] = np.int32(first[run] + np.floor((number - begin[run]) / weight[run]))
    return bad
