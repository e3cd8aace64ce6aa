"""One of a list of options: the design with the least total error of all shares."""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce.designs.block_designs import block_size, block_variance, family
from sottovoce.errors import check_epsilon
from sottovoce.reporters.translates import Translates
from sottovoce.values.options import as_options


def choice(epsilon: float, options: Sequence[str | int]) -> Translates:
    """A reporter of one of several options, within a thousandth of the least error that ε allows.

    Every report names a block of options that holds the person's own more often than others. Blocks of one
    option are k-ary response; larger ones are better where ε is small or options are many.

    Args:
        epsilon: The privacy parameter.
        options: 2 to 1,000 different texts, or whole numbers for ratings. Yes and no are two.

    Returns:
        A reporter for `sottovoce.shares`.

    Raises:
        ArgumentError: If options repeat, also by case or spaces, or are too few or too many.

    Example:
        >>> m = choice(1.0, ["car", "bike", "train"])
        >>> m.cells, m.report(["bike"] * 4, rng=1).shape
        (3, (4,))
    """
    check_epsilon(epsilon)
    names = as_options(options)
    blocks, multipliers, _ = family(len(names), block_size(len(names), epsilon))
    return Translates.of(epsilon, names, blocks, multipliers, name="choice")


def least_total_variance(epsilon: float, options: int) -> float:
    """n times the least total variance of all shares that any ε-LDP mechanism can have at the even truth.

    A report's column of the law adds to the trace of the Fisher information at most what a block of the best
    size adds, and the variance is at least (k − 1)² over that trace.

    Args:
        epsilon: The privacy parameter.
        options: How many options there are.

    Returns:
        The limit for unbiased estimators.
    """
    return float(block_variance(options, block_size(options, epsilon), epsilon))
