"""An estimate per group from the counts: the same rows on one machine and on Spark."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from sottovoce.bulk.files import Progress
from sottovoce.bulk.groups import GroupedTally, check_keys
from sottovoce.bulk.labels import AnyMechanism
from sottovoce.bulk.tallies import tally
from sottovoce.core.errors import DataError, whole_number
from sottovoce.core.kernels.tables import IntArray
from sottovoce.core.mixture import from_json
from sottovoce.estimates.tally import Tally

Estimator = Callable[[Tally], Any]
Rows = dict[str, list[Any]]

COLUMNS = {"what": "string", "n": "long", "value": "double", "low": "double", "high": "double"}
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
_CHUNK = 32  # groups that a process takes at once
_WORTH = 20.0  # seconds of work from which processes are worth their start, which takes several


def estimates(
    data: Any,
    column: str,
    by: Sequence[str] | str,
    estimate: Estimator,
    *,
    mechanism: AnyMechanism | None = None,
    processes: int | None = 1,
    progress: Progress | None = None,
) -> Any:
    """An Arrow table with a row per group: the columns of `by`, what, n, value, low, high.

    `data` is what `tally` takes, or a GroupedTally. `estimate` takes a Tally and returns an Estimate or
    several, such as `sottovoce.mean`: a row for each. With `processes` above 1 it has to be importable (a
    function of a module, or a `functools.partial` of one), and a script needs the usual
    `if __name__ == "__main__":`. None: every core, if the first groups show that the rest takes long enough
    for processes to be worth their start. `progress` is called with the number of groups done.
    `column` holds the reports and `by` names the columns of group keys.
    """
    if processes is not None:
        whole_number(processes, "processes", least=1)
    check_keys([by] if isinstance(by, str) else by, COLUMNS)
    groups = data if isinstance(data, GroupedTally) else tally(data, column, by=by, mechanism=mechanism)
    if isinstance(data, GroupedTally) and groups.by != tuple([by] if isinstance(by, str) else by):
        raise DataError(f"the tally is by {list(groups.by)}, not by {by!r}")
    spec, found = groups.mechanism.to_json(), []
    for rows in _computed(groups, spec, estimate, processes):
        found += rows
        if progress is not None:
            progress(len(rows))
    names = list(groups.by)
    keys = groups.keys_table.take(
        pa.array([i for i, rows in enumerate(found) for _ in rows["n"]], pa.int64())
    )
    columns = {name: [value for rows in found for value in rows[name]] for name in COLUMNS}
    kinds = {"string": pa.string(), "long": pa.int64(), "double": pa.float64()}
    arrays = [pa.array(columns[name], kinds[kind]) for name, kind in COLUMNS.items()]
    return pa.table([*(keys.column(name) for name in names), *arrays], names=[*names, *COLUMNS])


def rows_of(part: Tally, estimate: Estimator, key: Mapping[str, Any]) -> Rows:
    """The columns of one group's rows."""
    try:
        found = estimate(part)
    except (ValueError, ArithmeticError) as error:
        group = ", ".join(f"{name}={value!r}" for name, value in key.items())
        raise DataError(f"no estimate for the group {group} (n={part.n}): {error}") from None
    several = found if isinstance(found, list | tuple) else [found]
    if not all(hasattr(one, "value") for one in several):
        raise TypeError(f"estimate must return an Estimate or several, got {type(found).__name__}")
    rows: Rows = {
        "what": [str(getattr(one, "what", "")) for one in several],
        "n": [part.n] * len(several),
    }
    for name in ("value", "low", "high"):
        rows[name] = [float(getattr(one, name)) for one in several]
    return rows


@lru_cache(maxsize=16)
def mechanism_from(spec: str) -> AnyMechanism:
    """A worker reads and audits a spec once."""
    return from_json(spec)


def _computed(
    groups: GroupedTally, spec: str, estimate: Estimator, processes: int | None
) -> Iterator[list[Rows]]:
    """Rows per group in the order of the groups, a chunk of groups at a time."""
    chunks = list(_chunks(groups))
    if processes is None and chunks:
        begin = time.perf_counter()
        yield _work(spec, estimate, chunks.pop(0))
        left = len(chunks) * (time.perf_counter() - begin)
        processes = (os.cpu_count() or 1) if left > _WORTH else 1
    if processes is None or processes == 1 or len(chunks) < 2:
        for chunk in chunks:
            yield _work(spec, estimate, chunk)
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context
    from pickle import PicklingError

    try:
        # Spawned, not forked: Arrow's and numba's threads do not survive a fork.
        with ProcessPoolExecutor(min(processes, len(chunks)), get_context("spawn")) as pool:
            with _one_thread_each():  # submitting starts them
                waiting = [pool.submit(_work, spec, estimate, chunk) for chunk in chunks]
            for done in waiting:
                yield done.result()
    except (PicklingError, AttributeError) as error:
        raise TypeError(
            f"estimate must be importable for processes={processes}: a function of a module, no lambda"
        ) from error
    except BrokenProcessPool:
        raise RuntimeError(
            f"the processes could not start or were killed: a script that asks for processes={processes} "
            'needs `if __name__ == "__main__":`'
        ) from None


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started meanwhile leave linear algebra to one thread, unless the user has said otherwise.

    Its threads wait for each other by spinning: with as many processes as cores they mostly wait.
    """
    asked = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(asked, "1"))
    try:
        yield
    finally:
        for name in asked:
            os.environ.pop(name, None)


Chunk = list[tuple[dict[str, Any], IntArray, IntArray]]


def _chunks(groups: GroupedTally) -> Iterator[Chunk]:
    chunk: Chunk = []
    for key in groups:
        chunk.append((dict(zip(groups.by, key, strict=True)), *groups.pairs(key)))
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _work(spec: str, estimate: Estimator, chunk: Chunk) -> list[Rows]:
    mechanism = mechanism_from(spec)
    found = []
    for key, cells, amounts in chunk:
        counts = np.zeros(mechanism.cells, dtype=np.int64)
        counts[cells] = amounts
        found.append(rows_of(Tally.from_counts(mechanism, counts), estimate, key))
    return found
