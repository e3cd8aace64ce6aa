"""What hides the reports of anybody: the blanket of each part (`reporters/law/blanket.py`), put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.reporters.formats import law_of
from sottovoce.reporters.law.blanket import Opposed, envelope
from sottovoce.shuffling.input_pair import Contrast, merge_kinds, mixture, sampled_parts


def blanket(law: Any, *, removal: bool = False) -> Contrast:
    """The contrast that is above that of any two inputs, against the blanket.

    Args:
        law: What reports. Of a survey, the row of all answers that a person sends.
        removal: Compare an input with a draw from the blanket; of a survey, in every question that is drawn.

    Returns:
        A contrast whose sum over n people bounds that of every pair of inputs and every truth of the others.
    """
    parts = law.composition
    if not (parts and parts.names):
        above = _contrast(law.blanket())
        return above.removal if removal else above
    each = [blanket(law_of(one), removal=removal) for one in parts.reporters]
    if parts.drawn > 1:
        return sampled_parts(each, parts.drawn, outward=True)
    return merge_kinds(mixture(each, parts.shares), outward=True)


def common(covers: Sequence[Contrast]) -> Contrast:
    """The contrast of two inputs that is above several, each against its own blanket.

    Args:
        covers: Contrasts of two inputs.
    """

    def loss(t: float) -> float:
        return max(float(each.mass @ np.maximum(each.first - t, 0.0)) for each in covers)

    ratios = np.concatenate([each.first for each in covers])
    return _contrast(envelope(min(each.total for each in covers), ratios, loss))


def _contrast(two: Opposed) -> Contrast:
    return merge_kinds(Contrast(*two), outward=True)
