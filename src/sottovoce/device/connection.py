"""One connection to a collector: requests that are repeated until they are answered."""

from __future__ import annotations

import http.client
import json
import os
import queue
import random
import re
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from sottovoce.device.address import Origin
from sottovoce.errors import Coded

_LARGEST_ANSWER = 1 << 24
_LONGEST_PAUSE = 60.0
_BEAT = 0.25  # seconds

#: Status, seconds to wait if the collector says so, body.
Answer = tuple[int, float, bytes]


def await_beat(start: float) -> None:
    """Wait for a moment that was fixed before a value was looked at.

    What was drawn leaves a whole number of quarter seconds after `start`. Randomising takes a few thousandths
    of a second, and when the report leaves does not tell how many.

    Args:
        start: `time.monotonic()` before the value was randomised.
    """
    late = (time.monotonic() - start) % _BEAT
    time.sleep(_BEAT - late)


class Refused(Coded, ValueError):
    """The collector refused for good; repeating the request would not help.

    Attributes:
        status: The HTTP status, 0 if nothing was sent.
        code: What is wrong, in the collector's words, such as "token_spent".
        argument: The field that it is about, or None.
    """

    def __init__(self, status: int, code: str, message: str, field: str | None) -> None:
        super().__init__(f"the collector refused ({status} {code}): {message}", code=code, argument=field)
        self.status = status


class Undelivered(Coded, OSError):
    """The collector could not be reached; what was drawn is recorded, and `flush()` sends it later."""

    code = "unreachable"


class Wire:
    """A connection that is kept open, and opened again when it was closed.

    Args:
        url: The collector's address.
        token: An enrolment or write token.
        timeout: How many seconds a request and its whole answer may take.
        attempts: How often a request is sent before giving up.

    Raises:
        ArgumentError: If the address is none.
    """

    def __init__(self, url: str, token: str | None, timeout: float, attempts: int) -> None:
        self.origin = Origin.parse(url)
        self._timeout, self._attempts = timeout, attempts
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._connection = self._connect()
        self._socket: socket.socket | None = None
        self._headers = {"Accept": "application/json", "User-Agent": "sottovoce"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def _connect(self) -> http.client.HTTPConnection:
        https = self.origin.scheme == "https"
        kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
        return kind(self.origin.host, self.origin.port, timeout=self._timeout)

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> bytes:
        """The collector's answer to a request; waits and repeats while there is none.

        Args:
            method: GET or POST.
            path: What is asked for.
            body: What is sent.
            headers: Further headers.

        Returns:
            The body of a successful answer, a JSON object.

        Raises:
            Refused: If the collector refuses for good.
            Undelivered: If it does not answer, or only that it cannot now.
        """
        reason = ""
        for attempt in range(self._attempts):
            pause = min(_LONGEST_PAUSE, 0.2 * 2**attempt) * (0.5 + random.random())
            try:
                status, wanted, answer = self._exchange(method, path, body, headers or {})
            except (OSError, http.client.HTTPException) as error:
                reason = str(error) or type(error).__name__
            else:
                # An answer that is no JSON object is somebody else's: a proxy's page.
                if status == 200 and _content(answer) is not None:
                    return answer
                if status != 200 and status < 500 and status != 429:
                    raise _refusal(status, answer)
                reason, pause = f"it answered {status}", max(pause, min(wanted, _LONGEST_PAUSE))
            if attempt + 1 < self._attempts:
                time.sleep(pause)
        raise Undelivered(f"the collector at {self.origin} cannot be reached: {reason}")

    def _exchange(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        """One request and its answer, for one thread at a time, within the timeout whatever happens.

        The timeout of a socket is for each read: somebody who sends a byte now and then could hold it for
        ever. So another thread talks, and is left alone with its connection when the time is over.
        """
        if self._pid != os.getpid():  # a forked child talks on a connection of its own
            self._pid, self._lock = os.getpid(), threading.Lock()
            self._connection = self._connect()
        request = (method, self.origin.prefix + path, body, {**self._headers, **headers})
        answers: queue.SimpleQueue[Answer | Exception] = queue.SimpleQueue()
        with self._lock:
            threading.Thread(
                target=self._talk, args=(self._connection, request, answers), daemon=True
            ).start()
            try:
                answer = answers.get(timeout=self._timeout)
            except BaseException as error:
                late, self._connection = self._connection, self._connect()
                if not answers.empty():  # just now: the other thread is done with its connection
                    late.close()
                elif self._socket is not None:  # wake it; closing under it could wait for it
                    with suppress(OSError):
                        self._socket.shutdown(socket.SHUT_RDWR)
                if isinstance(error, queue.Empty):
                    raise TimeoutError(f"no whole answer within {self._timeout:g} seconds") from None
                raise
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _talk(
        self,
        connection: http.client.HTTPConnection,
        request: tuple[str, str, bytes | None, dict[str, str]],
        answers: queue.SimpleQueue[Answer | Exception],
    ) -> None:
        """Send a request on a connection, and put down the answer or what went wrong."""
        try:
            if connection.sock is None:
                connection.connect()
            if connection is not self._connection:
                raise TimeoutError  # nobody waits any more
            self._socket = connection.sock
            connection.request(*request)
            response = connection.getresponse()
            content = response.read(_LARGEST_ANSWER)
            wanted = response.getheader("Retry-After", "")
            pause = float(wanted) if re.fullmatch("[0-9]{1,9}", wanted) else 0.0
            answers.put((response.status, pause, content))
        except Exception as error:
            connection.close()
            answers.put(error)
        if connection is not self._connection:  # nobody waits any more
            connection.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _content(answer: bytes) -> dict[str, Any] | None:
    """The JSON object that every answer of a collector is; None if it is none."""
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
