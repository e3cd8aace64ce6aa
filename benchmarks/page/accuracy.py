"""The error of one report at the same ε: every published mechanism, exactly, and the limit for all of them.

Worst case over the continuous domain, and the mean over even inputs. Published mechanisms are objects of this
library (designs and laws); peers' own samplers are simulated by the worker and stand next to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sottovoce import laws
from sottovoce.designs import classic
from sottovoce.designs.optimal import optimal
from sottovoce.values.circle import Circle
from sottovoce.values.interval import Interval

UNIT, TURN = Interval(0.0, 1.0), Circle(1.0)
LOSSES = ("l1", "l2")
INPUTS = np.linspace(0, 1, 1001)

Build = Callable[[float, str], Any]

#: What is compared on [0, 1], by the name the papers use.
LINE: dict[str, Build] = {
    "Laplace": lambda e, loss: laws.laplace(e, UNIT),
    "Laplace, truncated": lambda e, loss: laws.truncated_laplace(e, UNIT),
    "Laplace, bounded": lambda e, loss: laws.bounded_laplace(e, UNIT),
    "staircase": lambda e, loss: laws.staircase(e, UNIT, "l1"),
    "Duchi": lambda e, loss: classic.duchi(e, UNIT),
    "PM": lambda e, loss: classic.pm(e, UNIT),
    "PM, truncated (T-PM)": lambda e, loss: classic.pm(e, UNIT).truncated(),
    "PM, compressed (PM-C)": lambda e, loss: classic.pm(e, UNIT).compressed(),
    "hybrid": lambda e, loss: laws.hybrid(e, UNIT),
    "SW": lambda e, loss: classic.sw(e, UNIT),
    "SW, compressed (SW-C)": lambda e, loss: classic.sw(e, UNIT).compressed(),
    "I-PTT, best q": lambda e, loss: classic.ptt(e, UNIT),
    "II-PTT, best k": lambda e, loss: laws.ptt2(e, UNIT),
    "OGPM-U": lambda e, loss: classic.ogpm_unbiased(e, UNIT),
    "OGPM": lambda e, loss: classic.ogpm(e, UNIT, loss),
    "**optimal, unbiased**": lambda e, loss: optimal(e, UNIT),
    "**optimal**": lambda e, loss: optimal(e, UNIT, "value", loss=loss),
}
#: On a circle of circumference 1, where OGPM of the loss is the optimum.
ROUND: dict[str, Build] = {
    "von Mises": lambda e, loss: laws.von_mises(e, TURN),
    "Purkayastha": lambda e, loss: laws.purkayastha(e, TURN),
    "**OGPM**": lambda e, loss: optimal(e, TURN, loss=loss),
}


def exact_errors(
    epsilons: tuple[float, ...], say: Callable[[str], None] = lambda text: None
) -> dict[str, Any]:
    """{place: {loss: {"rows": {name: [(worst, mean) per ε]}, "limit": [per ε]}}}."""
    found: dict[str, Any] = {}
    for place, builds, domain in (("line", LINE, UNIT), ("circle", ROUND, TURN)):
        found[place] = {}
        for loss in LOSSES:
            say(f"exact errors, {place}, {loss}")
            rows = {
                name: [_worst_and_mean(build(epsilon, loss), loss) for epsilon in epsilons]
                for name, build in builds.items()
            }
            limit = [
                float(optimal(epsilon, domain, "value", loss=loss).certificate.limit) for epsilon in epsilons
            ]
            found[place][loss] = {"rows": rows, "limit": limit}
    return found


def _worst_and_mean(m: Any, loss: str) -> tuple[float, float]:
    inputs = INPUTS[:-1] if m.domain.is_circle else INPUTS
    return float(m.worst_error(loss)), float(np.mean(m.error(inputs, loss)))
