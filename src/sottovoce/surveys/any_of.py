"""Several choices: any of a list of options, none or all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sottovoce.reporters.composites.survey import Survey
from sottovoce.surveys.survey import survey
from sottovoce.values.options import NO_OR_YES, as_options


def any_of(epsilon: float, options: Sequence[str]) -> Survey:
    """Design a survey in which a person may have any of several options.

    Each option is a question with the answers 0 and 1. Everybody answers all of them with a part of ε each,
    or a few by lot with more: whichever has the least total variance, by exact formulas (`considered`).

    Args:
        epsilon: What one person's whole report may cost.
        options: 2 to 256 different texts of at most 64 characters.

    Returns:
        A survey for `sottovoce.shares`.

    Raises:
        ArgumentError: If options repeat, also by case or spaces, or are too few or too many.

    Example:
        >>> m = any_of(1.0, ["car", "bike", "train"])
        >>> m.sampled, m.report({"car": [1, 0], "bike": [1, 1], "train": [0, 0]}).shape
        (1, (2, 1))
    """
    return replace(
        survey(epsilon, {str(name): NO_OR_YES for name in as_options(options).names}), name="any of"
    )
