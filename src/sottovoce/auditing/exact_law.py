"""The law of one number against plain sums: counts, operator, moments and their worst cases, density.

Everything that a reporter says about itself is compared with what follows from its counts and its decoded
values in the most direct way.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.auditing.require import require
from sottovoce.reporters.number import Number

_ENTRIES = 1 << 20  # cells × inputs that a rule may look at
_CLOSE = 1e-9


def check_law(m: Number) -> None:
    """Every rule about the law of one number.

    Args:
        m: A reporter of one number.

    Raises:
        ContractError: If a rule is broken.
    """
    x = m.domain.examples(4)
    _mass(m, x)
    _ratio(m)
    _operator(m, x)
    _groups(m)
    _moments(m, x)
    _worst_cases(m)
    _density(m, x)


def _mass(m: Number, x: FloatArray) -> None:
    counts = m.counts(x)
    require(counts.dtype.kind in "iu", "mass", f"counts must be integers, got {counts.dtype}")
    require(
        counts.shape == (x.size, m.cells), "mass", f"counts must be a row per x, got shape {counts.shape}"
    )
    require(counts.min() >= 0, "mass", "counts must not be negative")
    totals = {int(total) for total in counts.sum(axis=1, dtype=object)}
    require(totals == {m.total}, "mass", f"counts must add up to total={m.total}, got {sorted(totals)}")
    p = m.probabilities(x)
    require(np.array_equal(p, counts / m.total), "mass", "probabilities must be counts over total")
    require(np.shape(m.counts(x[0])) == (m.cells,), "mass", "counts of one x must be one row")


def bend_inputs(m: Number, most: int) -> FloatArray:
    """Values where the law may bend or jump, the values just before and after, and an even spread."""
    bends = m.bends(m.bins(m.cells if m.cells <= most else 64))
    if len(bends) > most:
        bends = bends[np.linspace(0, len(bends) - 1, most).astype(int)]
    low, high = m.domain.low, m.domain.high
    near = [bends, np.nextafter(bends, low), np.nextafter(bends, high), m.domain.examples(most)]
    return np.unique(np.clip(np.concatenate(near), low, high))


def _ratio(m: Number) -> None:
    """No two counts of a cell have a larger ratio than `largest_ratio`."""
    x = bend_inputs(m, max(8, min(256, _ENTRIES // (4 * m.cells))))
    counts = m.counts(x)
    most, least = counts.max(axis=0), counts.min(axis=0)
    require(least.min() >= 1, "ratio", "a report that one input can give must be possible for every input")
    for cell in np.argsort(most / least)[-8:]:
        ratio = Fraction(int(most[cell]), int(least[cell]))
        require(
            ratio <= m.largest_ratio,
            "ratio",
            f"cell {cell} has counts of ratio {ratio}, more than largest_ratio={m.largest_ratio}",
        )


def _operator(m: Number, x: FloatArray) -> None:
    p, law = m.probabilities(x), m.operator(x)
    require(law.shape == p.shape, "operator", f"operator must be inputs × cells, got shape {law.shape}")
    f, w = np.cos(np.arange(m.cells)), np.cos(np.arange(x.size))
    require(np.allclose(law.expect(f), p @ f, rtol=0, atol=_CLOSE), "operator", "expect must be P·f")
    require(np.allclose(law.mix(w), w @ p, rtol=0, atol=_CLOSE), "operator", "mix must be Pᵀ·w")
    first = m.bins(17)
    summed = np.add.reduceat(p, first, axis=1)
    binned = law.coarsen(first).mix(w)
    require(np.allclose(binned, w @ summed, rtol=0, atol=_CLOSE), "operator", "coarsen must add up bins")


def _groups(m: Number) -> None:
    """Groups are cells side by side, and their law is linear between bends."""
    first = m.bins(17)
    require(
        first[0] == 0 and (np.diff(first) > 0).all() and first[-1] < m.cells,
        "bins",
        "first cells of bins must increase from 0",
    )
    bends = m.bends(first)
    low, high = m.domain.low, m.domain.high
    inside = bends.min() >= low and bends.max() <= high and (np.diff(bends) >= 0).all()
    require(inside, "bends", "bends must increase and lie in the domain")
    ends = m.domain.to_unit(np.unique(np.concatenate(([low], bends, [high]))))
    wide = np.flatnonzero(np.diff(ends) > 1e-6 + 64 * m.domain.grain)
    if not wide.size:
        return
    chosen = wide[np.linspace(0, len(wide) - 1, min(len(wide), 24)).astype(int)]
    a, b = ends[chosen], ends[chosen + 1]
    parts = [m.domain.from_unit(a + part * (b - a)) for part in (0.25, 0.5, 0.75)]
    quarter, half, three = (m.operator(x).coarsen(first).dense() for x in parts)
    bent = np.abs(quarter + three - 2 * half).max(axis=1)
    slack = _CLOSE + 1e4 * m.domain.grain  # a law may be as steep as that
    require(bent.max() <= slack, "bends", "the law of bins must be linear between their bends")


def _moments(m: Number, x: FloatArray) -> None:
    """Sums over cells in the unit coordinate: squares of a width need not be doubles."""
    y, t, p = m.domain.to_unit(m.decode(np.arange(m.cells))), m.domain.to_unit(x), m.probabilities(x)
    reach, grain = float(np.ptp(y)) + 1, 1e-12 + 4 * m.domain.grain
    gap = np.abs(y - t[:, None])
    around = np.minimum(gap % 1, 1 - gap % 1)
    for distance, d in (("linear", gap), ("circular", around)):
        for loss, k in (("l1", 1.0), ("l2", 2.0), (1.5, 1.5)):
            plain = np.einsum("ij,ij->i", p, d**k)
            right = _same(m, m.error(x, loss, distance), plain, k, grain * reach**k)
            require(right, "error", f"error(x, {loss!r}, {distance!r}) must be E|y − x|^{k:g}")
    own = "circular" if m.domain.is_circle else "linear"
    require(np.array_equal(m.error(x), m.error(x, "l2", own)), "error", "the default is l2, the domain's way")
    mean = p @ y
    right = _same(m, m.bias(x), mean - t, 1, (_CLOSE + grain) * reach)
    require(right, "bias", "bias must be E[y] − x")
    variance = np.einsum("ij,ij->i", p, (y - mean[:, None]) ** 2)
    right = _same(m, m.variance(x), variance, 2, grain * reach**2)
    require(right, "variance", "variance must be that of the decoded report")


def _same(m: Number, value: FloatArray, plain: FloatArray, power: float, slack: float) -> bool:
    """Whether a value in units of the domain is `plain` in units of its width, up to rounding."""
    low, high = (m.domain.stretched(plain + sign * (slack + 1e-8 * np.abs(plain)), power) for sign in (-1, 1))
    return bool(((low <= value) & (value <= high)).all())


def _worst_cases(m: Number) -> None:
    """Nothing exceeds the worst cases, and something comes close."""
    x = bend_inputs(m, max(16, _ENTRIES // m.cells) if m.domain.is_circle else 256)
    worst = [("worst_error", m.worst_error(loss), m.error(x, loss)) for loss in ("l1", "l2")]
    worst.append(("worst_variance", m.worst_variance(), m.variance(x)))
    for name, claim, values in worst:
        largest = float(np.max(values))
        require(largest <= claim * (1 + _CLOSE), name, f"{largest!r} is attained, more than {name}={claim!r}")
        require(largest >= claim * (1 - 1e-3), name, f"at most {largest!r} is attained, {name}={claim!r}")


def _density(m: Number, x: FloatArray) -> None:
    """∫ density = 1: cell by cell where the reporter knows its edges, on a fine grid where it does not."""
    edges, width = m.edges, m.domain.width
    if not 1e-150 < width < 1e150 or m.domain.grain * m.cells > 1e-6:
        return  # a density per unit of the domain is then no good double
    y = m.decode(np.arange(m.cells))
    beyond = np.ptp(y) + width
    outside = m.density(x[0], [y.min() - beyond, y.max() + beyond])
    require(not np.any(outside), "density", "density must be 0 where no report lies")
    if edges is None:
        reach = np.linspace(y.min() - beyond / 16, y.max() + beyond / 16, (1 << 16) + 1)
        step = reach[1] - reach[0]
        values = m.density(x[2], reach[:-1] + step / 2)
        slack = 16 * step * float(values.max())  # a box for every jump
        require(abs(values.sum() * step - 1) <= slack, "density", "density must integrate to 1")
        return
    size = np.diff(edges)
    middle, real = (edges[1:] + edges[:-1]) / 2, size > 0
    for one in x[:2]:
        mass = m.density(one, middle[real]) * size[real]
        rest = m.probabilities(one)[~real].sum()  # cells that share one report
        require(abs(mass.sum() + rest - 1) <= 1e-8, "density", "density must integrate to 1")
