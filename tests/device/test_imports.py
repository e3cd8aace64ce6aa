"""A device carries what reports and nothing that designs, estimates or plans."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.house.order import ONLY

import sottovoce as sv
from sottovoce.reporters.composites.survey import Survey
from sottovoce.reporters.number import Number

BARE = Path(__file__).parents[2] / "tools" / "bare.py"

#: What may be loaded of ours, besides the package itself.
OURS = tuple(f"sottovoce.{part}" for part in ONLY["device"])
#: What must not be, of others.
OTHERS = ("numba", "scipy", "platformdirs", "pandas", "pyarrow", "matplotlib")
#: One report, from import to cell, and what the process took for it.
REPORT = """
m = sv.from_json(specs["number"])
assert m.report(7.5) < m.cells
"""
PEAK = """
with open("/proc/self/status") as status:
    print(*(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))
"""

LEDGER = """
ledger = sv.Ledger(folder + "/ledger.db", budget=9)
for name, text in specs.items():
    ledger.enrol(name, sv.from_json(text))
    assert ledger.report(name, None).cells
ledger.enrol("kept", sv.from_json(specs["few"]), repeat="bins", draws=2, again=0.25, sends=3)
ledger.report("kept", 3.0)
print(ledger)
"""
CLIENT = """
from sottovoce.device.inquiry import Inquiry
from sottovoce.device.outbox import Outbox
try:
    sv.Client("http://127.0.0.1:9", "none", epsilon=1.0, attempts=1)
except OSError:
    pass
box = Outbox(folder + "/outbox.db")
for name, text in specs.items():
    inquiry = Inquiry.of(sv.from_json(text), "uniform", "clip")
    box.put_single(name, str(inquiry.draw(inquiry.judge(None))).encode())
"""


@pytest.fixture(scope="module")
def specs() -> dict[str, str]:
    number = sv.ogpm(0.5, (0, 24), cells=8)
    return {
        "number": sv.ogpm(1.0, (0, 24)).to_json(),
        "few": number.to_json(),
        "coin": sv.two_scale(epsilon=1.0, cells=64).to_json(),
        "survey": Survey(0.5, {"a": number, "b": number}, 1).to_json(),
    }


def run(code: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("work", [REPORT, LEDGER, CLIENT], ids=["report", "ledger", "client"])
def test_what_a_device_loads(tmp_path: Path, specs: dict[str, str], work: str) -> None:
    """Also where numba is installed: a few reports do not start it."""
    code = (
        "import json, sys\nimport sottovoce as sv\n"
        f"folder, specs = {str(tmp_path)!r}, {specs!r}\n{work}\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    modules = json.loads(run(code, SOTTOVOCE_PLAIN="0")[-1])
    ours = [name for name in modules if name.startswith("sottovoce.") and not name.startswith(OURS)]
    others = [name for name in modules if name.partition(".")[0] in OTHERS]
    assert (ours, others) == ([], [])
    assert "sottovoce.reporters.number" in modules  # the check sees what is loaded
    if work == REPORT:
        slow = {"fractions", "decimal", "threading"}  # of the standard library: milliseconds
        assert not (
            {"numpy.random", "numpy.ma", "hashlib", "ssl", "sqlite3", "cryptography", "html"} | slow
        ) & set(modules)
        unused = (
            "law.moments",
            "law.operator",
            "sampling.numba_loops",
            "mixture",
            "rows",
            "composites.survey",
            "translates",
        )
        assert not {f"sottovoce.reporters.{name}" for name in unused} & set(modules)


def test_the_memory_of_one_report(specs: dict[str, str]) -> None:
    """At most 40 MB where numpy alone takes 25; a designer or an estimate does not fit into that."""
    numpy = float(run("import numpy" + PEAK)[0])
    report = float(run(f"import sottovoce as sv\nspecs = {specs!r}{REPORT}{PEAK}")[0])
    designer = float(run(f"import sottovoce as sv\nimport scipy.optimize\n{PEAK}")[0])
    assert report - numpy < 15
    assert designer - numpy > 15


def test_a_device_with_nothing_else_installed(tmp_path: Path) -> None:
    absent = dict.fromkeys(("scipy", "numba", "platformdirs", "pyarrow", "pandas", "matplotlib", "typer"))
    code = (
        f"import runpy, sys; sys.modules.update({absent}); runpy.run_path({str(BARE)!r}, run_name='__main__')"
    )
    environment = {"SOTTOVOCE_CACHE": "", "XDG_STATE_HOME": str(tmp_path)}
    assert run(code, **environment) == ["a device needs numpy and cryptography only"]


def test_a_few_reports_are_bit_for_bit_those_of_many(specs: dict[str, str]) -> None:
    """The plain path of single reports and the compiled one of arrays: same words, same cells."""
    values, words = np.linspace(0, 24, 3000), np.random.default_rng(1).integers(0, 2**64, 3000, np.uint64)
    for name in ("number", "few"):
        m = sv.from_json(specs[name])
        assert isinstance(m, Number)
        single = [int(m.report_from(words[i : i + 1], values[i : i + 1])[0]) for i in range(3000)]
        assert m.report_from(words, values).tolist() == single
