"""Run entries and keep what they made: PNG, CSV and JSON per entry, one HTML report for all.

An entry is not run again while nothing it depends on has changed: the source of the library and of the
papers, the seed, quick or full, and the data. So an interrupted run goes on where it stopped. Same seed, same
bytes.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

import sottovoce
from papers.data import motionsense
from papers.findings import Finding, Result, Run, Verdict
from papers.html import write_report
from papers.registry import Entry, entries
from sottovoce.errors import ArgumentError

Progress = Callable[[int, int, str], None]


def reproduce(
    output: str | Path,
    run: Run | None = None,
    *,
    only: Sequence[str] = (),
    force: bool = False,
    progress: Progress = lambda done, total, key: None,
) -> list[tuple[Entry, list[Finding]]]:
    """Regenerate the papers' figures and tables into a folder.

    Args:
        output: The folder.
        run: How much is computed, and from which data.
        only: Keep the entries whose key contains one of these texts ("ogpm-figure-8", "ptt").
        force: Run again what is already there.
        progress: Called with the number of entries done, how many there are, and the key of the next.

    Returns:
        Every entry with its findings.

    Raises:
        ArgumentError: If `only` names no entry.
    """
    run, folder = run or Run(), Path(output)
    chosen = [e for e in entries() if not only or any(text in e.key for text in only)]
    if not chosen:
        raise ArgumentError(f"only must name an entry, got only={list(only)!r}", argument="only")
    if run.motionsense is not None:
        motionsense(run.motionsense, run.seed)  # what is wrong with the data is said before minutes of work
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for done, one in enumerate(chosen):
        progress(done, len(chosen), one.key)
        found.append((one, _cached(one, run, folder, force)))
    progress(len(chosen), len(chosen), "")
    write_report(folder, run, found)
    return found


def _cached(one: Entry, run: Run, folder: Path, force: bool) -> list[Finding]:
    record, print_ = folder / f"{one.key}.json", fingerprint(run)
    if not force and record.exists():
        kept = json.loads(record.read_text("utf-8"))
        if kept["fingerprint"] == print_ and all((folder / name).exists() for name in kept["files"]):
            return [Finding(**{**item, "verdict": Verdict(item["verdict"])}) for item in kept["findings"]]
    result = one.make(run)
    kept = {
        "title": one.title,
        "fingerprint": print_,
        "files": list(_write(one, result, folder)),
        "findings": [asdict(finding) for finding in result.findings],
    }
    # Written last and in one step: an interrupted entry leaves no record and is run again.
    waiting = record.with_suffix(".tmp")
    waiting.write_text(json.dumps(kept, indent=1, ensure_ascii=False), "utf-8")
    waiting.replace(record)
    return list(result.findings)


def _write(one: Entry, result: Result, folder: Path) -> Iterable[str]:
    for name, table in result.tables.items():
        path = folder / f"{one.key}{'-' if name else ''}{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(table)
            writer.writerows([_cell(value) for value in row] for row in zip(*table.values(), strict=True))
        yield path.name
    for name, picture in result.pictures.items():
        path = folder / f"{one.key}{'-' if name else ''}{name}.png"
        picture.savefig(path, metadata={"Software": None})
        yield path.name


def _cell(value: object) -> object:
    return f"{value:.10g}" if isinstance(value, float) else value


def fingerprint(run: Run) -> str:
    """Everything the numbers depend on."""
    data = _data_digest(run.motionsense) if run.motionsense else "stand-in"
    return hashlib.sha256(f"{_source()}|{run.quick}|{run.seed}|{data}".encode()).hexdigest()


@lru_cache(maxsize=1)
def _source() -> str:
    digest = hashlib.sha256()
    for root in (Path(sottovoce.__file__).parent, Path(__file__).parent):
        for path in sorted(root.rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _data_digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(folder).glob("*.csv")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
