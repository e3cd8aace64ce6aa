"""What the collector refuses, by code. Nothing here knows HTTP: `http.problems` makes answers of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sottovoce.errors import Coded

#: code → the sentence when the place that refuses has nothing more exact to say
SENTENCES = {
    "malformed": "the body is not what its content type says",
    "duplicate_key": "an object has the same key twice",
    "too_deep": "the body is nested too deeply",
    "key_missing": "a report needs an Idempotency-Key of 22 to 64 characters of A-Z a-z 0-9 _ -",
    "bad_token": "a valid bearer token is needed",
    "wrong_scope": "this token is not for that",
    "not_open_yet": "the campaign is not open yet",
    "not_found": "there is nothing here",
    "unknown_campaign": "there is no campaign of that name",
    "method_not_allowed": "that method is not for this path",
    "digest_differs": "the report was made with another mechanism than the campaign's",
    "token_spent": "this enrolment token has already reported",
    "name_taken": "there is already a campaign of that name",
    "closed": "the campaign is closed",
    "too_large": "the body is larger than allowed",
    "unsupported_type": "the content type or encoding is not supported here",
    "cell_out_of_range": "a cell is not one of the mechanism's",
    "not_an_integer": "cells must be integers",
    "empty_batch": "a batch needs at least one report",
    "one_report_per_token": "an enrolment token is good for one report",
    "one_report_per_request": "a request to an open campaign holds one report",
    "key_reused": "this idempotency key came with another body before",
    "invalid": "a field breaks its rule",
    "rate_limited": "too many requests from this address",
    "internal": "the collector failed; nothing was acknowledged",
    "busy": "the collector is busy; nothing was stored, try again",
    "estimates_unavailable": "the estimates cannot be computed now; try again",
    "clock_unconfirmed": "the collector's clock is in doubt; nothing was stored, try again later",
    "store_unavailable": "the store cannot write now; nothing was stored, try again",
}


class Refusal(Coded, ValueError):
    """Something that is not carried out.

    Args:
        code: Why, as programs read it: a key of `SENTENCES`.
        message: Why, as people read it; the code's own sentence if not given.
        argument: Which part of what was asked is to blame.
        retry_after: The seconds after which the same may succeed; None if it never will.
    """

    def __init__(
        self,
        code: str,
        message: str | None = None,
        argument: str | None = None,
        *,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message or SENTENCES[code], code=code, argument=argument)
        self.retry_after = retry_after


#: What pydantic found → the rule, in the words of every other refusal; `{…}` is of its context.
_RULES = {
    "missing": "is needed",
    "model_attributes_type": "must be an object",
    "extra_forbidden": "is not a field here",
    "literal_error": "must be {expected}",
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


def broken_rule(fault: Mapping[str, Any]) -> Refusal:
    """The refusal for one of the errors of a ValidationError: field and rule, never the value."""
    path = [part for part in fault["loc"] if part not in ("body", "query")]
    field = str(path[0]) if path else "body"  # what follows says which of several types was tried
    rule = _RULES.get(fault["type"], "breaks its rule").format(**fault.get("ctx", {}))
    return Refusal("invalid", f"{field} {rule}", field)
