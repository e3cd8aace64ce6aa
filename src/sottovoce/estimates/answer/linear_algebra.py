"""One thread of linear algebra for small matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
Answer = TypeVar("Answer")

#: Held by who has set the number of threads, which is the process's.
_guard = Lock()


def single_threaded(work: Callable[P, Answer]) -> Callable[P, Answer]:
    """Make what works with small matrices do so with one thread.

    More cost more than they give, and those of numpy and of scipy, which bring a library each, keep each
    other from the cores. Who comes while somebody is inside, in this thread or in another, finds the number
    as it should be. If that one goes first, the rest takes longer; so this belongs around work of
    milliseconds. Nobody waits: a child that was forked meanwhile finds the guard taken, and one thread.
    """

    @wraps(work)
    def alone(*args: P.args, **kwargs: P.kwargs) -> Answer:
        if not _guard.acquire(blocking=False):
            return work(*args, **kwargs)
        try:
            with _libraries().limit(limits=1, user_api="blas"):
                return work(*args, **kwargs)
        finally:
            _guard.release()

    return alone


@cache
def _libraries() -> Any:
    import scipy.linalg  # noqa: F401 — a library that is loaded later would not be known
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
