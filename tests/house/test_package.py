"""The package itself: quick to import, light, its public names in one place, its files in order."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import sottovoce as sv
from sottovoce import _HOME, _NAMES, _PARTS

ROOT = Path(sv.__file__).parent

CORE = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {'numba', 'typer', 'matplotlib', 'pyarrow', 'pandas', 'pyspark', 'fastapi'}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Refuse())
import os
os.environ['SOTTOVOCE_PLAIN'] = '1'
import sottovoce as sv
m = sv.sw(epsilon=1.0, domain=(0, 24))
assert m.report([1.0, 2.0]).shape == (2,)
assert sv.audit(sv.from_json(m.to_json())).holds
heavy = {'scipy.optimize', 'scipy.stats', 'numba', 'matplotlib'} & set(sys.modules)
assert not heavy, heavy
"""


def test_the_core_needs_only_the_core() -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", CORE], check=True)


def test_lazy_names_and_typed_names_agree() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        alias.name: node.module.removeprefix("sottovoce.")
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if node.module != "sottovoce"
    }
    assert typed == _HOME
    assert list(_NAMES) == sorted(_NAMES)
    for name in (*sv.__all__, *_PARTS):
        assert getattr(sv, name) is not None
    assert set(sv.__all__) <= set(dir(sv))


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(sv, "no_such_name")


def test_few_reports_do_not_wait_for_numba() -> None:
    code = """
import sys, numpy as np, sottovoce as sv
for m in (sv.ogpm(1.0), sv.two_scale(1.0)):
    m.report(0.5)
    m.report(np.full(20_000, 0.1))
for _ in range(40):
    m.report(np.full(1 << 19, 0.1))
print("numba" in sys.modules)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False"]


def test_a_first_report_loads_no_fractions_and_no_types() -> None:
    """Each takes a twentieth or more of the time that a device needs for it after numpy."""
    code = """
import sys, sottovoce as sv
{}
print(*{{'fractions', 'decimal', 'numpy.typing', 'scipy', 'cryptography', 'threading'}} & set(sys.modules))
"""
    spec = sv.optimal(1.0).to_json()
    for report in (
        "sv.ogpm(1.0).report(0.5)",
        "sv.sw(1.0).report(0.5)",
        f"sv.from_json({spec!r}).report(0.5)",
    ):
        run = subprocess.run([sys.executable, "-c", code.format(report)], capture_output=True, text=True)
        assert (run.stdout, run.stderr) == ("\n", ""), report
