"""Count the way of a value: the files of sottovoce that it passes, and how often it changes between them.

    python tools/way.py [NAME …]
    PYTHONPATH=other/checkout/src python tools/way.py     # the same of another checkout

Each way runs in a process of its own. What is called from Python is counted once everything is imported (by
going the same way before, with another ε); commands from the first import on, with the files that they load.
`--version` is timed instead, against `import numpy`. With names, the files are listed. `lines` says how long
files are: the longest ones, and with its name all of more than 300 lines.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

Action = Callable[[], object]
PEOPLE = 2_000
LONG = 300  # lines
CLOSING = contextlib.ExitStack()


class Way:
    """The files of the package in the order in which their functions are called.

    Made before anything of the package runs, so that threads are seen whenever they start.
    """

    def __init__(self) -> None:
        spec = importlib.util.find_spec("sottovoce")
        assert spec is not None
        assert spec.origin is not None
        self.package = str(Path(spec.origin).parent) + os.sep
        self.loaded: set[str] = set()
        self.files: set[str] = set()
        self.switches = 0
        self._last = ""
        self._counts = False
        threading.setprofile(self._called)
        sys.setprofile(self._called)

    def count(self, action: Action) -> None:
        self._counts = True
        action()
        self._counts = False

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if not self._counts or event != "call" or not path.startswith(self.package):
            return
        name = path.removeprefix(self.package)
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # the body of a module or class
            self.loaded.add(name)
            return
        self.files.add(name)
        self.switches += bool(self._last) and name != self._last
        self._last = name


def values() -> np.ndarray:
    return np.random.default_rng(1).beta(2, 5, PEOPLE)


def tally(epsilon: float, design: str) -> Any:
    import sottovoce as sv

    m = getattr(sv, design)(epsilon, (0, 1))
    return sv.Tally(m, m.report(values(), rng=2))


def report(epsilon: float) -> Action:
    import sottovoce as sv

    m = sv.pm(epsilon, (0, 1))
    return lambda: m.report(values())


def mean(epsilon: float) -> Action:
    import sottovoce as sv

    counts = tally(epsilon, "pm")
    return lambda: sv.mean(counts)


def quantile(epsilon: float) -> Action:
    import sottovoce as sv

    counts = tally(epsilon, "sw")
    return lambda: sv.quantile(counts, 0.9)


def plan(epsilon: float) -> Action:
    import sottovoce as sv

    return lambda: sv.plan("mean", epsilon=epsilon, people=10_000, domain=(0, 24))


def optimal(epsilon: float) -> Action:
    import sottovoce as sv

    return lambda: sv.optimal(epsilon, (0, 1))


def shuffled(epsilon: float) -> Action:
    import sottovoce as sv

    m = sv.pm(epsilon, (0, 1))
    return lambda: sv.shuffled(m, PEOPLE, delta=1e-6)


def post(epsilon: float) -> Action:
    """Reports arrive at a collector: as they are sent, checked, stored and acknowledged."""
    from starlette.testclient import TestClient

    import sottovoce as sv
    from sottovoce.collector import Settings, create_app, open_store
    from sottovoce.collector.campaigns import campaign, tokens

    m = sv.sw(epsilon, (0, 24))
    folder = tempfile.mkdtemp()
    app = create_app(open_store(Path(folder, "store.db")), Settings(rate=0), secret=bytes(32))
    store, new = app.state.service.store, {"name": "trial", "spec": m.to_json(), "collection": "write"}
    [token] = tokens.issue(store, campaign.create(store, campaign.NewCampaign.of(new)).id, "write", 1)
    body = bytes.fromhex(m.digest) + m.report(24 * values()).astype(m.dtype).tobytes()

    client = CLOSING.enter_context(TestClient(app))

    def send() -> None:
        headers = {"Content-Type": "application/vnd.sottovoce.cells", "Idempotency-Key": os.urandom(16).hex()}
        headers["Authorization"] = f"Bearer {token}"
        answer = client.post("/v1/campaigns/trial/reports", content=body, headers=headers)
        if answer.status_code not in (200, 201):
            raise RuntimeError(answer.text)

    return send


def shown(epsilon: float) -> Action:
    """Somebody looks at a survey: the results that a dashboard asks for."""
    import sottovoce as sv
    from sottovoce.collector.results.results import View, results

    survey = sv.survey(epsilon, {"hour": (0, 24), "way": ["bus", "bicycle", "car"]})
    people = {"hour": 24 * values(), "way": np.resize(["bus", "bicycle", "car"], PEOPLE)}
    counts = sv.Tally(survey, survey.report(people, rng=2))
    return lambda: results(counts, View(), {}, {})


def estimate(epsilon: float) -> Action:
    """`sottovoce estimate reports.csv --column x`, from the first import on."""
    os.chdir(tempfile.mkdtemp())
    np.savetxt("people.csv", values(), header="x", comments="")
    write = ["perturb", "people.csv", "--column", "x", "--epsilon", str(epsilon), "--domain", "0", "1"]
    run_command([*write, "--output", "reports.csv"])
    sys.argv = ["sottovoce", "estimate", "reports.csv", "--column", "x"]

    def command() -> None:
        from sottovoce.cli import main

        try:
            main()
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"exit code {end.code}") from None

    return command


FUNCTIONS = {f.__name__: f for f in (report, mean, quantile, shuffled, plan, optimal, post, shown)}
COMMANDS = {"estimate": estimate}
_MAIN = "from sottovoce.cli import main; main()"


def run_command(words: list[str]) -> None:
    subprocess.run([sys.executable, "-c", _MAIN, *words], check=True, stdout=subprocess.DEVNULL)


def seconds(code: str, *words: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, *words], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def version_ratio(rounds: int = 15) -> float:
    """The time of `sottovoce --version` in times of `import numpy`, the median of rounds."""
    return statistics.median(seconds(_MAIN, "--version") / seconds("import numpy") for _ in range(rounds))


def lines() -> list[tuple[int, str]]:
    """How long each file of the package is, the longest first."""
    spec = importlib.util.find_spec("sottovoce")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    files = [(len(path.read_text().splitlines()), str(path.relative_to(root))) for path in root.rglob("*.py")]
    return sorted(files, reverse=True)


def print_lines(*, each: bool) -> None:
    files = lines()
    total, many = sum(long for long, _ in files), sum(long > LONG for long, _ in files)
    print(f"lines{total:11,} in {len(files)} files, {many} of more than {LONG}; longest {files[0][0]}")
    for long, file in files[: many if each else 5]:
        print(f"    {long:4} {file}")


def follow(name: str) -> dict[str, Any]:
    """Go one way in this process."""
    way = Way()
    if name in COMMANDS:
        action = COMMANDS[name](1.0)
    else:
        FUNCTIONS[name](1.0)()
        action = FUNCTIONS[name](2.0)
    with CLOSING:
        way.count(action)
    return {"files": sorted(way.files), "switches": way.switches, "loaded": len(way.loaded)}


def main(names: list[str]) -> None:
    environment = {**os.environ, "SOTTOVOCE_CACHE": "", "OPENBLAS_NUM_THREADS": "1"}
    for name in names or [*FUNCTIONS, *COMMANDS, "version", "lines"]:
        if name == "lines":
            print_lines(each=bool(names))
            continue
        if name == "version":
            print(f"{name:<10}{version_ratio():6.2f} times the time of import numpy")
            continue
        line = [sys.executable, __file__, "--follow", name]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name:<10} failed: {done.stderr.strip().splitlines()[-1]}")
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        loads = f"{found['loaded']:8} files loaded" if name in COMMANDS else ""
        print(f"{name:<10}{len(found['files']):6} files{found['switches']:8} switches{loads}")
        if names:
            print(*(f"    {file}" for file in found["files"]), sep="\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--follow"]:
        print("\n" + json.dumps(follow(sys.argv[2])))
    else:
        main(sys.argv[1:])
