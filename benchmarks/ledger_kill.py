"""Kill −9 a device while it spends and sends, again and again, and look for a report that should not be.

    python benchmarks/ledger_kill.py --kills 1000

The device answers three campaigns in turn (a fresh draw per period, bins, bins randomised again), writes
each report to a file that stands for the wire, and acknowledges. It is killed at a random moment, and started
again on the same ledger, first resending what is pending. Afterwards:

* every report on the wire is in the ledger with the same key and cell: none left before it was recorded;
* no period has two keys or two cells on the wire: none was drawn twice;
* what was spent is what the recorded answers cost, and within the budget: none was charged twice.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import sottovoce as sv

BUDGET = 100_000
FRESH, FEW = sv.ogpm(0.25, (0, 24)), sv.ogpm(0.5, (0, 24), cells=16)


@dataclass(frozen=True)
class Result:
    kills: int
    reports: int
    resent: int
    spent: Fraction
    problems: list[str]


def device(folder: Path, seed: int, ready: int) -> None:
    """What is killed: resend what is pending, then answer new periods for ever."""
    rng = random.Random(seed)
    ledger = sv.Ledger(folder / "ledger.db", budget=BUDGET)
    ledger.enrol("fresh", FRESH)
    ledger.enrol("bins", FEW, repeat="bins", answers=9, bins=8)
    ledger.enrol("again", FEW, repeat="bins", answers=9, bins=8, again=0.125, sends=200_000)
    wire = os.open(folder / "wire", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def send(answer: sv.device.Answer) -> None:
        os.write(wire, f"{answer.campaign} {answer.period} {answer.cell} {answer.key}\n".encode())

    os.write(ready, b"r")
    for answer in ledger.pending():
        send(answer)
        ledger.acknowledge(answer)
    period = max(len(ledger.account(name).answers) for name in ledger.campaigns)
    while True:
        for campaign in ledger.campaigns:
            ledger.send(campaign, rng.uniform(0, 24), send, str(period))
        period += 1


def run_and_kill(folder: Path, kills: int, seed: int) -> Result:
    """Fork the device and kill it, at a moment that ranges from its first line to some dozen reports."""
    rng = random.Random(seed)
    FRESH.report(1.0)  # compile before forking, so that kills hit the ledger
    for kill in range(kills):
        heard, ready = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                device(folder, seed + kill, ready)
            finally:
                os._exit(1)
        if rng.random() < 0.9:
            os.read(heard, 1)  # the ledger is open; the other kills may hit its opening
        time.sleep(rng.uniform(0, 0.2))
        os.close(heard)
        os.close(ready)
        os.kill(child, signal.SIGKILL)
        if not os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            return Result(kill, 0, 0, Fraction(0), ["the device ended by itself"])
    problems, reports, resent, spent = check(folder)
    return Result(kills, reports, resent, spent, problems)


def check(folder: Path) -> tuple[list[str], int, int, Fraction]:
    """Problems, reports on the wire, how many of them were sent more than once, ε spent."""
    ledger = sv.Ledger(folder / "ledger.db")
    accounts = [ledger.account(name) for name in ledger.campaigns]
    recorded = {(a.campaign, a.period): a for account in accounts for a in account.answers.values()}
    problems: list[str] = []
    seen: dict[tuple[str, str], int] = {}
    lines: list[list[str]] = []
    if (folder / "wire").exists():
        lines = [line.split() for line in (folder / "wire").read_text().splitlines()]
    for campaign, period, cell, key in lines:
        answer = recorded.get((campaign, period))
        if answer is None:
            problems.append(f"{campaign} {period} left the device unrecorded")
        elif (answer.cell, answer.key) != (int(cell), key):
            problems.append(f"{campaign} {period} left with another cell or key than recorded")
        seen[campaign, period] = seen.get((campaign, period), 0) + 1
    cost = Fraction(0)
    for account in accounts:
        draws = len(account.answers) if account.terms.repeat == "fresh" else len(account.kept)
        cost += draws * account.terms.epsilon + len(account.answers) * account.terms.epsilon_again
    if ledger.spent != cost:
        problems.append(f"spent {ledger.spent}, but the recorded answers cost {cost}")
    if ledger.spent > ledger.budget:
        problems.append("the budget was exceeded")
    pending = {a.key for a in ledger.pending()}
    unsent = [a for place, a in recorded.items() if place not in seen and a.key not in pending]
    if unsent:
        problems.append(f"{len(unsent)} answers acknowledged that never left")
    return problems, len(seen), sum(times > 1 for times in seen.values()), ledger.spent


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill -9 a device while it spends and sends.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="Keep ledger and wire here.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        result = run_and_kill(arguments.folder or Path(temporary), arguments.kills, arguments.seed)
    print(f"{result.kills} kills, {result.reports} reports on the wire, {result.resent} sent more than once")
    print(f"epsilon {float(result.spent):g} spent, as recorded; problems: {result.problems or 'none'}")
    raise SystemExit(bool(result.problems))


if __name__ == "__main__":
    main()
