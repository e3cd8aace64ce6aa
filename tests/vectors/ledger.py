"""What every ledger does, step by step, and what its clients call a campaign: ledger.json.

- `origins`: addresses of collectors, and the one spelling of each; null where it is refused (code "form").
- `accounts`: the name under which a campaign is kept.
- `seals`: bodies of entries, and the SHA-256 that seals each to the one before.
- `ledgers`: a budget and steps. A step is what is done and what is `expected`: the code of an `error`, or
  what a report is and the totals after it, `spent`, `remaining` and how many reports are `pending` (none
  where "look" is false: the ledger is not asked). `words` are the 64-bit words that a draw takes, in
  hexadecimal, in order; a step that takes none must not draw.
  "copy" saves the ledger's file, "restore" puts the saved one back and "delete" removes it, all under a
  running ledger. "remember" takes the witness, and "reopen" opens the file anew, with what was remembered.
  A step with "elsewhere" is done by another program.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.arrays import Words
from sottovoce.device.address import Origin
from sottovoce.device.ledger import LEDGER
from sottovoce.errors import ArgumentError, Coded
from sottovoce.exact.spending import plain
from sottovoce.randomness.word_source import WordSource
from sottovoce.storage.journal import Head

Step = dict[str, Any]

ADDRESSES = (
    "https://collector.example", "https://collector.example/", "https://collector.example///",
    "HTTPS://Collector.Example:443", "https://collector.example:0443/", "https://collector.example.",
    "http://collector.example", "http://collector.example:80/", "http://collector.example:443",
    "https://collector.example:8443/a/b-c_d~e.f/", "https://collector.example/A",
    "https://bücher.example", "https://BÜCHER.example", "https://xn--bcher-kva.example", "https://ｅxample.com",
    "http://localhost:18080", "http://127.0.0.1:18080", "http://127.1:018080", "http://0x7f.1:18080",
    "http://2130706433:18080", "http://0177.0.0.1:18080", "http://[::1]:18080", "http://[0:0::1]:18080",
    "http://[::ffff:127.0.0.1]:18080", "http://a.localhost:18080",
    "http://192.0.2.7", "http://192.0.519", "https://[2001:DB8::0:1]:8443", "https://[::ffff:192.0.2.7]",
)  # fmt: skip
REFUSED = (
    "", "collector.example", "//collector.example", "ftp://collector.example", "https://", "https:///a",
    "https://user@collector.example", "https://user:secret@collector.example", "https://@collector.example",
    "https://collector.example?a", "https://collector.example#a", "https://collector.example/a?b",
    "https://collector.example/../a", "https://collector.example/./a", "https://collector.example//a",
    "https://collector.example/%61", "https://collector.example\\a", "https:/collector.example",
    " https://collector.example", "https://collector.example ", "https://collec\ttor.example", "https://a b",
    "https://collector.example:0", "https://collector.example:65536", "https://collector.example:8a",
    "https://collector.example:-1", "https://collector.example:", "https://a..b", "https://.a", "https://%61",
    "https://straße.example", "https://a\u200db.example", "http://256.1", "http://1.2.3.4.5", "http://a.1",
    "http://1.2.3.08", "http://0.0.0.0", "http://[::]", "http://[::1", "http://[1]", "http://[fe80::1%eth0]",
    "https://" + "a" * 64 + ".example",
)  # fmt: skip


class Counter(WordSource):
    """Words from a counter, and a list of those that were taken."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self._count = 0

    def words(self, count: int) -> Words:
        fresh = []
        for _ in range(count):
            self._count += 1
            fresh.append(hashlib.sha256(self._count.to_bytes(4)).hexdigest()[:16])
        self.taken += fresh
        return np.array([int(word, 16) for word in fresh], dtype=np.uint64)


class Given(Counter):
    """The words of a step, and an error if more are asked for."""

    def __init__(self, words: list[str]) -> None:
        super().__init__()
        self._left = words

    def words(self, count: int) -> Words:
        part, self._left = self._left[:count], self._left[count:]
        assert len(part) == count, "a draw takes more words than it should"
        self.taken += part
        return np.array([int(word, 16) for word in part], dtype=np.uint64)


