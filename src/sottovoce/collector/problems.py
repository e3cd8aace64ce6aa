"""Everything the collector refuses, in one shape: a status, and a body of code, message and field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

#: code → (status, the sentence when the place that refuses has nothing more exact to say)
CODES: dict[str, tuple[int, str]] = {
    "malformed": (400, "the body is not what its content type says"),
    "duplicate_key": (400, "an object has the same key twice"),
    "too_deep": (400, "the body is nested too deeply"),
    "key_missing": (400, "a report needs an Idempotency-Key of 22 to 64 characters of A-Z a-z 0-9 _ -"),
    "bad_token": (401, "a valid bearer token is needed"),
    "wrong_scope": (403, "this token is not for that"),
    "not_open_yet": (403, "the campaign is not open yet"),
    "not_found": (404, "there is nothing here"),
    "unknown_campaign": (404, "there is no campaign of that name"),
    "method_not_allowed": (405, "that method is not for this path"),
    "digest_differs": (409, "the report was made with another mechanism than the campaign's"),
    "token_spent": (409, "this enrolment token has already reported"),
    "name_taken": (409, "there is already a campaign of that name"),
    "closed": (410, "the campaign is closed"),
    "too_large": (413, "the body is larger than allowed"),
    "unsupported_type": (415, "the content type or encoding is not supported here"),
    "cell_out_of_range": (422, "a cell is not one of the mechanism's"),
    "not_an_integer": (422, "cells must be integers"),
    "empty_batch": (422, "a batch needs at least one report"),
    "one_report_per_token": (422, "an enrolment token is good for one report"),
    "key_reused": (422, "this idempotency key came with another body before"),
    "invalid": (422, "a field breaks its rule"),
    "rate_limited": (429, "too many requests from this address"),
    "internal": (500, "the collector failed; nothing was acknowledged"),
    "busy": (503, "the collector is busy; nothing was stored, try again"),
    "estimates_unavailable": (503, "the estimates cannot be computed now; try again"),
    "store_unavailable": (503, "the store cannot write now; nothing was stored, try again"),
}


class Refusal(Exception):
    """A request that is refused; raised anywhere, answered in one place."""

    def __init__(
        self,
        code: str,
        message: str | None = None,
        field: str | None = None,
        *,
        retry_after: int | None = None,
        close: bool = False,
    ) -> None:
        self.status, default = CODES[code]
        self.code, self.message, self.field = code, message or default, field
        self.retry_after, self.close = retry_after, close
        super().__init__(self.message)

    def response(self) -> Response:
        headers = {"Retry-After": str(self.retry_after)} if self.retry_after is not None else {}
        if self.close:
            headers["Connection"] = "close"
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        body = {"code": self.code, "message": self.message, "field": self.field}
        return json_response(body, self.status, headers)


#: What pydantic found → the rule, in the words of every other refusal; `{…}` is of its context.
_RULES = {
    "missing": "is needed",
    "model_type": "must be an object",
    "extra_forbidden": "is not a field here",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "string_type": "must be a string",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "value_error": "{error}",
}


def broken_rule(found: Mapping[str, Any]) -> Refusal:
    """The refusal for the first thing that pydantic found wrong: field and rule, never the value."""
    field = str(found["loc"][-1]) if found["loc"] else "body"
    rule = _RULES.get(found["type"], "breaks its rule").format(**found.get("ctx", {}))
    return Refusal("invalid", f"{field} {rule}", field)


def json_response(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(content, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return Response(body, status, headers, media_type="application/json")
