"""A million (spec, value, word) triples through every client: the same cell or the same refusal.

    python benchmarks/client_fuzz.py --triples 1000000 --output benchmarks/results/client_fuzz.json
    python benchmarks/client_fuzz.py --steep --triples 10000000 --output …/client_fuzz_steep.json

Python with numpy and with numba, JavaScript value by value and in bulk, and Java answer the same questions
about whole and broken specs, or, with `--steep`, about hostile ones of which readers accept most: starts as
steep as may be, knots an ulp apart, runs of all sizes. `tests/clients/specs.py` makes them; a small part runs
with the tests.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
import time
from pathlib import Path

from tests.clients.fuzz import fuzz
from tests.clients.specs import steep, written

from sottovoce.auditing.client_vectors import Client

TAKES = "4 min"

_JAVA = Path("clients/java")
_SPECS, _EACH = 250, 20_000  # each: values of a steep spec
_NODE = "node clients/js/tests/check.js"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--steep", action="store_true")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as classes:
        sources = [
            str(path) for part in ("src", "test") for path in (_JAVA / part / "sottovoce").glob("*.java")
        ]
        subprocess.run(
            ["javac", "--release", "11", "-encoding", "UTF-8", "-d", classes, *sources], check=True
        )
        java = f"java -XX:+UseSerialGC -cp {classes} sottovoce.Check"
        commands = {"js": _NODE, "js, many": f"{_NODE} --many", "java": java}
        clients = {name: Client(command) for name, command in commands.items()}
        start, triples, specs, refused, wrong, seed = time.perf_counter(), 0, 0, 0, [], 0
        while triples < options.triples:
            chance = random.Random(seed + 1)
            texts = [written(steep(chance)) for _ in range(_SPECS)] if options.steep else None
            each = _EACH if options.steep else 1000
            seed, outcome = seed + 1, fuzz(clients, _SPECS, each, seed=seed + 1, texts=texts)
            triples, specs, refused = triples + outcome.triples, specs + _SPECS, refused + outcome.refused
            wrong += outcome.wrong
            print(
                f"{triples:,} triples, {specs:,} specs, {refused:,} refused, {len(wrong)} differ", flush=True
            )
        for client in clients.values():
            client.close()
    result = {
        "clients": ["python, numpy", "python, numba", *commands], "triples": triples, "specs": specs,
        "refused": refused, "differ": len(wrong), "first": wrong[:5],
        "minutes": round((time.perf_counter() - start) / 60, 1),
    }  # fmt: skip
    print(json.dumps(result, indent=2))
    if options.output:
        options.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
