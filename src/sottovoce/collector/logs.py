"""Structured logs: one JSON object per line, about the service and never about a person.

A line holds the route's pattern (not the path as sent), status, code and duration. No address, no user
agent, no query, no header, no body, no token.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
import traceback
from collections.abc import Mapping

logger = logging.getLogger("sottovoce.collector")


class JsonLines(logging.Formatter):
    """Each record as one JSON object; exceptions by type and place, without their words."""

    def format(self, record: logging.LogRecord) -> str:
        moment = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds")
        content = {"time": moment, "level": record.levelname.lower(), "event": record.getMessage()}
        content |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0] is not None:
            places = traceback.extract_tb(record.exc_info[2])[-3:]
            content["error"] = record.exc_info[0].__name__
            content["at"] = " < ".join(f"{place.name}:{place.lineno}" for place in reversed(places))
        return json.dumps(content)


def configure(level: str = "info") -> None:
    """Log to standard error; uvicorn's own records take the same form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("sottovoce.collector", "uvicorn", "uvicorn.error"):
        chosen = logging.getLogger(name)
        chosen.handlers, chosen.propagate = [handler], False
        chosen.setLevel(level.upper())
    logging.getLogger("uvicorn.error").handlers = []
    logging.getLogger("uvicorn.error").propagate = True


def event(name: str, fields: Mapping[str, object] | None = None, level: int = logging.INFO) -> None:
    logger.log(level, name, extra={"fields": fields or {}})
