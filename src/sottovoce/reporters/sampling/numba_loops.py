"""The sampling loops compiled by numba. Importing this module imports numba; nothing is kept on disk.

Arithmetic, which vectorises, takes turns with look-ups, which do not: over a block of values that stays in
the first cache, a loop for each. Every choice is a selection and every search takes a fixed number of steps,
so that the time tells nothing about a value or a draw. What drew a cell is wiped from a block at the end.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sottovoce.reporters.sampling.tables import TWO_52, TWO_52_BITS

_BLOCK = 512  # values that loops take turns with

compiled = njit(nogil=True, error_model="numpy")  # numpy's: otherwise each division tests for zero
_inlined = njit(error_model="numpy", inline="always")


@compiled
def _draw(word, shift):
    """The top bits of a word as a double."""
    return np.uint64((word >> shift) | TWO_52_BITS).view(np.float64) - TWO_52


@compiled
def _on_line(line, t, word):
    """The cell of one run of equal cells: on a circle brought back around, on an interval never beyond."""
    start = line.start + np.floor((t - line.knot) * line.rise)
    start = start if start > 0.0 else 0.0
    start = start if start < line.top else line.top
    draw = _draw(word, line.shift)
    in_window = draw >= line.background
    number = draw - line.background + start if in_window else draw
    place = number / (line.more_weight if in_window else line.back_weight)
    place = place - line.cells if place >= line.cells else place
    place = place - line.cells if place >= line.cells else place
    return np.int32(place)


@compiled
def uniform(words, x, out, units, line):
    """One run of equal cells and one rise. Returns how many values are outside."""
    outside = 0
    for i in range(x.size):
        outside += 0 if (x[i] >= units.low) & (x[i] <= units.high) else 1
        out[i] = _on_line(line, (x[i] - units.low) * units.per_width, words[i])
    return outside


@compiled
def coin(words, x, out, units, line, other, toss):
    """`uniform` for two parts under a public coin in other bits of a word."""
    outside = 0
    for i in range(x.size):
        outside += 0 if (x[i] >= units.low) & (x[i] <= units.high) else 1
        second = ((words[i] >> toss.shift) & toss.mask) >= toss.first
        chosen = other if second else line
        cell = _on_line(chosen, (x[i] - units.low) * units.per_width, words[i])
        out[i] = cell + (toss.offset if second else np.int32(0))
    return outside


@_inlined
def _to_unit(x, units, t):
    """Values to the unit coordinate, 0 where they are outside; returns how many are."""
    low, high, per_width = units
    outside = 0
    for i in range(x.size):
        inside = (x[i] >= low) & (x[i] <= high)
        outside += 0 if inside else 1
        t[i] = (x[i] - low) * per_width if inside else 0.0
    return outside


@_inlined
def _find(table, number, entry):
    """The entry of a table that covers each number."""
    guide, left, origin, shift, base = table.guide, table.left, table.origin, table.shift, table.base
    for i in range(number.size):
        entry[i] = guide[(np.float64(number[i] + origin).view(np.uint64) >> shift) - base]
    for _ in range(table.steps):
        for i in range(number.size):
            entry[i] += np.uint64(number[i] >= left[entry[i] + np.uint64(1)])


@_inlined
def _starts(tables, t, entry, start):
    """Where the window of each unit coordinate begins on the line of its knot, before it is clamped."""
    knot, first, rise = tables.knot, tables.start, tables.rise
    for i in range(t.size):
        k = entry[i]
        start[i] = first[k] + np.floor((t[i] - knot[k]) * rise[k])


@_inlined
def _draws(tables, words, start, number):
    """The number of each word: a draw of the background, or a place in the window and what lies before it."""
    top, background, around = tables.top, tables.background, tables.around
    end, wraps, shift = background + around, tables.wraps, tables.shift
    for i in range(words.size):
        s = start[i] if start[i] > 0.0 else 0.0
        s = s if s < top else top
        s = s - around if wraps & (s >= around) else s
        draw = _draw(words[i], shift)
        place = draw + s if draw >= background else draw
        number[i] = place - around if wraps & (place >= end) else place


@_inlined
def _cells(tables, number, entry, out):
    """The cell that holds each number, in a run of equal ones."""
    left, weight, first_cell = tables.runs.left, tables.weight, tables.first_cell
    if tables.single:
        for i in range(out.size):
            out[i] = first_cell[entry[i]]
    else:
        for i in range(out.size):
            k = entry[i]
            out[i] = first_cell[k] + np.int32((number[i] - left[k]) / weight[k])


@compiled
def general(words, x, out, units, tables):
    """Any runs and any start table. Returns how many values are outside."""
    numbers, starts, entries = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK, np.uint64)
    outside = 0
    for begin in range(0, x.size, _BLOCK):
        part = slice(begin, min(begin + _BLOCK, x.size))
        size = part.stop - begin
        number, start, entry = numbers[:size], starts[:size], entries[:size]
        outside += _to_unit(x[part], units, number)
        _find(tables.knots, number, entry)
        _starts(tables, number, entry, start)
        _draws(tables, words[part], start, number)
        _find(tables.runs, number, entry)
        _cells(tables, number, entry, out[part])
    numbers[:], starts[:], entries[:] = 0.0, 0.0, 0
    return outside


@_inlined
def _count(table, row, number, place):
    """How many entries of its row are not above each number."""
    guide, entries, scale = table.guide, table.entries, table.scale
    buckets, width = np.uint64(table.buckets), np.uint64(table.width)
    for i in range(number.size):
        place[i] = guide[row[i] * buckets + np.uint64(np.int64(number[i] * scale))]
    for k in range(table.steps):
        bit = np.uint64(table.steps - 1 - k)
        before = (np.uint64(1) << bit) - np.uint64(1)
        for i in range(number.size):  # shifted: multiplied, a truth value is a branch on some processors
            place[i] += np.uint64(entries[place[i] + before] <= number[i]) << bit
    for i in range(number.size):
        place[i] -= row[i] * width


@compiled
def rows(words, t, out, tables):
    """The row of each unit coordinate, and the cell of its draw there."""
    only = np.zeros(_BLOCK, np.uint64)
    draws, nearest, places = np.empty(_BLOCK), np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint64)
    for begin in range(0, t.size, _BLOCK):
        part = slice(begin, min(begin + _BLOCK, t.size))
        size = part.stop - begin
        draw, row, place, word, cell = draws[:size], nearest[:size], places[:size], words[part], out[part]
        for i in range(size):
            draw[i] = _draw(word[i], tables.shift)
        _count(tables.borders, only, t[part], row)
        _count(tables.sums, row, draw, place)
        for i in range(size):
            cell[i] = place[i]
    draws[:], nearest[:], places[:] = 0.0, 0, 0


@_inlined
def _choose(words, sets, place, entry):
    """The cell of each word that falls beside the sets; otherwise the entry of a set, and −1 for the cell."""
    shift, first, rest, one_more, background, extra = sets[:6]
    heavier = background + 1.0
    for i in range(words.size):
        draw = _draw(words[i], shift)
        before, weight = (0.0, heavier) if draw < first else (one_more, background)
        before, weight = (rest, extra) if draw >= rest else (before, weight)
        number = draw - before
        quotient = np.floor(number / weight)
        quotient = quotient - 1.0 if quotient * weight > number else quotient
        entry[i] = np.int32(quotient if draw >= rest else 0.0)
        place[i] = -1.0 if draw >= rest else quotient


@_inlined
def _look_up(sets, entry, row, column, base):
    """The element and the first cell of each entry."""
    rows, columns, bases = sets.row, sets.column, sets.base
    for i in range(entry.size):
        k = np.uint32(entry[i])
        row[i], column[i], base[i] = rows[k], columns[k], bases[k]


@_inlined
def _move(element, sets, place, row, column, base, out):
    """The cell of each entry moved by an element; returns how many elements are outside the group."""
    rows, columns, outside = float(sets.rows), float(sets.columns), 0
    per_row = 1.0 / columns
    for i in range(element.size):
        x = float(element[i])
        outside += 0 if (x >= 0.0) & (x < rows * columns) else 1
        down = np.floor((x + 0.5) * per_row)
        r, c = down + row[i], x - down * columns + column[i]
        r -= rows if r >= rows else 0.0
        c -= columns if c >= columns else 0.0
        cell = base[i] + r * columns + c
        out[i] = np.int32(cell if place[i] < 0.0 else place[i])
    return outside


@compiled
def translates(words, element, out, sets):
    """Translates of base sets. Returns how many elements are outside the group."""
    entries, block, outside = np.empty(_BLOCK, np.int32), np.empty((4, _BLOCK)), 0
    for begin in range(0, element.size, _BLOCK):
        part = slice(begin, min(begin + _BLOCK, element.size))
        size = part.stop - begin
        entry, place, row = entries[:size], block[0, :size], block[1, :size]
        column, base = block[2, :size], block[3, :size]
        _choose(words[part], sets, place, entry)
        _look_up(sets, entry, row, column, base)
        outside += _move(element[part], sets, place, row, column, base, out[part])
    block[:], entries[:] = 0.0, 0
    return outside
