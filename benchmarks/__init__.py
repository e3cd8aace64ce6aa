"""Measurements: see `python -m benchmarks`. Compiled loops are measured, not how they are loaded."""

from importlib import import_module

from sottovoce.core.kernels import compiled_available

if compiled_available():
    import_module("sottovoce.core.kernels.compiled")
