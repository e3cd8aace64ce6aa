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
_CHUNK = 64  # values that loops take turns with: few enough to be worked on at once
_CHOICES = 256  # the same of choices, whose loops have a length that is not known
_LINE = 8  # values in a line of the cache
_INDEX = np.uint64(0xFFFFFFFF)  # the bits of 2^52 + index that are the index


@intrinsic
def _as_double(context, word):
    """The double with these 64 bits."""

    def code(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), code


@intrinsic
def _as_word(context, number):
    """The 64 bits of a double. Those of numbers that are not negative are in the order of the numbers."""

    def code(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), code


@intrinsic
def _fetch(context, array, index):
    """Bring the line of the cache that holds this entry, if there is one, into the first cache, for once."""

    def code(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        line = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [line.type, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [line.type], kind)
        builder.call(fetch, [line, number(0), number(0), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), code


@njit(inline="always")
def _on_line(line, t, word, wraps):
    """The cell of one run of equal cells; on a circle it is found on the line and brought back around."""
    shift, background, top, _, knot, start, slope, back_weight, more_weight, cells = line
    s = start + np.floor((t - knot) * slope)
    if not wraps:
        s = s if s > 0.0 else 0.0
        s = s if s < top else top
    draw = _as_double((word >> shift) | TWO_52_BITS) - TWO_52
    inside = draw < background
    number = draw if inside else s - background + draw
    place = number / (back_weight if inside else more_weight)
    if wraps:
        place = place - cells if place >= cells else place
        place = place - cells if place >= cells else place
    return np.int32(place)


@njit(**_COMPILE)
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


@njit(**_COMPILE)
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


@njit(**_COMPILE)
def _whole_chunks(words, x, out, units, knots, drawing, runs):
    """Any runs and any start table, for as many whole chunks as there are.

    Chunk by chunk, arithmetic (which vectorises) takes turns with look-ups (which do not); meanwhile the
    values of the next chunk are fetched. Loops of a known length take a fifth less time than others. Indices
    are unsigned: others would be tested for being negative. All is written here and no array sliced, since
    numba counts who refers to one.
    """
    low, high, per_width = units
    scale, steps, early, line, end, start, knot, slope = knots
    shift, background, finer, twice, clamping, coarse, edges, added = drawing
    clamps, knot_0, slope_0, least, top, around, turn, last = clamping
    first, begin, weight = runs
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
            number[i] = _as_word(t * scale + TWO_52)
        for i in range(0, _CHUNK, _LINE):
            _fetch(x, chunk + _CHUNK + i)
        if steps > 2:
            for i in range(_CHUNK):
                number[i] = early[number[i] & _INDEX]
            for _ in range(2, steps):
                for i in range(_CHUNK):
                    number[i] += np.uint64(bits[i] >= end[number[i]])
        if not slope.size:
            for i in range(_CHUNK):
                k = number[i] & _INDEX
                number[i] = start[k + k + one - np.uint64(bits[i] < end[k])]
        elif not line.size:
            for i in range(_CHUNK):
                k, t = number[i] & _INDEX, place[i]
                k = k + k + one - np.uint64(_as_word(t) < end[k])
                number[i] = start[k] + np.int64(max((t - knot[k]) * slope[k], 0.0))
        elif steps == 1:
            for i in range(_CHUNK):
                k, t = np.uint64(line[number[i] & _INDEX]), place[i]
                k = k + one - np.uint64(_as_word(t) < end[k])
                number[i] = start[k] + np.int64(max((t - knot[k]) * slope[k], 0.0))
        else:
            for i in range(_CHUNK):
                k, t = np.uint64(line[number[i] & _INDEX]), place[i]
                k = k + one + one - np.uint64(bits[i] < end[k]) - np.uint64(bits[i] < end[k + one])
                number[i] = start[k] + np.int64(max((t - knot[k]) * slope[k], 0.0))
        if clamps:
            for i in range(_CHUNK):
                before = max(min((place[i] - knot_0) * slope_0, 0.0), -16.0 * TWO_52)
                s = np.int64(number[i]) + np.int64(np.floor(before))
                s = s if s > least else least
                s = s if s < top else top
                s = s - around if s >= turn else s
                draw = np.int64(words[np.uint64(chunk + i)] >> shift)
                number[i] = s - around if draw + s >= last else s
        for i in range(_CHUNK):
            draw = np.int64(words[np.uint64(chunk + i)] >> shift)
            inside, outside = draw << finer, draw + np.int64(number[i])
            draw = inside if draw < background else outside
            number[i] = (draw << twice) + draw
        if weight.size:
            entry[:] = 0
            for k in range(edges):
                for i in range(_CHUNK):
                    bucket = (number[i] >> coarse) * np.uint64(edges) + np.uint64(k)
                    entry[i] += (number[i] + added[bucket]) >> coarse
            for i in range(_CHUNK):
                k, above = entry[i], np.int64(number[i])
                out[np.uint64(chunk + i)] = first[k] + np.int64(np.float64(above - begin[k]) / weight[k])
        elif edges == 1:
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


@njit(**_COMPILE)
def sample_general(words, x, out, units, knots, drawing, runs):
    """Any runs and any start table. What is left of the last chunk is drawn as a whole one."""
    bad, rest = _whole_chunks(words, x, out, units, knots, drawing, runs), x.size % _CHUNK
    if rest:
        whole = x.size - rest
        word, value, cell = np.empty(_CHUNK, np.uint64), np.empty(_CHUNK), np.empty(_CHUNK, out.dtype)
        for i in range(_CHUNK):
            word[i], value[i] = np.uint64(0), units[0]
        for i in range(rest):
            word[i], value[i] = words[whole + i], x[whole + i]
        bad += _whole_chunks(word, value, cell, units, knots, drawing, runs)
        for i in range(rest):
            out[whole + i] = cell[i]
            word[i], value[i], cell[i] = 0, 0.0, 0
    return bad


@njit(**_COMPILE)
def sample_blocks(words, element, out, blocks):
    """Translates of base sets: one division, whichever of the three kinds a draw is."""
    shift, first, rest, one_more, background, extra, rows, columns, row, column, base, _ = blocks
    for i in range(element.size):
        draw = _as_double((words[i] >> np.uint64(shift)) | TWO_52_BITS) - TWO_52
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


@njit(**_COMPILE)
def sample_options(words, element, out, blocks):
    """`sample_blocks` on a group of one axis, in loops that vectorise: draws, look-ups, cells.

    Returns whether an element is outside the group.
    """
    shift, first, rest, one_more, background, extra, _, columns, _, _, _, packed = blocks
    place, found = np.empty(_CHOICES, np.int32), np.empty(_CHOICES, np.int32)
    down = 1.0 - 2.0**-51  # quotients are at most one too small, never too large
    of_more, of_rest, of_set = down / (background + 1.0), down / background, down / extra
    wide, outside = np.int32(columns), np.int64(0)
    for chunk in range(0, element.size, _CHOICES):
        size = min(_CHOICES, element.size - chunk)
        for i in range(size):
            draw = _as_double((words[chunk + i] >> np.uint64(shift)) | TWO_52_BITS) - TWO_52
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


@njit(**_COMPILE)
def count(cells, lanes):
    """Count cells into a few rows by turns: one that follows itself need not wait.

    Returns how many are none.
    """
    limit, last, none = np.uint64(lanes.shape[1]), np.uint64(lanes.shape[0] - 1), np.int64(0)
    for i in range(cells.size):
        cell = np.uint64(cells[i])  # a negative one becomes a large one
        inside = cell < limit
        lanes[np.uint64(i) & last, cell if inside else np.uint64(0)] += np.int64(inside)
        none += np.int64(not inside)
    return none
