"""The picture of a curve: δ against the central ε."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.errors import MissingExtra

if TYPE_CHECKING:
    from sottovoce.shuffling.privacy_curve import Curve

_FROM, _TO, _POINTS = 1e-2, 1e-12, 25


def draw_curve(curve: Curve, axes: Any, style: dict[str, Any]) -> Any:
    """The upper bound as a line, the lower one dashed.

    Args:
        curve: What to draw.
        axes: Where; a new picture if None.
        style: For matplotlib.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra("a picture", "analysis") from None
    if axes is None:
        _, axes = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
    epsilons = np.linspace(curve.epsilon(_FROM), curve.epsilon(_TO), _POINTS)
    (line,) = axes.semilogy(epsilons, [curve.delta(float(e)) for e in epsilons], **style)
    axes.semilogy(
        epsilons, [curve.below(float(e)) or np.nan for e in epsilons], linestyle="--", color=line.get_color()
    )
    axes.set(
        xlabel="central ε", ylabel="δ", title=f"{curve.people:,} people, {curve.local:.3g} each on its own"
    )
    axes.spines[["top", "right"]].set_visible(False)
    return axes
