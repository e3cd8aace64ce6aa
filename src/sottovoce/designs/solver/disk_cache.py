"""What took long to compute, kept in files: a search costs a second, a file a millisecond.

    data = cache.load("designs", question)
    cache.store("designs", question, data)

A file's name is the digest of the question and of the library's version, so a new version never reads an old
file. Writers put a temporary file beside it and rename: a reader sees a whole file or none, and of two
writers of the same answer either may win. A cache is never a reason to fail: what cannot be read is computed
again, what cannot be written is not kept. SOTTOVOCE_CACHE names another folder; empty, it turns every cache
off.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

from sottovoce._version import __version__
from sottovoce.storage.folders import cache_folder

_LAYOUT = 7  # of what is stored, and of designs; files of another one are not read


def load(kind: str, question: object) -> bytes | None:
    """Read what was stored for a question.

    Args:
        kind: The subfolder, such as "designs".
        question: All that the answer depends on, in what JSON can write.

    Returns:
        The stored bytes, not to be trusted more than any file, or None if there are none.
    """
    file = _file(kind, question)
    try:
        return None if file is None else file.read_bytes()
    except OSError:
        return None


def store(kind: str, question: object, data: bytes) -> None:
    """Keep an answer, unless caching is off or the folder cannot be written to.

    Args:
        kind: The subfolder, such as "designs".
        question: All that the answer depends on, in what JSON can write.
        data: The answer.
    """
    file = _file(kind, question)
    if file is None:
        return
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as temporary:
                temporary.write(data)
            os.replace(name, file)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise


def _file(kind: str, question: object) -> Path | None:
    folder = cache_folder()
    if folder is None:
        return None
    text = json.dumps([__version__, _LAYOUT, question], sort_keys=True)
    return folder / kind / hashlib.sha256(text.encode()).hexdigest()[:32]
