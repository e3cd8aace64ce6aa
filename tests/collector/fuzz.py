"""Random requests: valid ones, broken in many ways. For the test (thousands) and the benchmark (10^6)."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import dataclass

PIECES = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "NaN",
    "1e999",
    "-0",
    "true",
    "null",
    "\x00",
    "é",
    "\ud7ff",
    "9" * 30,
]
KINDS = [
    "application/json",
    "application/vnd.sottovoce.cells",
    "text/plain",
    "",
    "application/json; charset=x",
]
ENCODINGS = ["gzip", "br", "identity", "gzip, gzip", "\t"]
PATHS = ["reports", "close", "tokens", "summary", "estimates", "counts", "spec", "", "%00", "../..", "é"]


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Fuzzer:
    def __init__(self, digest: str, cells: int, seed: int, token: str, width: int = 1) -> None:
        self.digest, self.cells, self.token, self.random = digest, cells, token, random.Random(seed)
        self.width = width  # of a survey, whose questions are all asked and alike

    def request(self) -> Request:
        pick = self.random
        binary = pick.random() < 0.4
        body = self._binary() if binary else self._json()
        headers = {
            "Content-Type": KINDS[1 if binary else 0],
            "Idempotency-Key": f"{pick.getrandbits(128):032x}",
            "Authorization": f"Bearer {self.token}",
        }
        if pick.random() < 0.7:
            body = self._broken(body)
        if pick.random() < 0.1:
            body = gzip.compress(body, 1)
            headers["Content-Encoding"] = "gzip"
            if pick.random() < 0.5:
                body = self._broken(body)
        if pick.random() < 0.1:
            headers["Content-Type"] = pick.choice(KINDS)
        if pick.random() < 0.05:
            headers["Content-Encoding"] = pick.choice(ENCODINGS)
        if pick.random() < 0.05:
            headers["Idempotency-Key"] = self._text(pick.randrange(70))
        if pick.random() < 0.1:
            headers["Authorization"] = pick.choice(["Bearer ", "bearer", "Basic "]) + self._text(48)
        method, path = "POST", "reports"
        if pick.random() < 0.15:
            method, path = (
                pick.choice(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"]),
                pick.choice(PATHS),
            )
        name = "trial" if pick.random() < 0.95 else self._text(pick.randrange(1, 80))
        return Request(method, f"/v1/campaigns/{name}/{path}", headers, body)

    def _cells(self) -> list[list[int]]:
        each = self.cells // self.width
        people = range(self.random.randrange(1, 20))
        return [[i * each + self.random.randrange(each) for i in range(self.width)] for _ in people]

    def _json(self) -> bytes:
        rows = self._cells()
        cells = rows if self.width > 1 else [cell for [cell] in rows]
        return json.dumps({"digest": self.digest, "cells": cells}).encode()

    def _binary(self) -> bytes:
        return bytes.fromhex(self.digest) + b"".join(
            cell.to_bytes(2, "little") for row in self._cells() for cell in row
        )

    def _text(self, length: int) -> str:
        """Printable ASCII that may stand in a header and in a path."""
        return "".join(self.random.choice("abcXYZ019-_.~%2f+") for _ in range(length))

    def _broken(self, body: bytes) -> bytes:
        pick = self.random
        for _ in range(pick.randrange(1, 4)):
            place, kind = pick.randrange(len(body) + 1), pick.randrange(5)
            if kind == 0:
                body = body[:place]
            elif kind == 1 and place < len(body):
                body = body[:place] + bytes([body[place] ^ 1 << pick.randrange(8)]) + body[place + 1 :]
            elif kind == 2:
                body = body[:place] + pick.choice(PIECES).encode() + body[place:]
            elif kind == 3:
                body = body[:place] + pick.randbytes(pick.randrange(9)) + body[place:]
            else:
                body = body[:place] + body[place // 2 :]
        return body
