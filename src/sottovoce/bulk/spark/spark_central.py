"""The central mean on Spark: integer sums on the cluster, noise once, on the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sottovoce.bulk.spark.spark_session import check_columns, check_values, noting_refusals, run_action
from sottovoce.central import mean
from sottovoce.central.grid import STEPS, Grid
from sottovoce.central.group_keys import Keys
from sottovoce.central.totals import EVERYBODY, Totals, gather
from sottovoce.errors import ArgumentError
from sottovoce.randomness.word_source import Seeded
from sottovoce.values.interval import DomainLike
from sottovoce.values.missing_and_outside import Missing, Outside

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sottovoce.central import Accountant, GroupedRelease, Release

_SUMS = ("people", "positions")


def central_mean(
    df: DataFrame,
    column: str,
    domain: DomainLike,
    epsilon: float,
    *,
    by: str | None = None,
    groups: Sequence[object] | None = None,
    mechanism: str = "hourglass",
    missing: Missing = "refuse",
    outside: Outside = "refuse",
    clip: bool = False,
    grid: int = STEPS,
    confidence: float = 0.95,
    accountant: Accountant | None = None,
    rng: Seeded = None,
) -> Release | GroupedRelease:
    """Compute `sottovoce.central.mean` of a column, also by group.

    Args:
        df: The data.
        column: The column of values.
        domain: Where values lie, (low, high), public.
        epsilon: The privacy parameter.
        by: The column of group keys.
        groups: The keys that are declared; others are ignored.
        mechanism: As in `central.mean`, and so are the arguments that follow.
        missing: What becomes of missing values.
        outside: What becomes of values outside the domain.
        clip: Short for `outside="clip"`.
        grid: How many steps the domain is divided into.
        confidence: How often the interval should hold.
        accountant: What is charged before any noise is drawn.
        rng: For simulations only.

    Returns:
        The mean with its interval, or one for each declared key.

    Raises:
        ArgumentError: If only one of `by` and `groups` is given.
        DataError: If the column is missing, or values are refused.

    Example:
        >>> central_mean(people, "wait", (0, 60), epsilon=1.0)  # doctest: +SKIP
    """
    from pyspark.sql import functions

    lattice = Grid.of(domain, grid, missing=missing, outside=outside, clip=clip)
    if (by is None) != (groups is None):
        raise ArgumentError(
            "by and groups go together: which rows belong where, and which keys are public", argument="groups"
        )
    keys = EVERYBODY if groups is None else Keys(groups)
    wanted = [column] if by is None else [column, by]
    check_columns(df, wanted)
    check_values(df, column, lattice.domain)

    def sums(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            part = gather(pa.Table.from_batches([batch]), lattice, column, by, groups)
            code = np.flatnonzero(part.people)
            if code.size:
                arrays = [getattr(part, name)[code].astype(np.int64) for name in _SUMS]
                yield pa.RecordBatch.from_arrays([code, *arrays], names=["code", *_SUMS])

    parts = df.select(*wanted).mapInArrow(noting_refusals(sums), "code long, people long, positions long")
    # decimal: a sum of positions may pass 64 bits
    exact = [functions.sum(functions.col(name).cast("decimal(38,0)")).alias(name) for name in _SUMS]
    rows = run_action(lambda: parts.groupBy("code").agg(*exact).collect())
    people, positions = (np.zeros(len(keys), dtype=object) for _ in _SUMS)
    for row in rows:
        people[row["code"]], positions[row["code"]] = int(row["people"]), int(row["positions"])
    return mean(
        Totals(people, positions, keys),
        epsilon,
        domain,
        mechanism,
        column=column,
        missing=missing,
        outside=outside,
        clip=clip,
        grid=grid,
        confidence=confidence,
        accountant=accountant,
        rng=rng,
    )
