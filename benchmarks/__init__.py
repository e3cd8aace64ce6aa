"""Measurements: see `python -m benchmarks`. Compiled loops are measured, not how they are loaded."""

from importlib import import_module

from sottovoce import compiling

if compiling.available():
    import_module("numba")
