"""The canonical text of a spec, and its digest.

Keys sorted, no spaces, shortest round-trip floats. The text holds resolved numbers only: nothing in it names
code.

A spec of one number may have one more key, "task": the question that it was made for, such as "mean". It is
there for people and estimates, changes nothing, and is no part of the digest. Formats keep their words: what
is a probability everywhere else is a "share" there.
"""

from __future__ import annotations

import re
from typing import Any

from sottovoce.errors import SpecError
from sottovoce.wire.checked_json import excerpt

WINDOW = "window/1"
MIXTURE = "mixture/1"
ROWS = "rows/1"
TRANSLATES = "translates/1"
POLAR = "polar/1"
SURVEY = "survey/1"
#: Questions that have another name in a spec.
TASKS = {"probability": "share"}
_TASK = "[a-z][a-z ]{0,30}"
#: A task in a canonical text. It is never the first key, and no string of valid JSON holds a bare quote.
_WRITTEN_TASK = f',"task":"{_TASK}"'


def canonical(content: dict[str, Any], task: str | None = None) -> str:
    """The canonical text of a spec: keys sorted, no spaces, shortest round-trip floats."""
    if task is not None:
        content = {**content, "task": _as_task(TASKS.get(task, task))}
    import json

    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def untasked(text: str) -> str:
    """The canonical text without the tasks in it: what identifies a mechanism."""
    return re.sub(_WRITTEN_TASK, "", text)


def read_task(content: dict[str, Any]) -> str | None:
    """The question that a spec says it was made for: words, nothing depends on them."""
    if "task" not in content:
        return None
    task = _as_task(content["task"])
    return next((question for question, written in TASKS.items() if written == task), task)


def _as_task(task: Any) -> str:
    if not isinstance(task, str) or not re.fullmatch(_TASK, task):
        raise SpecError(f"task must be a few lowercase letters, got {excerpt(task)}", argument="task")
    return task


def digest(text: str) -> str:
    """SHA-256 of the canonical text without its tasks, in hexadecimal."""
    import hashlib  # it loads OpenSSL, 4 MB that drawing a report does not need

    return hashlib.sha256(untasked(text).encode()).hexdigest()
