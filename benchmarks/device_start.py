"""How long and how much memory one report takes in a fresh process, from import to cell, beyond numpy alone.

The least and the middle of several processes, by turns: what else the machine does only adds. What a report
takes after `import numpy` has finished is timed within its process. A device reads a spec; whoever designs or
estimates loads scipy, which is there for comparison. Bytecode is there beforehand, as it is after
installing a wheel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import sottovoce as sv
from benchmarks._machine import describe_machine

TAKES = "1 min"
TURNS = 20

START = """import time; begin = time.perf_counter(), time.process_time()
import numpy
loaded = time.perf_counter(), time.process_time()
"""
END = """
end = time.perf_counter(), time.process_time()
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
print(end[0] - begin[0], end[1] - begin[1], end[0] - loaded[0], end[1] - loaded[1], peak)
"""
WORKS = {
    "numpy alone": "",
    "a report of OGPM": "import sottovoce as sv; sv.from_json(open({ogpm!r}).read()).report(0.5)",
    "a report of optimal": "import sottovoce as sv; sv.from_json(open({optimal!r}).read()).report(0.5)",
    "designing OGPM and reporting": "import sottovoce as sv; sv.ogpm(1.0).report(0.5)",
    "scipy.optimize": "import scipy.optimize",
}


def main() -> None:
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        files = {name: str(Path(folder) / name) for name in ("ogpm", "optimal")}
        Path(files["ogpm"]).write_text(sv.ogpm(1.0).to_json())
        Path(files["optimal"]).write_text(sv.optimal(1.0).to_json())
        turns: dict[str, list[list[float]]] = {name: [] for name in WORKS}
        for _ in range(TURNS):
            for name, work in WORKS.items():
                code = START + work.format(**files) + END
                command = [sys.executable, "-c", code]
                done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
                turns[name].append([float(word) for word in done.stdout.split()])
    rows: list[dict[str, object]] = []
    for name, figures in turns.items():
        columns = list(zip(*figures, strict=True))
        wall, cpu, after, cpu_after, peak = (min(column) for column in columns)
        middle = [median(column) for column in columns[2:4]]
        rows.append(
            {"work": name, "seconds": wall, "cpu": cpu, "megabytes": peak}
            | {"after numpy": [after, cpu_after], "after numpy, median": middle}
        )
        print(
            f"{name:32} {wall:.3f} s, {peak:.1f} MB; after numpy {1e3 * after:.1f} ms ({1e3 * cpu_after:.1f} "
            f"of CPU), in the middle {1e3 * middle[0]:.1f} ({1e3 * middle[1]:.1f})"
        )
    result = {"machine": describe_machine(), "turns": TURNS, "rows": rows}
    path = Path(__file__).parent / "results" / "device_start.json"
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
