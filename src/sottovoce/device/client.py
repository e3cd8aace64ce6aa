"""The client: it runs beside the data, trusts no campaign, and draws once.

    with sottovoce.Client("https://collector.example", "commute", epsilon=1.0) as client:
        client.report(31.5)

It fetches the campaign's spec, checks its digest, *counts* its ε and refuses more than was agreed to. It
follows the campaign's rule for missing and out-of-range values: it never stays silent because of a value,
since silence would tell. It needs the core only.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import random
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.auditing.audit import audit
from sottovoce.core.errors import PrivacyError, SpecError, check_epsilon, positive_number, whole_number
from sottovoce.core.formats import number_from_json
from sottovoce.core.number import Number
from sottovoce.core.randomness import Seeded
from sottovoce.core.spec import digest, parse_json
from sottovoce.core.values import numbers_or_nan
from sottovoce.device.outbox import Letter, Outbox

_BINARY = "application/vnd.sottovoce.cells"
_LARGEST_ANSWER = 1 << 24
_LONGEST_PAUSE = 60.0
_KEY_LIFE = 6.5 * 86_400  # the collector remembers keys for 7 days; later a repeat could count twice


class Refused(ValueError):
    """The collector refused a report for good; `code` and `field` are the collector's."""

    def __init__(self, status: int, code: str, message: str, field: str | None) -> None:
        super().__init__(f"the collector refused ({status} {code}): {message}")
        self.status, self.code, self.field = status, code, field


class Undelivered(OSError):
    """The collector could not be reached; what was drawn is recorded, and `flush()` sends it later."""


@dataclass(frozen=True)
class Receipt:
    """What left the device for one person: `cell`, one of `cells` that every value could have given.

    `decoded` is the value that the cell stands for.
    """

    cell: int
    cells: int
    decoded: float


