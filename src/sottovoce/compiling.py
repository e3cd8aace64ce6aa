"""Whether numba serves a call. Asking does not load it; results are the same without it.

Loading numba and compiling a loop take a second or two, and compiled code is not kept on disk. So one call
with very many values loads it, and whoever streams many small chunks imports numba first.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

_LEAST = 2048  # values: with fewer, numpy is as quick
_WORTH_LOADING = 60_000_000  # values of one call


def available() -> bool:
    """Whether numba is installed, and not switched off by SOTTOVOCE_PLAIN=1."""
    from importlib.util import find_spec

    return find_spec("numba") is not None and not _switched_off()


def load_for(values: int) -> None:
    """Load numba if a call with so many values is worth it, before they are drawn block by block."""
    if values >= _WORTH_LOADING and available():
        import_module("numba")


def compiled(values: int) -> bool:
    """Whether compiled loops draw so many values: numba is loaded, and they are not few."""
    return values >= _LEAST and sys.modules.get("numba") is not None and not _switched_off()


def _switched_off() -> bool:
    return os.environ.get("SOTTOVOCE_PLAIN") == "1"
