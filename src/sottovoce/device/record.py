"""Where a client writes down what it draws, before it is sent: an outbox, or a person's ledger.

An outbox holds the reports of whoever uses the device, each bound to the token that it was drawn for. A
ledger is one person's: it charges their budget, and a campaign is answered once in a period, whatever
token comes with it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.device.inquiry import Inquiry, Value
from sottovoce.device.ledger import Ledger
from sottovoce.device.ledger_state import Report, holder
from sottovoce.device.outbox import Letter, Outbox, Run
from sottovoce.errors import ArgumentError, PrivacyError
from sottovoce.randomness.word_source import Seeded
from sottovoce.reporters.contract import Reporter


class Record(ABC):
    """The letters of one campaign.

    Args:
        inquiry: What the campaign asks.
        place: The campaign's address, in one spelling.
        token: What its letters are sent with.
    """

    def __init__(self, inquiry: Inquiry, place: str, token: str | None) -> None:
        self.inquiry, self.place, self.token = inquiry, place, token

    @abstractmethod
    def report(self, value: Value, period: str, rng: Seeded) -> Letter:
        """One person's letter of a period; drawn if there is none yet."""

    @abstractmethod
    def send(self, values: object, batch: int, run: str, rng: Seeded) -> None:
        """Draw for many people, unless their run was, and write all batches down in one transaction."""

    @abstractmethod
    def waiting(self, run: str = "") -> list[Letter]:
        """What is written down and not yet sent, for this token and this mechanism; of a run all of it."""

    @abstractmethod
    def settle(self, letter: Letter, state: str) -> None:
        """Note what became of a letter."""


class OutboxRecord(Record):
    """Letters in an outbox: one per person, which is to say per token, and batches of many people."""

    def __init__(self, inquiry: Inquiry, place: str, token: str | None, outbox: Outbox) -> None:
        super().__init__(inquiry, place, token)
        self._outbox = outbox
        # One report per person, whatever mechanism the campaign names today. A batch belongs to one of them.
        self._person = f"{place} {hashlib.sha256((token or '').encode()).hexdigest()}"
        self._batches = f"{self._person} {inquiry.reporter.digest}"

    def report(self, value: Value, period: str, rng: Seeded) -> Letter:
        if period:
            raise ArgumentError(
                "period needs a ledger: repeated reports add up, and somebody has to count",
                code="choice",
                argument="period",
            )
        letter = self._outbox.single(self._person)
        if letter is None:
            cells = self.inquiry.draw(self.inquiry.judge(value), rng)
            letter = self._outbox.put_single(self._person, pack(self.inquiry.reporter, np.array([cells])))
        if not self._is_mine(letter):
            raise PrivacyError(
                "this person has answered the campaign before, when it had another mechanism: "
                "a second draw would spend epsilon again",
                code="repeated",
            )
        return letter

    def send(self, values: object, batch: int, run: str, rng: Seeded) -> None:
        columns, people = self.inquiry.read_many(values)
        wanted = Run(self._batches, run, people)
        if people and not self._outbox.drawn(wanted):
            reports = self.inquiry.draw_many(columns, rng)
            parts = [reports[first : first + batch] for first in range(0, len(reports), batch)]
            self._outbox.put_batches(wanted, [pack(self.inquiry.reporter, part) for part in parts])

    def waiting(self, run: str = "") -> list[Letter]:
        mine = [letter for letter in self._outbox.waiting(self._person) if self._is_mine(letter)]
        return mine + self._outbox.waiting(self._batches, run)

    def settle(self, letter: Letter, state: str) -> None:
        self._outbox.settle(letter, state)

    def _is_mine(self, letter: Letter) -> bool:
        return letter.body[:32] == bytes.fromhex(self.inquiry.reporter.digest)


class LedgerRecord(Record):
    """Letters in a ledger: one in a period, charged to the person's budget before it is sent."""

    def __init__(self, inquiry: Inquiry, place: str, token: str | None, ledger: Ledger) -> None:
        super().__init__(inquiry, place, token)
        self._ledger = ledger

    def report(self, value: Value, period: str, rng: Seeded) -> Letter:
        policies = self.inquiry.policies
        rules = {name: policy.missing for name, policy in policies.items()}
        self._ledger.enrol(
            self.place,
            self.inquiry.reporter,
            missing=rules["value"] if set(rules) == {"value"} else rules,
            outside=next(iter(policies.values())).outside,
        )
        report = self._ledger.report(self.place, value, period, token=self.token, rng=rng)
        return self._letter(report, sent=period in self._ledger.account(self.place).acknowledged)

    def send(self, values: object, batch: int, run: str, rng: Seeded) -> None:
        raise ArgumentError(
            "a ledger is one person's, and send is for many: use report, or a client without a ledger",
            code="choice",
            argument="ledger",
        )

    def waiting(self, run: str = "") -> list[Letter]:
        if self.place not in self._ledger.campaigns:
            return []
        mine = holder(self.token), self.inquiry.reporter.digest
        pending = self._ledger.account(self.place).pending
        return [self._letter(report) for report in pending if (report.holder, report.digest) == mine]

    def settle(self, letter: Letter, state: str) -> None:
        if state == "sent":  # what was refused stays pending: the person has paid for it
            self._ledger.acknowledge(self._ledger.account(self.place).reports[letter.place])

    def _letter(self, report: Report, *, sent: bool = False) -> Letter:
        body = pack(self.inquiry.reporter, np.array([report.cells]))
        return Letter(report.key, report.period, True, body, report.created, "sent" if sent else "waiting")


def pack(reporter: Reporter, reports: NDArray[Any]) -> bytes:
    """Reports as they are sent: the digest, then cells in little-endian order. What is none is refused."""
    cells = reporter.checked(reports).astype(reporter.dtype.newbyteorder("<"))
    return bytes.fromhex(reporter.digest) + cells.tobytes()


def unpack(reporter: Reporter, body: bytes) -> NDArray[Any]:
    """The reports in a body, a row each. What is none is refused: it was written down by another version."""
    cells = np.frombuffer(body, reporter.dtype.newbyteorder("<"), offset=32)
    return reporter.checked(cells.reshape(-1, reporter.width))
