"""An estimate per group from the counts: the same rows on one machine and on Spark."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from sottovoce.arrays import IntArray
from sottovoce.bulk.count import tally
from sottovoce.bulk.group_counter import check_keys
from sottovoce.bulk.grouped_tally import GroupedTally, spread
from sottovoce.bulk.processes import in_processes
from sottovoce.bulk.tables.sources import Progress
from sottovoce.bulk.tables.table_files import Data
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError, whole_number
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.summary import summary
from sottovoce.estimates.tally import Tally
from sottovoce.reporters.contract import Reporter
from sottovoce.reporters.formats import from_json

if TYPE_CHECKING:
    from sottovoce.bulk.tables.csv_dialect import CsvOptions

Estimator = Callable[[Tally], Estimate | Sequence[Estimate]]

#: Columns of the result beside the group keys, with Spark's names for their types.
COLUMNS = {"what": "string", "n": "long", "value": "double", "low": "double", "high": "double"}
#: Those of the numbers of summaries.
ANSWERS = {**dict.fromkeys(("question", "item", "label", "of"), "string"), "n": "long"}
ANSWERS |= dict.fromkeys(("value", "low", "high"), "double")
_TYPES = {"string": pa.string(), "long": pa.int64(), "double": pa.float64()}
_CHUNK = 32  # groups that a process takes at once

Group = tuple[str, IntArray, IntArray]  # which one it is, the cells that occurred, how often
Rows = list[tuple[Any, ...]]
Answered = Callable[[Tally, str], Rows]


def estimates(
    data: Data | GroupedTally,
    column: str,
    by: Sequence[str] | str,
    estimate: Estimator,
    *,
    mechanism: Reporter | None = None,
    processes: int | None = 1,
    progress: Progress | None = None,
    **csv: Unpack[CsvOptions],
) -> pa.Table:
    """Compute an estimate for each group of people.

    Args:
        data: What `tally` takes, or a GroupedTally.
        column: The column that holds the reports.
        by: The columns of group keys.
        estimate: Takes a Tally and returns an Estimate or several, such as `sottovoce.mean`. With `processes`
            above 1 it has to be importable (a function of a module, or a `functools.partial` of one).
        mechanism: What made the reports, where the data does not say so itself.
        processes: How many to use; None for every core, if the first groups show that the rest takes long
            enough for processes to be worth their start. A script that uses them needs the usual
            `if __name__ == "__main__":`.
        progress: Called with the number of groups done.
        **csv: `delimiter`, `decimal` and `encoding` of CSV files, as in `bulk.report`.

    Returns:
        An Arrow table: the columns of `by`, then what, n, value, low, high; a row for each answer.

    Raises:
        ArgumentError: If `by` is not that of a tally by group.
        DataError: If the data cannot be read, or a group has no estimate.
        ArgumentTypeError: If `estimate` returns something else, or cannot be imported by other processes.

    Example:
        >>> import pyarrow as pa, sottovoce as sv
        >>> reports = pa.table({"town": ["a", "b", "b"], "cell": [0, 1, 1]})
        >>> estimates(reports, "cell", "town", sv.mean, mechanism=sv.duchi(1.0)).column("n").to_pylist()
        [1, 2]
    """
    if processes is not None:
        whole_number(processes, "processes", least=1)
    names = (by,) if isinstance(by, str) else tuple(by)
    check_keys(names, COLUMNS)
    if isinstance(data, GroupedTally):
        if given := [name for name, value in {"mechanism": mechanism, **csv}.items() if value is not None]:
            rule = f"{given[0]} does not belong to a GroupedTally, which is counted already"
            raise ArgumentError(rule, code="unknown", argument=given[0])
        groups = data
    else:
        groups = tally(data, column, by=names, mechanism=mechanism, **csv)
    if groups.by != names:
        raise ArgumentError(f"by must be that of the tally, {list(groups.by)}, got by={by!r}", argument="by")
    return _by_group(groups, partial(_rows, estimate), COLUMNS, processes, progress)


def summaries(groups: GroupedTally, *, progress: Progress | None = None, **asked: Any) -> pa.Table:
    """The numbers in the summary of each group of people.

    Args:
        groups: The groups.
        progress: Called with the number of groups done.
        **asked: What `sottovoce.summary` takes beside the tally.

    Returns:
        An Arrow table: the columns of the keys, then those of `ANSWERS`, `item` only of surveys. An answer
        that a group does not give has a row without numbers; a limit that is infinite is left out.
    """
    check_keys(groups.by, ANSWERS)
    table = _by_group(groups, partial(_numbers, asked), ANSWERS, None, progress)
    return table if any(table.column("item").to_pylist()) else table.drop_columns(["item"])


def _by_group(
    groups: GroupedTally,
    answered: Answered,
    kinds: Mapping[str, str],
    processes: int | None,
    progress: Progress | None,
) -> pa.Table:
    """The keys of each group beside the rows that answer it."""
    work = partial(_in_chunk, groups.reporter.to_json(), answered)
    rows: list[Rows] = []
    for answers in in_processes(work, _chunks(groups), processes):
        rows += answers
        if progress is not None:
            progress(len(answers))
    places = pa.array([i for i, answers in enumerate(rows) for _ in answers], pa.int64())
    columns = list(zip(*(row for answers in rows for row in answers), strict=True)) or [()] * len(kinds)
    arrays = [pa.array(values, _TYPES[kind]) for values, kind in zip(columns, kinds.values(), strict=True)]
    return pa.table([*groups.keys_table.take(places).columns, *arrays], names=[*groups.by, *kinds])


@lru_cache(maxsize=16)
def mechanism_from(spec: str) -> Reporter:
    """The mechanism of a spec; a worker reads and audits it once."""
    return from_json(spec)


def _chunks(groups: GroupedTally) -> list[list[Group]]:
    parts = [(f"{i} of {len(groups)}", *groups.pairs(key)) for i, key in enumerate(groups, 1)]
    return [parts[first : first + _CHUNK] for first in range(0, len(parts), _CHUNK)]


def _in_chunk(spec: str, answered: Answered, chunk: Sequence[Group]) -> list[Rows]:
    """The rows of some groups; runs in a process of its own."""
    mechanism = mechanism_from(spec)
    return [answered(spread(mechanism, cells, counts), which) for which, cells, counts in chunk]


def _numbers(asked: Mapping[str, Any], part: Tally, which: str) -> Rows:
    rows = [tuple(row[name] for name in ANSWERS) for row in summary(part, **asked).rows]
    return [tuple(None if x in (math.inf, -math.inf) else x for x in row) for row in rows]


def _rows(estimate: Estimator, part: Tally, which: str) -> Rows:
    refusal = None
    try:
        answer = estimate(part)
    except (ValueError, ArithmeticError) as error:  # the key is text of a file, and may be somebody's name
        refusal = f"no estimate for group {which} in the order of their keys (n={part.n}): {error}"
    if refusal is not None:
        raise DataError(refusal)
    several = answer if isinstance(answer, Sequence) else [answer]
    if not all(hasattr(one, "value") for one in several):
        raise ArgumentTypeError(
            f"estimate must return an Estimate or several, got {type(answer).__name__}", argument="estimate"
        )
    return [
        (one.what, getattr(one, "n", part.n), float(one.value), float(one.low), float(one.high))
        for one in several
    ]
