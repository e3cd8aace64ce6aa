"""The client: it runs beside the data, trusts no campaign, and draws once.

    with sottovoce.Client("https://collector.example", "commute", epsilon=1.0) as client:
        client.report(31.5)

It fetches the campaign's spec, checks its digest, *counts* its ε and refuses more than was agreed to. It
follows the campaign's rule for values missing or outside: it never stays silent because of a value,
since silence would tell. What is drawn leaves at a moment that was fixed before, since how long it took could
tell too. With a ledger, ε is charged to the person's budget before anything leaves. It needs the core only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import FloatArray
from sottovoce.device.checked_answers import holds_truths
from sottovoce.device.connection import Refused, Wire, await_beat
from sottovoce.device.inquiry import Cells, Decoded, Inquiry, Value
from sottovoce.device.ledger import Ledger
from sottovoce.device.outbox import Letter, Outbox
from sottovoce.device.record import LedgerRecord, OutboxRecord, Record, unpack
from sottovoce.errors import (
    ArgumentError,
    ArgumentTypeError,
    DataError,
    PrivacyError,
    SpecError,
    check_epsilon,
    positive_number,
    whole_number,
)
from sottovoce.exact.rational_bounds import log_upper
from sottovoce.notebook import Shown
from sottovoce.randomness.word_source import Seeded
from sottovoce.reporters.contract import Reporter, described, line_of
from sottovoce.reporters.formats import from_json
from sottovoce.values.checked_arrays import numbers_or_nan
from sottovoce.wire.canonical import digest
from sottovoce.wire.checked_json import parse_json

_BINARY = "application/vnd.sottovoce.cells"
#: One value per person, None where it is missing; of a survey a table with a column per question.
Values = ArrayLike | Iterable[object] | Mapping[str, ArrayLike]
_KEY_LIFE = 6.5 * 86_400  # the collector remembers keys for 7 days; later a repeat could count twice


@dataclass(frozen=True)
class Receipt(Shown):
    """What left the device for one person.

    Attributes:
        cells: The report: one integer, or as many as a survey asks for.
        of: How many different cells there are; every value could have given each of them.
        decoded: What the report stands for: a number, a position, or values by question.
    """

    cells: Cells
    of: int
    decoded: Decoded


class Client(Shown):
    """One campaign of one collector, seen from a device.

    Args:
        url: The collector's address.
        campaign: The campaign's name.
        epsilon: What was agreed to. A campaign whose counted ε is more is refused.
        token: An enrolment or write token, if the campaign asks for one.
        ledger: What one person has spent, over all campaigns and collectors. Reports are recorded in it and
            charged to its budget; whoever else uses the device needs a ledger of their own.
        outbox: Without a ledger, where draws are recorded: a file, by default in the user's state folder, or
            ":memory:" for simulations.
        timeout: How many seconds a request and its whole answer may take.
        attempts: How often a request is sent before giving up.

    Attributes:
        campaign: What the collector says about the campaign.
        reporter: What the campaign randomises with, counted.

    Raises:
        ArgumentError: If a parameter has a value that it must not have.
        SpecError: If the campaign is malformed, or its spec not the one that its digest names.
        PrivacyError: If the campaign's counted ε is more than what it claims, or than what was agreed to.
        Refused: If the collector refuses, for example because there is no such campaign.
        Undelivered: If the collector cannot be reached.

    Example:
        >>> with Client("https://collector.example", "commute", epsilon=1.0) as client:  # doctest: +SKIP
        ...     client.report(31.5)
    """

    def __init__(
        self,
        url: str,
        campaign: str,
        *,
        epsilon: float,
        token: str | None = None,
        ledger: Ledger | None = None,
        outbox: str | os.PathLike[str] | None = None,
        timeout: float = 30.0,
        attempts: int = 5,
    ) -> None:
        agreed, most = check_epsilon(epsilon), whole_number(attempts, "attempts", 1, 100)
        if ledger is not None and outbox is not None:
            raise ArgumentError(
                "outbox must not be given with a ledger, which takes its place",
                code="choice",
                argument="outbox",
            )
        self._wire = Wire(url, token, positive_number(timeout, "timeout"), most)
        self._path = f"/v1/campaigns/{quote(campaign, safe='')}"
        self._place = self._wire.origin.campaign(campaign)
        try:
            content = parse_json(self._wire.request("GET", self._path))
            if not isinstance(content, dict):
                raise SpecError("the collector's description of the campaign is not an object")
            self.campaign: dict[str, Any] = content
            self.reporter = _counted(self.campaign, agreed)
            self._inquiry = Inquiry.of_campaign(self.campaign, self.reporter)
            self._record: Record
            if ledger is None:
                self._record = OutboxRecord(self._inquiry, self._place, token, Outbox(outbox))
            else:
                self._record = LedgerRecord(self._inquiry, self._place, token, ledger)
        except BaseException:
            self._wire.close()
            raise

    # -- reports ----------------------------------------------------------------------------------------

    def report(self, value: Value, *, period: str = "", rng: Seeded = None) -> Receipt:
        """Randomise one person's value, once, and send it.

        Calling again, also after a crash, sends the same report or returns the same receipt. There is no
        second draw for the same campaign and token in one outbox, also if the campaign's mechanism changes,
        and none for the same campaign and period in one ledger. A draw leaves a whole number of quarter
        seconds after the call, so that its time does not depend on the value.

        Args:
            value: The person's value: a number, a position (x, y), or of a survey the values by name or in
                order; None or NaN where one is missing.
            period: With a ledger, a name of the day, week or whatever is reported once.
            rng: A seed, for simulations only.

        Returns:
            What left the device.

        Raises:
            ArgumentTypeError: If the value has the wrong type; then nothing is drawn or recorded.
            DataError: If an option is not on the list; the same.
            PrivacyError: If the person has reported before, to another mechanism of the campaign or with
                another token.
            BudgetError: If the ledger's budget is used up; then nothing is drawn.
            LedgerError: If ledger or outbox cannot be used or believed, or the ledger knows the campaign on
                other terms; then nothing is sent.
            Refused: If the collector refuses for good.
            Undelivered: If the collector cannot be reached; `flush` sends the same report later.
        """
        start = time.monotonic()
        self._inquiry.judge(value)  # what cannot be an answer is refused, whatever was recorded before
        letter = self._record.report(value, period, rng)
        if letter.state != "sent":
            await_beat(start)
            self._deliver(letter)
        cells = tuple(unpack(self.reporter, letter.body)[0].tolist())
        return Receipt(cells, self.reporter.cells, self._inquiry.decode(cells))

    def send(self, values: Values, *, run: str = "", batch: int = 1000, rng: Seeded = None) -> int:
        """Randomise the values of many people, one each, and send them in batches.

        For a program that holds values of its users. All batches are drawn and recorded, in one transaction,
        before the first is sent; if the collector cannot be reached, `flush` continues. A job that may be
        started again gives its run a name: a second start sends what is left, also what was refused, and
        draws nobody again, whatever the values are.

        Args:
            values: One value per person, NaN or None where it is missing; of a survey a column per question.
            run: A name of the day, month or whatever these people are drawn once for. It is recorded with
                the draws. Without one nothing is drawn while batches of the campaign are not accepted.
            batch: How many reports go into one request; in an open campaign always one.
            rng: A seed, for simulations only.

        Returns:
            How many reports were accepted now.

        Raises:
            ArgumentError: If the client has a ledger, which is one person's.
            ArgumentTypeError: If a value has the wrong type, or `run` is no name; then nobody is drawn.
            DataError: If an option is not on the list, or a column is lacking; the same.
            PrivacyError: If these people may have been drawn before, or the run was drawn for another number
                of people, another token or another mechanism; then nothing is drawn or sent.
            Refused: If the collector refuses for good; the rest is sent first.
            Undelivered: If the collector cannot be reached.
        """
        start = time.monotonic()
        size = whole_number(batch, "batch", 1, 100_000)
        if not isinstance(run, str):
            raise ArgumentTypeError(f"run must be a name, got run={run!r}", argument="run")
        # Where anybody may report, a request is one report.
        self._record.send(values, 1 if self.campaign.get("collection") == "open" else size, run, rng)
        await_beat(start)
        return self._deliver_all(self._record.waiting(run))

    def flush(self) -> int:
        """Send what is recorded and not yet acknowledged, with its own keys.

        Returns:
            How many reports were accepted.

        Raises:
            Refused: If the collector refuses something for good; the rest is sent first.
            Undelivered: If the collector cannot be reached.
        """
        return self._deliver_all(self._record.waiting())

    def _deliver_all(self, letters: Iterable[Letter]) -> int:
        accepted, refusals = 0, list[Refused | DataError]()
        for letter in letters:
            try:
                accepted += self._deliver(letter)
            except (Refused, DataError) as error:
                refusals.append(error)
        if refusals:
            raise refusals[0]
        return accepted

    def prepare(self, values: ArrayLike | Iterable[float | None], *, rng: Seeded = None) -> FloatArray:
        """Apply the rule for values missing or outside the domain, in a campaign about one number.

        Args:
            values: Numbers; None, NaN or infinite where they are missing.
            rng: A seed, for simulations only: the rule may be a uniform draw.

        Returns:
            What is randomised: numbers in the domain. One that was inside comes back as it is.

        Raises:
            ArgumentTypeError: If something is no number at all. A number is never refused for what it is.
            SpecError: If the campaign asks for something else.
        """
        domain = line_of(self.reporter)
        if domain is None:
            raise SpecError(f"the campaign asks for {described(self.reporter)}, not for one number")
        if holds_truths(np.array(values, dtype=object) if isinstance(values, list) else values):
            raise ArgumentTypeError("values must be real numbers, got booleans", argument="values")
        policy = self._inquiry.policies["value"]
        return policy.prepare(numbers_or_nan(values, "values").reshape(-1), domain, rng)

    def _deliver(self, letter: Letter) -> int:
        """Send a letter until it is answered; the same bytes with the same key each time."""
        headers = {"Content-Type": _BINARY, "Idempotency-Key": letter.key}
        late = abs(time.time() - letter.created) > _KEY_LIFE  # drawn in the future: the clock cannot tell
        try:
            if late:
                raise Refused(0, "too_late", "it may be stored already, and would be counted twice", None)
            accepted = len(unpack(self.reporter, letter.body))
            self._wire.request("POST", f"{self._path}/reports", letter.body, headers)
        except (Refused, DataError):  # of the collector, or what was written down is no report
            if not (late and letter.single):  # the device's clock may be wrong, and be set right later
                self._record.settle(letter, "refused")
            raise
        self._record.settle(letter, "sent")
        return accepted

    def _fields(self) -> dict[str, str]:
        return {"campaign": self._place, "reporter": repr(self.reporter)}

    def close(self) -> None:
        """Close the connection; `with` does it by itself."""
        self._wire.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _counted(campaign: dict[str, Any], agreed: float) -> Reporter:
    """The reporter, if its bytes have the digest that is named and its counted ε is what was agreed to."""
    text = campaign.get("spec")
    if not isinstance(text, str) or digest(text) != campaign.get("digest"):
        raise SpecError(
            "the campaign's spec does not have the digest that the campaign names", argument="digest"
        )
    reporter = from_json(text)
    epsilon = log_upper(reporter.largest_ratio)
    if epsilon > agreed:
        raise PrivacyError(
            f"the campaign's exact epsilon is {epsilon!r}, agreed was epsilon={agreed!r}", argument="epsilon"
        )
    return reporter
