"""Bodies: read up to a cap, decompressed up to the same cap, counted, and only then parsed."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request

from sottovoce.collector.refusals import Refusal
from sottovoce.errors import DataError, SpecError
from sottovoce.reporters.contract import Reporter
from sottovoce.wire.checked_json import parse_json

JSON, BINARY = "application/json", "application/vnd.sottovoce.cells"
_DIGEST_BYTES = 32
#: The most bytes of reports as JSON, which takes a thousand times longer to read than the binary form.
MOST_JSON = 1 << 16


async def read(request: Request, limit: int) -> bytes:
    """The body as it was sent, never more than `limit` bytes in memory."""
    declared = request.headers.get("content-length")
    if declared is not None and declared.isdecimal() and int(declared[:20]) > limit:
        raise _too_large(limit)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        parts.append(part)
    return b"".join(parts)


def encoding(request: Request) -> str:
    """How the body is packed: "gzip" or not at all ("")."""
    name = request.headers.get("content-encoding", "").strip().lower()
    if name not in ("", "identity", "gzip"):
        raise Refusal("unsupported_type", "content encoding must be gzip or none", "Content-Encoding")
    return name.replace("identity", "")


def unpacked(body: bytes, packed: str, limit: int) -> bytes:
    """The body after decompression, never more than `limit` bytes."""
    return _gunzip(body, limit) if packed else body


def _gunzip(body: bytes, limit: int) -> bytes:
    stream = zlib.decompressobj(wbits=31)
    try:
        out = stream.decompress(body, limit + 1)
    except zlib.error:
        raise Refusal("malformed", "the body is not valid gzip", "body") from None
    if len(out) > limit:
        raise _too_large(limit)
    if not stream.eof or stream.unused_data:
        raise Refusal("malformed", "the body must be one complete gzip stream", "body")
    return out


def _too_large(limit: int) -> Refusal:
    return Refusal("too_large", f"the body must have at most {limit} bytes, also when decompressed", "body")


def content_type(request: Request, *allowed: str) -> str:
    """The media type, one of those allowed."""
    given = request.headers.get("content-type", "")
    kind, _, parameters = given.partition(";")
    kind = kind.strip().lower()
    charset = parameters.strip().lower().replace('"', "").removeprefix("charset=")
    if kind not in allowed or charset not in ("", "utf-8", "utf8"):
        raise Refusal("unsupported_type", f"content type must be {' or '.join(allowed)}", "Content-Type")
    return kind


def strict_json(body: bytes) -> Any:
    """JSON in UTF-8 without duplicate keys, NaN, infinities or bottomless nesting."""
    try:
        return parse_json(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise Refusal("malformed", "the body must be UTF-8", "body") from None
    except SpecError as error:
        if error.code in ("duplicate_key", "too_deep"):
            raise Refusal(error.code, argument="body") from None
        # The parser's own words may quote the body; a refusal never does.
        rule = "the body must be valid JSON; numbers finite, integers of at most 20 digits"
        raise Refusal("malformed", rule, "body") from None


@dataclass(frozen=True)
class Room:
    """How much a request may hold: bytes, also when decompressed, and reports. `excess` refuses more."""

    bytes: int
    reports: int
    excess: Refusal


def reports(kind: str, body: bytes, reporter: Reporter, room: Room) -> NDArray[np.int64]:
    """The reports of a body of a media type, checked against their reporter: a cell each, or a row.

    JSON is counted before it is parsed: there are as many commas as integers.
    """
    if kind == JSON:
        if len(body) > MOST_JSON:
            rule = f"JSON must have at most {MOST_JSON} bytes: larger batches are binary"
            raise Refusal("too_large", rule, "body")
        if body.count(b",") > room.reports * reporter.width:
            raise room.excess
    digest, cells = _binary(body, reporter) if kind == BINARY else _json(body, reporter)
    if digest != reporter.digest:
        raise Refusal("digest_differs", argument="digest")
    if len(cells) == 0:
        raise Refusal("empty_batch", argument="cells")
    if len(cells) > room.reports:
        raise room.excess
    try:
        return reporter.checked(cells)
    except DataError as error:
        raise Refusal("cell_out_of_range", str(error), "cells") from None


def _json(body: bytes, reporter: Reporter) -> tuple[str, NDArray[Any]]:
    content = strict_json(body)
    if not isinstance(content, dict) or set(content) != {"digest", "cells"}:
        raise Refusal("malformed", "the body must be an object with the keys digest and cells", "body")
    digest, cells = content["digest"], content["cells"]
    if not isinstance(digest, str):
        raise Refusal("malformed", "digest must be a string", "digest")
    if not isinstance(cells, list):
        raise Refusal("malformed", "cells must be a list", "cells")
    width = reporter.width
    if width > 1:
        if not all(isinstance(row, list) and len(row) == width for row in cells):
            raise Refusal("malformed", f"cells must be lists of {width}, one for each report", "cells")
        cells = [cell for row in cells for cell in row]
    wrong = [index for index, cell in enumerate(cells) if type(cell) is not int]
    if wrong:
        rule = f"{len(wrong)} of {len(cells)} are not, the first at index {wrong[0]}"
        raise Refusal("not_an_integer", f"cells must be integers: {rule}", "cells")
    # Beyond 64 bits every integer is out of range alike.
    bounded = np.array([min(max(cell, -1), 1 << 40) for cell in cells], dtype=np.int64)
    return digest, _by_report(bounded, width)


def _binary(body: bytes, reporter: Reporter) -> tuple[str, NDArray[Any]]:
    dtype, width = reporter.dtype.newbyteorder("<"), reporter.width
    if len(body) < _DIGEST_BYTES or (len(body) - _DIGEST_BYTES) % (dtype.itemsize * width):
        rule = f"a binary body is a digest of 32 bytes and reports of {width} × {dtype.itemsize}"
        raise Refusal("malformed", rule, "body")
    return body[:_DIGEST_BYTES].hex(), _by_report(np.frombuffer(body, dtype, offset=_DIGEST_BYTES), width)


def _by_report(cells: NDArray[Any], width: int) -> NDArray[Any]:
    """A cell per report, or a row of them."""
    return cells if width == 1 else cells.reshape(-1, width)