class Player:
    """Does steps with a ledger in a folder.

    `make` opens a ledger: another one that must not pass is given by tests.
    """

    def __init__(self, folder: Path, budget: str, make: Callable[..., Any] = sv.Ledger) -> None:
        self.path, self._make = folder / "ledger.db", make
        self._saved, self._witness = folder / "saved.db", None
        self.ledger = make(self.path, budget)

    def play(self, step: Step, specs: dict[str, str], source: Counter) -> Step:
        """Do a step, and tell what it gives."""
        ledger = self._make(self.path) if step.get("elsewhere") else self.ledger
        arguments = {
            k: v for k, v in step.items() if k not in ("do", "elsewhere", "look", "words", "expected")
        }
        try:
            gives = getattr(self, f"_{step['do']}")(ledger, specs, source, **arguments)
        except Coded as error:
            return {"error": error.code}
        if not step.get("look", step["do"] not in ("copy", "restore", "delete")):
            return gives
        ledger = self.ledger if step["do"] == "reopen" else ledger
        totals = {"spent": plain(ledger.spent), "remaining": plain(ledger.remaining)}
        return {**gives, **totals, "pending": len(ledger.pending())}

    def _enrol(self, ledger: Any, specs: dict[str, str], _: Counter, spec: str, **terms: Any) -> Step:
        ledger.enrol(reporter=sv.from_json(specs[spec]), **terms)
        return {}

    def _report(self, ledger: Any, _: dict[str, str], source: Counter, **arguments: Any) -> Step:
        report = ledger.report(**arguments, rng=source)
        gives = {"cells": list(report.cells), "charged": plain(report.spent)}
        return {**gives, "repeated": report.repeated, "held": report.held}

    def _acknowledge(
        self, ledger: Any, _: dict[str, str], __: Counter, campaign: str, period: str = ""
    ) -> Step:
        ledger.acknowledge(ledger.account(campaign).reports[period])
        return {}

    def _budget(self, ledger: Any, _: dict[str, str], __: Counter, budget: str) -> Step:
        ledger.change_budget(budget)
        return {}

    def _copy(self, *_: Any) -> Step:
        shutil.copyfile(self.path, self._saved)
        return {}

    def _restore(self, *_: Any) -> Step:
        shutil.copyfile(self._saved, self.path)
        return {}

    def _delete(self, *_: Any) -> Step:
        self.path.unlink()
        return {}

    def _remember(self, ledger: Any, *_: Any) -> Step:
        self._witness = ledger.witness
        return {}

    def _reopen(self, *_: Any) -> Step:
        self.ledger = self._make(self.path, witness=self._witness)
        return {}


