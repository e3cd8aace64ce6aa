"""`make bench`: measurements as ratios within one run, never tests.

    python -m benchmarks              what there is, and the sampling benchmark
    python -m benchmarks NAME …       these
    python -m benchmarks all          everything

A module of this package with a `main()` is a benchmark; the first line of its docstring says what it shows.
"""

from __future__ import annotations

import importlib
import pkgutil
import platform
import sys

import numpy

import benchmarks


def available() -> dict[str, str]:
    """Names and first lines of every benchmark."""
    found = {}
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if module.name.startswith("_"):
            continue
        loaded = importlib.import_module(f"benchmarks.{module.name}")
        if hasattr(loaded, "main"):
            found[module.name] = (loaded.__doc__ or "").strip().split("\n")[0]
    return found


def describe_machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, Python {platform.python_version()}, numpy {numpy.__version__}"


def main(wanted: list[str]) -> None:
    names = available()
    unknown = sorted(set(wanted) - set(names) - {"all"})
    if unknown:
        raise SystemExit(f"no benchmark named {unknown[0]!r}; there are: {', '.join(names)}")
    print(describe_machine())
    if not wanted:
        for name, line in names.items():
            print(f"  {name:<18} {line}")
        wanted = ["sampling"]
    for name in names if "all" in wanted else wanted:
        print(f"\n== {name}: {names[name]}")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
