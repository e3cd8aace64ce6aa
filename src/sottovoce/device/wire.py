"""One connection to a collector: requests that are repeated until they are answered."""

from __future__ import annotations

import http.client
import json
import os
import random
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from sottovoce.core.errors import ArgumentError, Coded

_LARGEST_ANSWER = 1 << 24
_LONGEST_PAUSE = 60.0


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
        timeout: How many seconds to wait for an answer.
        attempts: How often a request is sent before giving up.

    Raises:
        ArgumentError: If the address is none.
    """

    def __init__(self, url: str, token: str | None, timeout: float, attempts: int) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ArgumentError(
                f"url must be like https://collector.example, got url={url!r}", code="form", argument="url"
            )
        self._prefix = parts.path.rstrip("/")
        self.origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{self._prefix}"
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)
        self._attempts = attempts
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._headers = {"Accept": "application/json", "User-Agent": "sottovoce"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

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

    def _exchange(
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
