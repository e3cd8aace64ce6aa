"""The portrait of a certified mechanism: its law, and its error beside the classics and the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.designs.classic import duchi, ogpm, pm, ptt, sw
from sottovoce.designs.solver.certificate import Certificate
from sottovoce.errors import ArgumentError, MissingExtra
from sottovoce.reporters.mechanism import Mechanism

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#c0562b", "#3b7d4f", "#7a4fa0")
_STYLES = ("--", "-.", ":")
_BINS, _INPUTS, _CELLS = 161, 201, 2**12


def classics(certificate: Certificate, like: Mechanism) -> dict[str, Mechanism]:
    """The published mechanisms for the same measure on the same domain, fine enough to draw."""
    epsilon, domain, k = like.epsilon, like.domain, certificate.exponent
    if certificate.unbiased:
        return {
            "Duchi": duchi(epsilon, domain),
            "PM": pm(epsilon, domain, cells=_CELLS),
            "best I-PTT": ptt(epsilon, domain, cells=_CELLS),
        }
    mechanisms = {"OGPM": ogpm(epsilon, domain, loss=k, cells=_CELLS)}
    if not domain.is_circle:
        mechanisms["PM-C"] = pm(epsilon, domain, cells=_CELLS).compressed()
        mechanisms["SW-C"] = sw(epsilon, domain, cells=_CELLS).compressed()
    return mechanisms


def draw_design(m: Mechanism) -> tuple[Axes, Axes]:
    """Draw a design: left the density of reports over inputs, right the error over inputs.

    Args:
        m: A mechanism with a certificate, from `optimal`.

    Returns:
        The axes of both.

    Raises:
        ValueError: If the mechanism has no certificate.
        MissingExtra: If matplotlib is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("a picture", "analysis") from None
    if not isinstance(m.certificate, Certificate):
        sentence = "only a mechanism with a certificate can be drawn: make it with sottovoce.optimal"
        raise ArgumentError(sentence, argument="m")
    _, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    _heat_map(m, left)
    _errors(m, m.certificate, right)
    return left, right


def _heat_map(m: Mechanism, ax: Axes) -> None:
    from matplotlib.colors import LogNorm

    x = np.linspace(m.domain.low, m.domain.high, _INPUTS)
    values = m.decode(np.arange(m.cells))
    bins = _bins(values)
    pad = 0.5 * (values[-1] - values[0] or m.domain.width) / (bins - 1)
    edges = np.linspace(values[0] - pad, values[-1] + pad, bins + 1)
    where = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, bins - 1)
    law = np.stack([np.bincount(where, m.probabilities(at), bins) for at in x]) / (edges[1] - edges[0])
    shown = np.where(law > 0, law, np.nan).T
    norm = LogNorm(np.nanmin(shown), np.nanmax(shown) * 1.001)
    mesh = ax.pcolormesh(x, (edges[1:] + edges[:-1]) / 2, shown, norm=norm, cmap="YlGnBu", shading="nearest")
    mesh.set_rasterized(True)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02)
    bar.set_label("density of reports")
    ax.plot(x, x, color="#444444", linewidth=0.8, linestyle=":")
    ax.set(xlabel="true value x", ylabel="report y", title=f"the mechanism, ε = {m.epsilon:g}")
    ax.set_facecolor("#f3f3f3")


def _bins(values: FloatArray) -> int:
    """One per report if they lie on a grid that can be drawn: other numbers would show stripes."""
    gaps = np.diff(np.unique(values))
    steps = round((values[-1] - values[0]) / gaps.min()) if len(gaps) else 0
    return steps + 1 if 24 <= steps <= 400 else _BINS


def _errors(m: Mechanism, certificate: Certificate, ax: Axes) -> None:
    x = np.linspace(m.domain.low, m.domain.high, 401 if m.cells < _CELLS else 101)

    def error(mechanism: Mechanism) -> FloatArray:
        return mechanism.variance(x) if certificate.unbiased else mechanism.error(x, certificate.exponent)

    ax.plot(x, error(m), color="#1f4e79", linewidth=1.8, label="optimal")
    for (name, other), colour, style in zip(
        classics(certificate, m).items(), _COLOURS, _STYLES, strict=False
    ):
        ax.plot(x, error(other), color=colour, linestyle=style, linewidth=1.2, label=name)
    if certificate.prior is None:
        ax.axhline(certificate.limit, color="#444444", linewidth=0.8, label="limit of the worst case")
    names = {1.0: "E|y − x|", 2.0: "E(y − x)²"}
    what = (
        "variance"
        if certificate.unbiased
        else names.get(certificate.exponent, f"E|y − x|^{certificate.exponent:g}")
    )
    ax.set(xlabel="true value x", ylabel=what, title=f"{certificate.ratio:.4f} × the limit")
    ax.set_ylim(0, 1.1 * max(ax.get_ylim()[1], certificate.limit))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="best", ncols=2)
