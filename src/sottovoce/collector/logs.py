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

from sottovoce.errors import one_of

logger = logging.getLogger("sottovoce.collector")
_OWN = ("sottovoce", "uvicorn")  # uvicorn's own lines are about the process


class JsonLines(logging.Formatter):
    """Each record as one JSON object; exceptions by type and place, without their words.

    Of other libraries' records only the logger and the place are told: their words may quote anything.
    """

    def format(self, record: logging.LogRecord) -> str:
        moment = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds")
        content = {"time": moment, "level": record.levelname.lower()}
        if record.name.partition(".")[0] in _OWN:
            content |= {"event": record.getMessage(), **getattr(record, "fields", {})}
        else:
            content |= {"event": "library", "logger": record.name, "at": f"{record.funcName}:{record.lineno}"}
        if record.exc_info and record.exc_info[0] is not None:
            places = traceback.extract_tb(record.exc_info[2])[-3:]
            content["error"] = record.exc_info[0].__name__
            content["at"] = " < ".join(f"{place.name}:{place.lineno}" for place in reversed(places))
        return json.dumps(content)


def configure(level: str = "info") -> None:
    """Log to standard error; records of uvicorn and of every other library take the same form."""
    one_of(level, "log_level", ("debug", "info", "warning", "error"))
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.getLogger().handlers = [handler]
    for name in ("sottovoce.collector", "uvicorn", "uvicorn.error"):
        chosen = logging.getLogger(name)
        chosen.handlers, chosen.propagate = [], True
        chosen.setLevel(level.upper())


def event(name: str, fields: Mapping[str, object] | None = None, level: int = logging.INFO) -> None:
    """Log that something happened; `fields` are about the service."""
    logger.log(level, name, extra={"fields": fields or {}})
