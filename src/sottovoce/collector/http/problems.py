"""Refusals over HTTP, in one shape: a status, and a body of code, message and field."""

from __future__ import annotations

import json

from pydantic import BaseModel
from starlette.responses import Response

from sottovoce.collector.refusals import Refusal

_CODES = {
    400: "malformed duplicate_key too_deep key_missing",
    401: "bad_token",
    403: "wrong_scope not_open_yet",
    404: "not_found unknown_campaign",
    405: "method_not_allowed",
    409: "digest_differs token_spent name_taken",
    410: "closed",
    413: "too_large",
    415: "unsupported_type",
    422: (
        "cell_out_of_range not_an_integer empty_batch one_report_per_token one_report_per_request key_reused "
        "invalid"
    ),
    429: "rate_limited",
    500: "internal",
    503: "busy clock_unconfirmed estimates_unavailable store_unavailable",
}
STATUS = {code: status for status, codes in _CODES.items() for code in codes.split()}
#: Arguments that travel in a header.
_HEADERS = {"key": "Idempotency-Key", "token": "Authorization"}


class ErrorShape(BaseModel):
    """Every answer that is not a success."""

    code: str
    message: str
    field: str | None


def answer(refusal: Refusal) -> Response:
    """The answer to a request that is refused: code, message and field as JSON, with the code's status."""
    headers = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
    if STATUS[refusal.code] == 401:
        headers["WWW-Authenticate"] = "Bearer"
    field = None if refusal.argument is None else _HEADERS.get(refusal.argument, refusal.argument)
    body = json.dumps({"code": refusal.code, "message": str(refusal), "field": field})
    return Response(body, STATUS[refusal.code], headers, media_type="application/json")
