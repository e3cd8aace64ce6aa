"""Where a user's files belong, by the rules of the operating system.

`platformdirs` knows those rules. It is needed for defaults only: a device that carries no more than the core
needs caches nothing and gives its state a path.
"""

from __future__ import annotations

import os
from pathlib import Path


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


def state_folder() -> Path:
    """Find the folder for what must survive the program, such as reports that wait to be sent.

    Returns:
        The user's state folder.

    Raises:
        RuntimeError: If there is no home.
    """
    from platformdirs import user_state_path

    return user_state_path("sottovoce", appauthor=False)
