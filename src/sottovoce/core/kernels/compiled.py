"""Sampling compiled by numba: the formula of `plain`, fused with the change of units and the check.

Importing this module imports numba. Each kernel returns how many values lie outside [low, high] (NaN
included): then its output is to be thrown away. Choices are written as selections, not branches, so that
the loops vectorise and nothing is left for the processor to mispredict.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sottovoce.core.kernels.jit import as_double, as_word, compiled, fetch
from sottovoce.core.kernels.tables import TWO_52, TWO_52_BITS

_CHUNK = 48  # values that loops take turns with: 32 are a tenth faster on some processors, 64 on others
_LINE = 8  # values in a line of the cache
_INDEX = np.uint64(0xFFFFFFFF)  # the bits of 2^52 + index that are the index


@njit(inline="always")
def _on_line(line, t, word, wraps):
    """The cell of one run of equal cells; on a circle it is found on the line and brought back around."""
    shift, background, top, _, knot, start, slope, back_weight, more_weight, cells = line
    s = start + np.floor((t - knot) * slope)
    if not wraps:
        s = s if s > 0.0 else 0.0
        s = s if s < top else top
    draw = as_double((word >> shift) | TWO_52_BITS) - TWO_52
    inside = draw < background
    number = draw if inside else s - background + draw
    place = number / (back_weight if inside else more_weight)
    if wraps:
        place = place - cells if place >= cells else place
        place = place - cells if place >= cells else place
    return np.int32(place)


@compiled
def sample_uniform(words, x, out, units, line):
    """One run of equal cells, one slope; on a circle no start to clamp."""
    low, high, per_width = units
    wraps, bad = line[3], 0
    for i in range(x.size):
        value = x[i]
        bad += 0 if (value >= low) & (value <= high) else 1
        out[i] = _on_line(line, (value - low) * per_width, words[i], wraps)
    return bad


@njit(inline="always")
def _of_coin(line, side, t, word, wraps):
    """The cell of the part that the coin in this word names: every number is a choice, no step is."""
    a, b, second = line, side.line, np.int64((word >> side.shift) & side.mask) >= side.first
    chosen = (
        b.shift if second else a.shift, b.background if second else a.background,
        b.top if second else a.top, wraps, b.knot if second else a.knot,
        b.start if second else a.start, b.slope if second else a.slope,
        b.back_weight if second else a.back_weight, b.more_weight if second else a.more_weight,
        b.cells if second else a.cells,
    )  # fmt: skip
    return _on_line(chosen, t, word, wraps) + (side.offset if second else np.int32(0))


@compiled
def sample_coin(words, x, out, units, line, side):
    """`sample_uniform` for two parts under a public coin."""
    low, high, per_width = units
    bad = 0
    if line.wraps:
        for i in range(x.size):
            value = x[i]
            bad += 0 if (value >= low) & (value <= high) else 1
            out[i] = _of_coin(line, side, (value - low) * per_width, words[i], True)
    else:
        for i in range(x.size):
            value = x[i]
            bad += 0 if (value >= low) & (value <= high) else 1
            out[i] = _of_coin(line, side, (value - low) * per_width, words[i], False)
    return bad


@compiled
def _whole_chunks(
    words, x, out, units,
    scale, steps, early, line, end, start, rising,
    draws, clamping, edges, added, runs, even,
):  # fmt: skip
    """Any runs and any start table, for as many whole chunks as there are.

    What is None is not compiled: all that a loop reads then stays in registers, which saves an eighth. numba
    leaves out what a test for None guards, and nothing for a test that something else passes.

    Chunk by chunk, arithmetic (which vectorises) takes turns with look-ups (which do not); meanwhile values
    and words of the next chunk are fetched. Loops of a known length take a fifth less time than others.
    Indices are unsigned: others would be tested for being negative. All is written here and no array sliced,
    since numba counts who refers to one.
    """
    low, high, per_width = units
    shift, background, finer, twice, coarse = draws
    place, number, entry = np.empty(_CHUNK), np.empty(_CHUNK, np.uint64), np.empty(_CHUNK, np.uint64)
    bits, one, bad, back = place.view(np.uint64), np.uint64(1), 0, 0.0 - low
    for chunk in range(0, x.size - x.size % _CHUNK, _CHUNK):
        for i in range(_CHUNK):
            value = x[np.uint64(chunk + i)]
            good = (value >= low) & (value <= high)
            bad += 0 if good else 1
            t = (value + back) * per_width  # a sum is never −0, whose bits are those of a large number
            t = t if good else 0.0
            place[i] = t
            number[i] = as_word(t * scale + TWO_52)
        for i in range(0, _CHUNK, _LINE):
            fetch(x, chunk + _CHUNK + i)
            fetch(words, chunk + _CHUNK + i)
        if early is not None:
            for i in range(_CHUNK):
                number[i] = early[number[i] & _INDEX]
            for _ in range(2, steps):
                for i in range(_CHUNK):
                    number[i] += np.uint64(bits[i] >= end[number[i]])
        if rising is None:
            for i in range(_CHUNK):
                k = number[i] & _INDEX
                number[i] = start[k + k + one - np.uint64(bits[i] < end[k])]
        elif line is None:
            knot, slope = rising
            for i in range(_CHUNK):
                k, t = number[i] & _INDEX, place[i]
                k = k + k + one - np.uint64(as_word(t) < end[k])
                number[i] = start[k] + np.int64(max((t - knot[k]) * slope[k], 0.0))
        elif steps is None:
            knot, slope = rising
            for i in range(_CHUNK):
                k, t = np.uint64(line[number[i] & _INDEX]), place[i]
                k = k + one - np.uint64(as_word(t) < end[k])
                number[i] = start[k] + np.int64(max((t - knot[k]) * slope[k], 0.0))
        else:
            knot, slope = rising
            for i in range(_CHUNK):
                k, t = np.uint64(line[number[i] & _INDEX]), place[i]
                k = k + one + one - np.uint64(bits[i] < end[k]) - np.uint64(bits[i] < end[k + one])
                number[i] = start[k] + np.int64(max((t - knot[k]) * slope[k], 0.0))
        if clamping is not None:
            knot_0, slope_0, least, top, around, turn, last = clamping
            for i in range(_CHUNK):
                before = max(min((place[i] - knot_0) * slope_0, 0.0), -16.0 * TWO_52)
                s = np.int64(number[i]) + np.int64(np.floor(before))
                s = s if s > least else least
                s = s if s < top else top
                s = s - around if s >= turn else s
                draw = np.int64(words[np.uint64(chunk + i)] >> shift)
                number[i] = s - around if draw + s >= last else s
        if even is not None:
            wider, back_weight, more_weight = even
            for i in range(_CHUNK):
                draw = np.int64(words[np.uint64(chunk + i)] >> shift)
                below, inside, outside = draw < background, draw - wider, draw + np.int64(number[i])
                inside = inside if inside > 0 else np.int64(0)
                among = np.float64(inside if below else outside)
                out[np.uint64(chunk + i)] = np.int32(among / (back_weight if below else more_weight))
        if added is not None:
            for i in range(_CHUNK):
                draw = np.int64(words[np.uint64(chunk + i)] >> shift)
                inside, outside = draw << finer, draw + np.int64(number[i])
                draw = inside if draw < background else outside
                number[i] = (draw << twice) + draw
            if runs is not None:
                first, begin, weight = runs
                entry[:] = 0
                for k in range(edges):
                    for i in range(_CHUNK):
                        bucket = (number[i] >> coarse) * np.uint64(edges) + np.uint64(k)
                        entry[i] += (number[i] + added[bucket]) >> coarse
                for i in range(_CHUNK):
                    k, above = entry[i], np.int64(number[i])
                    out[np.uint64(chunk + i)] = first[k] + np.int64(np.float64(above - begin[k]) / weight[k])
            elif edges is None:
                for i in range(_CHUNK):
                    out[np.uint64(chunk + i)] = (number[i] + added[number[i] >> coarse]) >> coarse
            else:
                for i in range(_CHUNK):
                    k = (number[i] >> coarse) << one
                    both = ((number[i] + added[k]) >> coarse) + ((number[i] + added[k + one]) >> coarse)
                    out[np.uint64(chunk + i)] = both
    for i in range(_CHUNK):
        place[i], number[i], entry[i] = 0.0, 0, 0
    return bad


@compiled
def sample_general(
    words, x, out, units,
    scale, steps, early, line, end, start, rising,
    draws, clamping, edges, added, runs, even,
):  # fmt: skip
    """Any runs and any start table. What is left of the last chunk is drawn as a whole one."""
    bad = _whole_chunks(
        words, x, out, units,
        scale, steps, early, line, end, start, rising,
        draws, clamping, edges, added, runs, even,
    )  # fmt: skip
    rest = x.size % _CHUNK
    if rest:
        whole = x.size - rest
        word, value, cell = np.empty(_CHUNK, np.uint64), np.empty(_CHUNK), np.empty(_CHUNK, out.dtype)
        for i in range(_CHUNK):
            word[i], value[i] = np.uint64(0), units[0]
        for i in range(rest):
            word[i], value[i] = words[whole + i], x[whole + i]
        bad += _whole_chunks(
            word, value, cell, units,
            scale, steps, early, line, end, start, rising,
            draws, clamping, edges, added, runs, even,
        )  # fmt: skip
        for i in range(rest):
            out[whole + i] = cell[i]
            word[i], value[i], cell[i] = 0, 0.0, 0
    return bad