class Client:
    """One campaign of one collector, seen from a device.

    `epsilon` is the most that the person agreed to (without it: what the campaign claims, which is checked).
    `token` is an enrolment or write token. `outbox` is where draws are recorded: a file (by default in the
    user's state folder), or ":memory:" for simulations.
    `url` is the collector's address and `campaign` the campaign's name. A request waits `timeout` seconds for
    an answer and is repeated up to `attempts` times.
    """

    def __init__(
        self,
        url: str,
        campaign: str,
        *,
        epsilon: float | None = None,
        token: str | None = None,
        outbox: str | Path | None = None,
        timeout: float = 30.0,
        attempts: int = 5,
    ) -> None:
        agreed = None if epsilon is None else check_epsilon(epsilon)
        self._attempts = whole_number(attempts, "attempts", 1, 100)
        self._wire = _Wire(url, token, positive_number(timeout, "timeout"))
        self._path = f"/v1/campaigns/{quote(campaign, safe='')}"
        try:
            self.campaign = self._fetch()
            self.mechanism = _audited(self.campaign, agreed)
            self._outbox = Outbox(outbox)
        except BaseException:
            self._wire.close()
            raise
        owner = hashlib.sha256((token or "").encode()).hexdigest()
        # One report per person, whatever mechanism the campaign names today. A batch belongs to one of them.
        self._person = f"{self._wire.origin}{self._path} {owner}"
        self._batches = f"{self._person} {self.mechanism.digest}"

    # -- reports ----------------------------------------------------------------------------------------

    def report(self, value: float | None, *, rng: Seeded = None) -> Receipt:
        """Randomise one person's value, once, and send it.

        Calling again, also after a crash, sends the same cell or returns the same receipt: there is no
        second draw for the same campaign and token in one outbox, also if the campaign's mechanism changes.
        """
        letter = self._outbox.single(self._person)
        if letter is None:
            letter = self._outbox.put_single(self._person, self._body(self._draw([value], rng)))
        if not self._is_mine(letter):
            raise PrivacyError(
                "this person has answered the campaign before, when it had another mechanism: "
                "a second draw would spend epsilon again"
            )
        if letter.state != "sent":
            self._deliver(letter)
        cell = int(self._cells(letter)[0])
        return Receipt(cell, self.mechanism.cells, float(self.mechanism.decode(cell)))

    def send(self, values: ArrayLike, *, batch: int = 1000, rng: Seeded = None) -> int:
        """Randomise the values of many people, one each, and send them in batches; how many were accepted.

        For a program that holds values of its users. All batches are drawn and recorded, in one transaction,
        before the first is sent; if the collector cannot be reached `flush()` continues.
        `batch` is the number of reports per request.
        """
        size = whole_number(batch, "batch", 1, 100_000)
        cells = self._draw(values, rng)
        bodies = [self._body(cells[first : first + size]) for first in range(0, len(cells), size)]
        self._outbox.put_batches(self._batches, bodies)
        return self.flush()

    def flush(self) -> int:
        """Send what is recorded and not yet acknowledged, with its own keys; how many were accepted."""
        mine = [letter for letter in self._outbox.waiting(self._person) if self._is_mine(letter)]
        return sum(self._deliver(letter) for letter in mine + self._outbox.waiting(self._batches))

    def prepare(self, values: ArrayLike | Iterable[float | None]) -> NDArray[np.float64]:
        """Values after the campaign's rule: missing ones (None, NaN, infinite) and those outside the domain.

        A number inside the domain comes back as it is.
        """
        x = numbers_or_nan(values, "values")
        domain, missing = self.mechanism.domain, float(self.campaign["missing"])
        finite = np.isfinite(x)
        x = np.where(finite, x, missing)
        if self.campaign["out_of_range"] == "clip":
            return domain.bring_inside(x)
        return np.where(domain.contains(x), x, missing)

    def _draw(self, values: Any, rng: Seeded) -> NDArray[Any]:
        return np.asarray(self.mechanism.report(self.prepare(values), rng=rng))

    def _body(self, cells: NDArray[Any]) -> bytes:
        form = self.mechanism.dtype.newbyteorder("<")
        return bytes.fromhex(self.mechanism.digest) + cells.astype(form).tobytes()

    def _is_mine(self, letter: Letter) -> bool:
        return letter.body[:32] == bytes.fromhex(self.mechanism.digest)

    def _cells(self, letter: Letter) -> NDArray[Any]:
        return np.frombuffer(letter.body, self.mechanism.dtype.newbyteorder("<"), offset=32)

    # -- the wire ---------------------------------------------------------------------------------------

    def _fetch(self) -> dict[str, Any]:
        status, answer = self._try("GET", self._path)
        if status != 200:
            raise _refusal(status, answer)
        content = parse_json(answer)
        if not isinstance(content, dict):
            raise SpecError("the collector's description of the campaign is not an object")
        return content

    def _deliver(self, letter: Letter) -> int:
        """Send a letter until it is answered; the same bytes with the same key each time."""
        if abs(time.time() - letter.created) > _KEY_LIFE:  # drawn in the future: the clock cannot tell
            self._outbox.settle(letter, "refused")
            raise Refused(0, "too_late", "it may be stored already, and would be counted twice", None)
        headers = {"Content-Type": _BINARY, "Idempotency-Key": letter.key}
        status, answer = self._try("POST", f"{self._path}/reports", letter.body, headers)
        if status != 200:
            self._outbox.settle(letter, "refused")
            raise _refusal(status, answer)
        self._outbox.settle(letter, "sent")
        return len(self._cells(letter))

    def _try(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """An answer of the collector: waits and repeats while there is none."""
        reason = ""
        for attempt in range(self._attempts):
            pause = min(_LONGEST_PAUSE, 0.2 * 2**attempt) * (0.5 + random.random())
            try:
                status, wanted, answer = self._wire.exchange(method, path, body, headers or {})
            except (OSError, http.client.HTTPException) as error:
                reason = str(error) or type(error).__name__
            else:
                if status < 500 and status != 429 and not (status == 200 and _content(answer) is None):
                    return status, answer
                reason, pause = f"it answered {status}", max(pause, min(wanted, _LONGEST_PAUSE))
            if attempt + 1 < self._attempts:
                time.sleep(pause)
        raise Undelivered(f"the collector at {self._wire.origin} cannot be reached: {reason}")

    def close(self) -> None:
        """Close the connection; `with` does it by itself."""
        self._wire.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _audited(campaign: dict[str, Any], agreed: float | None) -> Number:
    """The mechanism, if its bytes have the digest that is named and its counted ε is what was agreed to."""
    text = campaign.get("spec")
    if not isinstance(text, str) or digest(text) != campaign.get("digest"):
        raise SpecError("the campaign's spec does not have the digest that the campaign names")
    mechanism = number_from_json(text)
    limit = campaign.get("epsilon") if agreed is None else agreed
    counted = audit(mechanism).epsilon
    if not isinstance(limit, int | float) or counted > limit:
        raise PrivacyError(f"the campaign's exact epsilon is {counted!r}, agreed was epsilon={limit!r}")
    missing, rule = campaign.get("missing"), campaign.get("out_of_range")
    if not isinstance(missing, int | float) or not mechanism.domain.contains(missing):
        raise SpecError("the campaign must name a number inside the domain for missing values")
    if rule not in ("clip", "missing"):
        raise SpecError("the campaign's rule for values out of range must be 'clip' or 'missing'")
    return mechanism


def _content(answer: bytes) -> dict[str, Any] | None:
    """The JSON object that every answer of a collector is; None if it is somebody else's: a proxy's page."""
    try:
        content = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _refusal(status: int, answer: bytes) -> Refused:
    content = _content(answer) or {}
    if not {"code", "message", "field"} <= set(content):
        return Refused(status, "unknown", "the answer is not a collector's", None)
    return Refused(status, str(content["code"]), str(content["message"]), content["field"])


class _Wire:
    """One connection that is kept open and opened again when it was closed."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"url must be like https://collector.example, got url={url!r}")
        self._prefix = parts.path.rstrip("/")
        self.origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{self._prefix}"
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._headers = {"Accept": "application/json", "User-Agent": "sottovoce"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, float, bytes]:
        """(status, seconds to wait if it says so, body), for one thread at a time."""
        if self._pid != os.getpid():  # a forked child talks on a connection of its own
            self._pid, self._lock = os.getpid(), threading.Lock()
            self._connection.close()
        with self._lock:
            try:
                self._connection.request(method, self._prefix + path, body, {**self._headers, **headers})
                response = self._connection.getresponse()
                answer = response.read(_LARGEST_ANSWER)
                wanted = response.getheader("Retry-After", "0")
            except BaseException:
                self._connection.close()
                raise
        return response.status, float(wanted) if wanted.isdigit() else 0.0, answer

    def close(self) -> None:
        self._connection.close()
