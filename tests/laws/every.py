"""Every law, discovered: a module of sottovoce.laws that carries a function of its own name."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable

import sottovoce.laws as laws
from sottovoce.laws import Law


def makers() -> dict[str, Callable[..., Law]]:
    names = [module.name for module in pkgutil.iter_modules(laws.__path__)]
    return {name: getattr(laws, name) for name in names if callable(getattr(laws, name, None))}
