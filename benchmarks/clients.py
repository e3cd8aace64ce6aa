"""Clients side by side: bundle sizes and times, the time from start to the first cell, reports per second.

    make clients/js/matrix/node_modules
    python benchmarks/clients.py --output benchmarks/results/clients.json

"app" is one with client and ledger, "lean" one that reads a spec and randomises. The first cell is the wall
time of a process that reads a spec and prints one cell, the least of five. Rates are of one core, in
loops short enough for one turn of a busy processor.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import sottovoce as sv

TAKES = "2 min"

_MATRIX = Path("clients/js/matrix").absolute()
_KIND = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "x64")
_IMPORT = "import('sottovoce').then(({ fromJson }) => console.log(fromJson(process.argv[1]).report(7)))"
_REQUIRE = "console.log(require('sottovoce').fromJson(process.argv[1]).report(7))"
_RATE_JS = """import('sottovoce').then(({ fromJson }) => {
  const m = fromJson(process.argv[1]);
  const best = (work, n) => {
    let least = Infinity;
    for (let i = 0; i < 300; i += 1) {
      const start = performance.now();
      work();
      least = Math.min(least, performance.now() - start);
    }
    return n / least * 1000;
  };
  const values = Float64Array.from({ length: 8192 }, (_, i) => (i % 240) / 10);
  let sum = 0;
  const single = best(() => { for (const x of values) sum += m.report(x); }, values.length);
  const bulk = best(() => { sum += m.reportAll(values)[0]; }, values.length);
  console.log(JSON.stringify({ single, bulk }));
})"""
_RATE_JAVA = """import sottovoce.*;
public final class Rate {
    public static void main(String[] arguments) {
        Scalar m = (Scalar) Reporter.fromJson(arguments[0]);
        if (arguments.length == 1) { System.out.println(m.report(7.0)); return; }
        double best = 0;
        long sum = 0;
        for (int round = 0; round < 300; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < 8192; i++) sum += m.report((i % 240) / 10.0);
            best = Math.max(best, 8192 * 1e9 / (System.nanoTime() - start));
        }
        System.out.println(best + (sum == 1 ? " " : ""));
    }
}
"""
_RATE_PYTHON = """import sys, time, numpy as np
from sottovoce.reporters.formats import from_json
m, x = from_json(sys.argv[1]), np.arange(200_000) % 240 / 10
m.report(x)
best = lambda work, n: max(n / timed(work) for _ in range(9))
def timed(work):
    start = time.perf_counter(); work(); return time.perf_counter() - start
print(best(lambda: [m.report(v) for v in x[:500]], 500), best(lambda: m.report(x), len(x)))
"""
_FIRST_PYTHON = (
    "import sys; from sottovoce.reporters.formats import from_json; print(from_json(sys.argv[1]).report(7.0))"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measured(Path(folder))
    for row in result["bundles"]:
        print("{bundler:<9} {entry:<5} {bytes:>8,} B  {gzip:>7,} B gzip  {milliseconds:>6,} ms".format(**row))
    for part in ("first cell, ms", "reports per second"):
        for name, value in result[part].items():
            print(f"{part:<20} {name:<28} {value:>14,.0f}")
    if options.output:
        options.output.write_text(json.dumps(result, indent=2) + "\n")


def measured(folder: Path) -> dict[str, Any]:
    """Everything, in a folder where the packed package is installed."""
    nodes = {name: str(_MATRIX / f"node_modules/node{name}-{_KIND}/bin/node") for name in ("18", "26")}
    subprocess.run([nodes["26"], _MATRIX / "build.js", folder], check=True)
    bundles = json.loads((folder / "result.json").read_text())["results"]
    jar, spec = folder / "sottovoce.jar", sv.ogpm(1.0, (0, 24), "l1").to_json()
    subprocess.run(["make", "-s", "jar", f"JAR={jar}"], check=True, stdout=subprocess.DEVNULL)
    (folder / "Rate.java").write_text(_RATE_JAVA)
    subprocess.run(["javac", "-cp", jar, "-d", folder, folder / "Rate.java"], check=True)
    java = ["java", "-cp", f"{jar}:{folder}", "Rate", spec]
    nodes["installed"] = "node"
    first = {
        f"Node {name}, import": _start([node, "-e", _IMPORT, spec], folder) for name, node in nodes.items()
    }
    first["Node installed, require"] = _start(["node", "--input-type=commonjs", "-e", _REQUIRE, spec], folder)
    first["Node installed, nothing"] = _start(["node", "-e", "0"], folder)
    first |= {
        "Java": _start(java, folder),
        "Python": _start([sys.executable, "-c", _FIRST_PYTHON, spec], folder),
    }
    rates: dict[str, float] = {}
    for name, node in nodes.items():
        rate = json.loads(_run([node, "-e", _RATE_JS, spec], folder))
        rates |= {f"Node {name}, one by one": rate["single"], f"Node {name}, reportAll": rate["bulk"]}
    rates["Java, one by one"] = float(_run([*java, "rate"], folder))
    single, many = map(float, _run([sys.executable, "-c", _RATE_PYTHON, spec], folder).split())
    rates |= {"Python, one by one": single, "Python, arrays": many}
    rows = [
        {key: row[key] for key in ("bundler", "entry", "bytes", "gzip", "milliseconds")} for row in bundles
    ]
    size = {"jar": jar.stat().st_size}
    return {"bundles": rows, "bytes": size, "first cell, ms": first, "reports per second": rates}


def _run(command: list[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def _start(command: list[str], folder: Path) -> float:
    def once() -> float:
        start = time.perf_counter()
        _run(command, folder)
        return 1000 * (time.perf_counter() - start)

    return round(min(once() for _ in range(5)), 1)


if __name__ == "__main__":
    main()