def ledgers() -> list[tuple[str, str, list[Step]]]:
    """Names, budgets and steps, without what they give."""

    def enrol(campaign: str, spec: str = "one", **terms: Any) -> Step:
        return {"do": "enrol", "campaign": campaign, "spec": spec, **terms}

    def report(campaign: str, value: object, period: str = "", **more: Any) -> Step:
        return {"do": "report", "campaign": campaign, "value": value, "period": period, **more}

    def budget(amount: str) -> Step:
        return {"do": "budget", "budget": amount}

    copy, restore, delete, remember, reopen = (
        {"do": do} for do in ("copy", "restore", "delete", "remember", "reopen")
    )
    done = {"do": "acknowledge", "campaign": "a", "period": "0"}
    days = [report("a", 3.0, str(day)) for day in range(4)]
    unseen = {**days[1], "look": False}
    return [
        ("a period is drawn once", "2", [
            enrol("a"), days[0], report("a", 20.0, "0"), done, done, *days[1:], reopen, *days]),
        ("campaigns and collectors share a budget", "2.5", [
            *(enrol(f"https://{name}.example/v1/campaigns/c") for name in "abc"),
            *(report(f"https://{name}.example/v1/campaigns/c", 3.0) for name in "abc"),
        ]),
        ("money is exact", "0.3", [enrol("a", "tenth"), *days]),
        ("a third", "1/3", [enrol("a", "tenth"), *days, budget("2/5"), *days, budget("0.3"), budget("1e2")]),
        ("a report belongs to a token", "3", [
            enrol("a"), report("a", 3.0, token="one"), report("a", 3.0, token="two"), report("a", 3.0),
            report("a", 9.0, token="one"), report("a", 3.0, "1"), report("a", 3.0, "1", token="one"),
        ]),
        ("terms do not change", "3", [
            enrol("a"), enrol("a"), report("a", 3.0), enrol("a", "tenth"), enrol("a", missing=1.0),
            enrol("a", outside="missing"), enrol("a", repeat="once"), report("b", 3.0), enrol(""),
        ]),
        ("so many sends", "9", [enrol("a", sends=2), *days]),
        ("one draw for all periods", "1", [enrol("a", repeat="once"), *days, enrol("b")]),
        ("one draw for each bin", "2", [
            enrol("a", "half", repeat="bins", bins=4, draws=3),
            *(report("a", value, str(day)) for day, value in enumerate([1, 5.9, 6, 2, 13, 7, 23, 1, None])),
        ]),
        ("a missing value is a bin of its own", "3", [
            enrol("a", repeat="bins", bins=2, draws=3, missing=1.0),
            *(report("a", value, str(day)) for day, value in enumerate([1, None, None, 20, None])),
        ]),
        ("every send is randomised again", "3", [
            enrol("a", "two", repeat="bins", bins=2, draws=2, again=0.25, sends=4),
            *(report("a", value, str(day)) for day, value in enumerate([0, 0, 1, 0, 1])),
        ]),
        ("what bins may cost is set aside", "2", [
            enrol("a", "half", repeat="bins", bins=4, draws=3), enrol("b", "half"),
            report("b", 3.0), report("b", 3.0, "1"), enrol("c", repeat="once"), budget("1.5"),
        ]),
        ("bad terms", "9", [
            enrol("a", repeat="never"), enrol("a", repeat="bins"), enrol("a", bins=3), enrol("a", sends=0),
            enrol("a", repeat="once", spec="wide"), enrol("a", missing=99.0), enrol("a", missing="drop"),
            enrol("a", outside="refuse"), enrol("a", repeat="bins", draws=2, again=0.5),
        ]),
        ("missing and outside values are reported", "9", [
            enrol("a", missing=5.0, outside="missing"), enrol("b", missing=5.0), enrol("c"),
            *(report(name, value, str(value)) for name in "abc" for value in (None, -5.0, 99.0)),
        ]),
        ("an older copy under a running ledger", "9", [
            enrol("a"), days[0], copy, unseen, restore, days[1], days[2], reopen, days[1]]),
        ("an older copy that went on", "9", [
            enrol("a"), days[0], copy, unseen, restore, {**days[2], "elsewhere": True}, days[1], days[1]]),
        ("an acknowledgement taken back", "9", [
            enrol("a"), days[0], copy, {**done, "look": False}, restore, days[0], days[1]]),
        ("an older copy of a ledger that only looked", "9", [
            enrol("a"), copy, {**days[0], "elsewhere": True}, days[0], restore, days[0]]),
        ("an older copy before a restart", "9", [
            enrol("a"), days[0], copy, days[1], remember, reopen, restore, reopen, days[1]]),
        ("a file that is gone", "9", [enrol("a"), days[0], delete, days[0], days[1]]),
    ]  # fmt: skip


def content() -> dict[str, Any]:
    """All that the file holds."""
    mechanisms = {
        "one": sv.ogpm(1.0, (0, 24), cells=8), "half": sv.ogpm(0.5, (0, 24), cells=8),
        "tenth": sv.ogpm(0.1, (0, 24), cells=8), "wide": sv.ogpm(1.0, (0, 24), cells=65),
        "two": sv.duchi(1.0),
    }  # fmt: skip
    specs = {name: mechanism.to_json() for name, mechanism in mechanisms.items()}
    played = []
    for name, budget, steps in ledgers():
        with TemporaryDirectory() as folder:
            player, source, outcomes = Player(Path(folder), budget), Counter(), []
            for step in steps:
                source.taken = []
                gives = player.play(step, specs, source)
                outcomes.append({**step, "words": source.taken, "expected": gives})
            played.append({"name": name, "budget": budget, "steps": outcomes})
    return {
        "origins": [{"url": url, "origin": spelling(url)} for url in (*ADDRESSES, *REFUSED)],
        "accounts": [
            {"url": "https://collector.example/", "campaign": name,
             "account": Origin.parse("https://collector.example/").campaign(name)}
            for name in ("commute", "a b/c", "é!'()*~", "%2F")
        ],
        "seals": seals(),
        "specs": specs,
        "ledgers": played,
    }  # fmt: skip


def spelling(url: str) -> str | None:
    """An address in its one spelling; None if it is refused."""
    with contextlib.suppress(ArgumentError):
        return str(Origin.parse(url))
    return None


def seals() -> dict[str, Any]:
    head, entries = Head.first(LEDGER), []
    for body in ('{"kind":"open"}', '{"at":"2026-11-16T00:00:00+00:00","period":"é"}', ""):
        head = head.then(body)
        entries.append({"body": body, "seal": head.seal})
    return {"first": Head.first(LEDGER).seal, "entries": entries}
