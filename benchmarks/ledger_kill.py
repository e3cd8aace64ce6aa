"""Kill −9 a device while it spends and sends, again and again, and look for a report that should not be.

    python benchmarks/ledger_kill.py --kills 1000 --output benchmarks/results/ledger_kill.json
    python benchmarks/ledger_kill.py --kills 40 --mutant hasty          # must find problems

The device reports to five campaigns in turn (fresh draws, bins, bins randomised again, a survey, a position),
writes each report to a file that stands for the wire, and acknowledges. A third of the kills come from
outside at a random moment, a third from outside around a send, a third at a random line of the ledger's code,
so that the gaps of microseconds are hit as well. The device is then started again on the same ledger; it
resends what is pending, or asks again with another value. After every kill a copy of the folder shows what
the kill interrupted; after every `--per-ledger` kills, and a last start in peace, the whole ledger is held
against the whole wire:

* every report on the wire is in the ledger with the same key and cell: none left before it was recorded;
* no period has two keys or two cells on the wire: none was drawn twice;
* what was spent is what the recorded reports cost, and within the budget: none was charged twice;
* what one kill left recorded is still there after the next: none was undone.

`--mutant hasty` sends before the commit, `--mutant forgetful` draws again for a period that it does not know
to have been sent: both must be found out. Ledgers stay short because a start reads all of its ledger.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import sottovoce as sv
from sottovoce.device.ledger_state import Report
from sottovoce.errors import LedgerError
from sottovoce.reporters.composites.polar import Polar
from sottovoce.reporters.composites.survey import Survey
from sottovoce.storage import durable_file, journal

TAKES = "5 min"

BUDGET = 100_000
FRESH, FEW = sv.ogpm(0.25, (0, 24)), sv.ogpm(0.5, (0, 24), cells=16)
CLOCK = sv.ogpm(0.25, sv.Circle(), cells=16)
SURVEY = Survey(
    0.5, {"work": sv.duchi(0.25, (0, 24)), "sleep": sv.ogpm(0.25, (0, 24), cells=16), "start": CLOCK}, 2
)
POLAR = Polar(0.5, "l2", sv.ogpm(0.25, (0, 24), cells=16), CLOCK)
TERMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "fresh": (FRESH, {}),
    "bins": (FEW, {"repeat": "bins", "draws": 9, "bins": 8}),
    "again": (FEW, {"repeat": "bins", "draws": 9, "bins": 8, "again": 0.125, "sends": 10_000}),
    "survey": (SURVEY, {}),
    "polar": (POLAR, {}),
}
WIRE, PAUSE = "wire", 0.01  # how long connecting and waiting for the reply may take, in seconds
WAYS = ("any moment", "around a send", "line of code")
STAGES = (
    "opening the ledger",
    "before the record",
    "between record and send",
    "between send and acknowledgement",
    "after the acknowledgement",
)


@dataclass
class Result:
    kills: int = 0
    ledgers: int = 0
    reports: int = 0
    resent: int = 0
    inside_a_commit: int = 0
    spent: Fraction = Fraction(0)
    stages: dict[str, Counter[str]] = field(default_factory=lambda: {way: Counter() for way in WAYS})
    problems: list[str] = field(default_factory=list)

    @property
    def thorough(self) -> bool:
        return all(any(counts[stage] for counts in self.stages.values()) for stage in STAGES)


class Hasty(sv.Ledger):
    """The mutant that sends while its record may still be undone."""

    outbox: Any = None

    def _append(self, turn: Any, entry: dict[str, Any]) -> None:
        super()._append(turn, entry)
        if entry["kind"] == "report":
            self.outbox(*(entry[name] for name in ("campaign", "period", "cells", "key")))


# -- what is killed -------------------------------------------------------------------------------------


class Device:
    """Resends what is pending, then reports new periods for ever."""

    def __init__(
        self,
        folder: Path,
        seed: int,
        progress: mmap.mmap,
        mutant: str | None = None,
        sending: int | None = None,
    ) -> None:
        self.sending = sending  # a pipe to tell that a send begins
        self.rng, self.progress, self.mutant = random.Random(seed), progress, mutant
        self.attempt = f"~{seed}" if mutant == "forgetful" else ""
        kind = Hasty if mutant == "hasty" else sv.Ledger
        self.ledger = kind(folder / "ledger.db", budget=BUDGET)
        for name, (mechanism, terms) in TERMS.items():
            self.ledger.enrol(name, mechanism, **terms)
        self.wire = os.open(folder / WIRE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        if isinstance(self.ledger, Hasty):
            self.ledger.outbox = self.put

    def put(self, *report: object) -> None:
        """One line on the wire, between two waits as a network has them."""
        if self.sending is not None and self.rng.random() < 0.3:
            os.write(self.sending, b"s")
        time.sleep(self.rng.uniform(0, PAUSE))
        os.write(self.wire, (json.dumps(report) + "\n").encode())
        time.sleep(self.rng.uniform(0, PAUSE))

    def send(self, report: Report) -> None:
        if self.mutant != "hasty":
            self.put(report.campaign, report.period, report.cells, report.key)

    def value(self, campaign: str) -> object:
        one = self.rng.uniform(0, 24)
        return {"survey": [one, None, one / 4], "polar": [one, None]}.get(campaign, one)

    def now(self, campaign: str, period: str) -> None:
        self.progress[:64] = f"{campaign} {period}".ljust(64).encode()

    def report(self, campaign: str, period: int) -> None:
        name = f"{period}{self.attempt}"
        self.now(campaign, name)
        report = self.ledger.report(campaign, self.value(campaign), name)
        self.send(report)
        self.ledger.acknowledge(report)

    def catch_up(self) -> None:
        if self.mutant == "forgetful":
            return
        for waiting in self.ledger.pending():
            if self.rng.random() < 0.5:
                self.report(waiting.campaign, int(waiting.period))  # a retry that looks at a value again
            else:
                self.now(waiting.campaign, waiting.period)
                self.send(waiting)
                self.ledger.acknowledge(waiting)

    def run(self) -> None:
        self.catch_up()
        done = {int(a.period.split("~")[0]) for a in self.ledger.account("polar").reports.values()}
        period = max(done, default=-1) + (0 if self.mutant == "forgetful" and done else 1)
        while True:
            for campaign in TERMS:
                self.report(campaign, period)
            period += 1


def kill_at_line(number: int) -> Any:
    """A trace function that kills this process at the n-th line of the ledger's code and the device's."""
    code = (__file__, str(Path(sv.device.__file__).parent), journal.__file__, durable_file.__file__)
    left = [number]

    def trace(frame: FrameType, event: str, _: object) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(code):
            return None
        left[0] -= 1
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    return trace


# -- who kills ------------------------------------------------------------------------------------------


def run_and_kill(
    folder: Path, kills: int, seed: int, per_ledger: int = 25, mutant: str | None = None
) -> Result:
    """Fork the device and kill it, from its first line to some rounds of reports; check every ledger.

    Goes on (up to ten times as many) until every stage was hit; a mutant has lost at its first problem.
    """
    for warm in (FRESH, FEW, CLOCK):
        warm.report(1.0)  # compile before forking, so that kills hit the ledger
    rng, result = random.Random(seed), Result()
    while result.kills < kills or (not mutant and not result.thorough and result.kills < 10 * kills):
        place = folder / str(result.ledgers)
        place.mkdir(parents=True)
        witness: str | None = None
        for _ in range(min(per_ledger, max(1, kills - result.kills))):
            witness = _one_kill(place, rng, result, witness, mutant)
        if mutant is None:
            _in_peace(place, rng.randrange(2**32))
        check(place, result)
        result.ledgers += 1
        if mutant and result.problems:
            break
        if sys.stderr.isatty():
            print(f"\r{result.kills} kills", end="", file=sys.stderr)
    return result


def _one_kill(
    place: Path, rng: random.Random, result: Result, witness: str | None, mutant: str | None
) -> str | None:
    progress = mmap.mmap(-1, 64)
    heard, ready = os.pipe()
    way = WAYS[result.kills % len(WAYS)]
    opening, line = rng.random() < 0.05, rng.randrange(1, 1600)
    seed = rng.randrange(2**32)
    child = os.fork()
    if child == 0:
        try:
            if way == WAYS[2] and opening:
                sys.settrace(kill_at_line(line))
            device = Device(place, seed, progress, mutant, ready if way == WAYS[1] else None)
            if way == WAYS[0]:
                os.write(ready, b"r")
            if way == WAYS[2] and not opening:
                sys.settrace(kill_at_line(line))
            device.run()
        finally:
            os._exit(1)
    os.close(ready)
    if way != WAYS[2]:
        if way == WAYS[1] or not opening:
            os.read(heard, 1)
        time.sleep(rng.uniform(0, 2 * PAUSE if way == WAYS[1] else 0.03 if opening else 0.15))
        os.kill(child, signal.SIGKILL)
    ended = os.waitpid(child, 0)[1]
    os.close(heard)
    result.kills += 1
    if not (os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == signal.SIGKILL):
        result.problems.append("the device ended by itself")
    return _look(place, bytes(progress[:64]).decode().strip("\0 "), way, result, witness)


def _look(place: Path, doing: str, way: str, result: Result, witness: str | None) -> str | None:
    """What the kill interrupted, from a copy: the device itself must meet the journal that was left."""
    result.inside_a_commit += (place / "ledger.db-journal").exists()
    if not (place / "ledger.db").exists() or not doing:
        result.stages[way][STAGES[0]] += 1
        return witness
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(place, copy, dirs_exist_ok=True)
        try:
            ledger = sv.Ledger(Path(copy) / "ledger.db", witness=witness)
        except LedgerError as error:
            result.problems.append(f"after kill {result.kills}: {error}")
            return witness
        campaign, period = doing.split()
        account = ledger.account(campaign)
        report = account.reports.get(period)
        if report is None:
            stage = STAGES[1]
        elif all(key != report.key for *_, key in _wire(place)):
            stage = STAGES[2]
        else:
            stage = STAGES[4 if period in account.acknowledged else 3]
        result.stages[way][stage] += 1
        return ledger.witness


def _in_peace(place: Path, seed: int) -> None:
    """A last start that nobody interrupts: what is pending must still be sent as recorded."""
    Device(place, seed, mmap.mmap(-1, 64)).catch_up()


def _wire(place: Path) -> list[list[Any]]:
    path = place / WIRE
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def check(place: Path, result: Result) -> None:
    """Hold the whole wire of one folder against its whole ledger."""
    ledger = sv.Ledger(place / "ledger.db")
    accounts = [ledger.account(name) for name in ledger.campaigns]
    recorded = {(a.campaign, a.period): a for account in accounts for a in account.reports.values()}
    problems, seen = result.problems, dict[tuple[str, str], list[str]]()
    for campaign, period, cells, key in _wire(place):
        report = recorded.get((campaign, period))
        if report is None:
            problems.append(f"{campaign} {period} left the device unrecorded")
        elif (list(report.cells), report.key) != (cells, key):
            problems.append(f"{campaign} {period} left with another cell or key than recorded")
        seen.setdefault((campaign, period.split("~")[0]), []).append(json.dumps([cells, key]))
    twice = [" ".join(place) for place, each in seen.items() if len(set(each)) > 1]
    problems += [f"{name} was drawn twice" for name in twice]
    cost = Fraction(0)
    for account in accounts:
        draws = len(account.reports) if account.terms.repeat == "fresh" else len(account.kept)
        cost += draws * account.terms.epsilon + len(account.reports) * account.terms.epsilon_again
    if ledger.spent != cost:
        problems.append(f"spent {ledger.spent}, but the recorded reports cost {cost}")
    if ledger.spent > ledger.budget:
        problems.append("the budget was exceeded")
    pending = {a.key for a in ledger.pending()}
    unsent = [a for a in recorded.values() if (a.campaign, a.period.split("~")[0]) not in seen]
    if any(a.key not in pending for a in unsent):
        problems.append("a report was acknowledged that never left")
    result.reports += len(seen)
    result.resent += sum(len(each) > 1 for each in seen.values())
    result.spent += ledger.spent


def table(result: Result) -> str:
    """How many kills fell where, as Markdown."""
    lines = [f"| the kill came | {' | '.join(WAYS)} |", "|---|---|---|---|"]
    lines += [f"| {s} | {' | '.join(str(result.stages[way][s]) for way in WAYS)} |" for s in STAGES]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill -9 a device while it spends and sends.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--per-ledger", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutant", choices=["hasty", "forgetful"], help="A wrong device: must be found out.")
    parser.add_argument("--folder", type=Path, help="Keep ledgers and wires here.")
    parser.add_argument("--output", type=Path, help="Write the figures here, as JSON.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        result = run_and_kill(folder, given.kills, given.seed, given.per_ledger, given.mutant)
    print(f"{result.kills} kills on {result.ledgers} ledgers, {result.inside_a_commit} inside a commit")
    print(f"{result.reports} reports on the wire, {result.resent} of them sent more than once")
    print(f"epsilon {float(result.spent):g} spent, as recorded; problems: {result.problems[:9] or 'none'}")
    print(table(result))
    if given.output:
        given.output.write_text(json.dumps(vars(result) | {"spent": str(result.spent)}, indent=1) + "\n")
    raise SystemExit(bool(result.problems))


if __name__ == "__main__":
    main()
