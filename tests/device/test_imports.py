"""A device carries the core and nothing that designs, estimates or plans."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.core.survey import Survey

#: What may be loaded of ours, besides the package itself.
OURS = ("sottovoce._version", "sottovoce.core", "sottovoce.device")
#: What must not be, of others. Where numba is installed the compiled kernels load it, and scipy with it.
OTHERS = ("numba", "scipy", "pandas", "pyarrow", "matplotlib")

LEDGER = """
ledger = sv.Ledger(folder + "/ledger.db", budget=9)
for name, text in specs.items():
    ledger.enrol(name, sv.from_json(text))
    assert ledger.report(name, None).cells
ledger.enrol("kept", sv.from_json(specs["number"]), repeat="bins", draws=2, again=0.25, sends=3)
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
    box.put_single(name, bytes(inquiry.draw(inquiry.judge(None))))
"""


@pytest.mark.parametrize("work", [LEDGER, CLIENT], ids=["ledger", "client"])
def test_what_a_device_loads(tmp_path: Path, work: str) -> None:
    number = sv.ogpm(0.5, (0, 24), cells=8)
    specs = {
        "number": number.to_json(),
        "coin": sv.two_scale(epsilon=1.0, cells=64).to_json(),
        "survey": Survey(0.5, {"a": number, "b": number}, 1).to_json(),
    }
    code = (
        "import json, sys\nimport sottovoce as sv\n"
        f"folder, specs = {str(tmp_path)!r}, {specs!r}\n{work}\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    environment = {**os.environ, "SOTTOVOCE_PLAIN": "1"}
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
    )
    modules = json.loads(run.stdout.splitlines()[-1])
    ours = [name for name in modules if name.startswith("sottovoce.") and not name.startswith(OURS)]
    others = [name for name in modules if name.partition(".")[0] in OTHERS]
    assert (ours, others) == ([], [])
    assert "sottovoce.device.inquiry" in modules  # the check sees what is loaded
