"""Where a user's files belong, by the rules of the operating system.

`platformdirs` knows those rules. It is needed for defaults only, and comes with the `analysis` extra: a
device that carries no more than the core caches nothing, and on Linux finds its state folder by itself.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sottovoce.errors import MissingExtra


def cache_folder() -> Path | None:
    """Find the folder for what can be computed again.

    Returns:
        The folder that the environment variable SOTTOVOCE_CACHE names, otherwise the user's cache folder.
        None if nothing is to be kept: SOTTOVOCE_CACHE is empty, there is no home, or no platformdirs.
    """
    named = os.environ.get("SOTTOVOCE_CACHE")
    if named is not None:
        return Path(named).expanduser() if named else None
    try:
        from platformdirs import user_cache_path

        return user_cache_path("sottovoce", appauthor=False)
    except (ImportError, RuntimeError):
        return None


def data_folder() -> Path:
    """Find the folder for what a collector keeps: its store and its secret.

    Returns:
        The folder that the environment variable SOTTOVOCE_DATA names, otherwise the user's data folder.

    Raises:
        RuntimeError: If there is no home.
    """
    from platformdirs import user_data_path

    named = os.environ.get("SOTTOVOCE_DATA")
    return Path(named).expanduser() if named else user_data_path("sottovoce", appauthor=False)


def state_folder() -> Path:
    """Find the folder for what must survive the program, such as reports that wait to be sent.

    Returns:
        The user's state folder.

    Raises:
        RuntimeError: If there is no home.
        MissingExtra: If the rules of this system are not known here.
    """
    try:
        from platformdirs import user_state_path
    except ImportError:
        if sys.platform != "linux":
            raise MissingExtra("a default folder", "analysis") from None
        named = os.environ.get("XDG_STATE_HOME", "").strip()
        return (Path(named) if named else Path("~/.local/state").expanduser()) / "sottovoce"
    return user_state_path("sottovoce", appauthor=False)
