"""Choices: the distance to the proven limit, other packages on the same data, coverage, and speed.

    python -m benchmarks.choices [limit|peers|coverage|speed]    # measures, and keeps what is measured
    python -m benchmarks.choices tables                          # puts the saved figures into the page

Peers need the packages of `make peers`. Every part keeps its figures in results/choices.json.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv
from benchmarks._machine import describe_machine
from benchmarks._tables import number, replace_table, table
from sottovoce.designs.block_designs import block_size, block_variance, family
from sottovoce.designs.choice import least_total_variance

TAKES = "15 min"
RESULTS = Path(__file__).parent / "results" / "choices.json"
PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "choices.md"
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SMALL, LARGE = tuple(range(2, 65)), (100, 200, 365, 500, 1000)


def limit(saved: dict[str, Any], seconds: float = 200.0) -> dict[str, Any]:
    """Ratios of total error to the limit; those that are known already are kept, until time is up."""
    known: dict[str, float] = saved.get("limit", {})
    began = time.monotonic()
    for k in (*SMALL, *LARGE):
        for epsilon in EPSILONS:
            size = block_size(k, epsilon)
            if f"{k} {epsilon:g}" not in known and time.monotonic() - began < seconds:
                cost = float(block_variance(k, size, epsilon)) * family(k, size).ratio
                known[f"{k} {epsilon:g}"] = cost / least_total_variance(epsilon, k)
    return known


def coverage(saved: dict[str, Any], runs: int = 400, seconds: float = 200.0) -> list[dict[str, Any]]:
    """How often 95 % intervals of single shares, and all of them together, hold; what is known is kept."""
    rows, until = [], time.monotonic() + seconds
    known = {(r["options"], r["n"]): r for r in saved.get("coverage", [])}
    for k in (2, 5, 20, 200):
        m = sv.choice(1.0, range(k))
        share = np.arange(1, k + 1) ** -1.0
        share /= share.sum()
        for n in (300, 3000, 100_000):
            row = known.get((k, n))
            if row is not None and (row["runs"] >= runs or time.monotonic() > until):
                rows.append(row)
                continue
            single, joint = [], []
            for seed in range(runs):
                rng = np.random.default_rng([seed, k, n])
                answer = sv.shares(sv.Tally(m, m.report(rng.choice(k, n, p=share), rng=rng)))
                inside = [(one.low <= p <= one.high) for one, p in zip(answer.estimates, share, strict=True)]
                single.append(np.mean(inside))
                joint.append(
                    all(one.low <= p <= one.high for one, p in zip(answer.joint, share, strict=True))
                )
            rows.append(
                {
                    "options": k,
                    "n": n,
                    "runs": runs,
                    "single": float(np.mean(single)),
                    "joint": float(np.mean(joint)),
                }
            )
    return rows


def rate(task: Callable[[], Any], items: int, repeats: int = 30) -> float:
    """Items per second of processor time, the best of a few."""
    task()
    times = []
    for _ in range(repeats):
        began = time.process_time()
        task()
        times.append(time.process_time() - began)
    return items / min(times)


def speed(saved: dict[str, Any]) -> dict[str, Any]:
    """Reports per second beside those of sv.ogpm, in one run: whole numbers, categories, and texts."""
    import pandas as pd

    n, rng = 1 << 22, np.random.default_rng(1)
    window, x = sv.ogpm(1.0), rng.random(n)
    rows = []
    for k in (2, 5, 20, 64):
        numbers, texts = sv.choice(1.0, range(k)), sv.choice(1.0, [f"option {i}" for i in range(k)])
        codes = rng.integers(0, k, n)
        words = np.array(texts.domain.names, dtype=object)[codes[: n // 4]]
        fixed = np.array(texts.domain.names)[codes[: n // 4]]
        kinds = pd.Categorical.from_codes(codes, list(texts.domain.names))
        sorted_kinds = kinds.reorder_categories(list(texts.domain.names)[::-1])
        base = rate(partial(window.report, x), n)
        rows.append(
            {
                "options": k,
                "ogpm": base,
                "numbers": rate(partial(numbers.report, codes), n),
                "categories": rate(partial(texts.report, kinds), n),
                "in another order": rate(partial(texts.report, sorted_kinds), n),
                "texts": rate(partial(texts.report, words), words.size, 10),
                "of one width": rate(partial(texts.report, fixed), fixed.size, 10),
            }
        )
    return {"machine": describe_machine(), "rows": rows}


def oracles(k: int, epsilon: float) -> dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]:
    """Reports and unbiased estimates of other packages, of options 0 … k−1."""
    import xxhash
    from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, UE
    from pure_ldp.frequency_oracles import direct_encoding, hadamard_response, local_hashing, unary_encoding

    def pure(client: Any, server: Any) -> tuple[Any, Any]:
        def estimate(reports: Any) -> Any:
            server.reset()
            for one in reports:
                server.aggregate(one)
            every = server.estimate_all(range(1, k + 1), suppress_warnings=True, normalization=0)
            return np.asarray(every) / len(reports)

        return (lambda x: [client.privatise(1 + int(v)) for v in x]), estimate

    hashes = round(np.exp(epsilon)) + 1

    def held(reports: Any) -> Any:
        """How many reports hold the hash of each option."""
        options = [str(v) for v in range(k)]
        return np.sum(
            [[xxhash.xxh32(v, seed=seed).intdigest() % hashes == y for v in options] for y, seed in reports],
            axis=0,
        )

    response = hadamard_response.HadamardResponseServer(epsilon, k)
    return {
        "pure-ldp, GRR": pure(direct_encoding.DEClient(epsilon, k), direct_encoding.DEServer(epsilon, k)),
        "pure-ldp, OUE": pure(
            unary_encoding.UEClient(epsilon, k, use_oue=True),
            unary_encoding.UEServer(epsilon, k, use_oue=True),
        ),
        "pure-ldp, OLH": pure(
            local_hashing.LHClient(epsilon, k, use_olh=True), local_hashing.LHServer(epsilon, k, use_olh=True)
        ),
        "pure-ldp, Hadamard response": pure(
            hadamard_response.HadamardResponseClient(epsilon, k, response.get_hash_funcs()), response
        ),
        "multi-freq-ldpy, GRR": (
            lambda x: [GRR.GRR_Client(int(v), k, epsilon) for v in x],
            lambda reports: _counts(np.bincount(reports, minlength=k), len(reports), *_grr(k, epsilon)),
        ),
        "multi-freq-ldpy, OUE": (
            lambda x: [UE.UE_Client(int(v), k, epsilon, True) for v in x],
            lambda reports: _counts(np.sum(reports, axis=0), len(reports), 0.5, 1 / (np.exp(epsilon) + 1)),
        ),
        "multi-freq-ldpy, OLH": (
            lambda x: [LH.LH_Client(int(v), k, epsilon) for v in x],
            lambda reports: _counts(held(reports), len(reports), _grr(hashes, epsilon)[0], 1 / hashes),
        ),
    }


def _grr(k: int, epsilon: float) -> tuple[float, float]:
    return np.exp(epsilon) / (np.exp(epsilon) + k - 1), 1 / (np.exp(epsilon) + k - 1)


def _counts(counts: Any, n: int, p: float, q: float) -> Any:
    return (counts / n - q) / (p - q)


def ours(k: int, epsilon: float) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    from sottovoce.estimates.fits.deconvolution import Inverse

    m = sv.choice(epsilon, range(k))
    return m.report, lambda cells: np.asarray(Inverse.of(m).moments(sv.Tally(m, cells).counts).mean)


def peers(saved: dict[str, Any], n: int = 2000, runs: int = 10) -> list[dict[str, Any]]:
    """n times the total squared error of unbiased estimates of all shares, on the same people, and rates.

    What is known is kept.
    """
    rows, known = [], {(r["options"], r["epsilon"], r["name"]): r for r in saved.get("peers", [])}
    for k, epsilon in ((16, 1.0), (64, 1.0), (64, 2.0), (64, 4.0)):
        share = np.arange(1, k + 1) ** -1.0
        share /= share.sum()
        for name, (report, estimate) in {"sottovoce": ours(k, epsilon), **oracles(k, epsilon)}.items():
            if (k, epsilon, name) in known:
                rows.append(known[k, epsilon, name])
                continue
            errors, took, people = [], 0.0, 0
            report(np.arange(k))  # compiles
            for seed in range(runs * (40 if name == "sottovoce" else 1)):
                x = np.random.default_rng([seed, k]).choice(k, n, p=share)
                began = time.process_time()
                reports = report(x)
                took, people = took + time.process_time() - began, people + n
                errors.append(n * float(np.sum((estimate(reports) - share) ** 2)))
            rows.append(
                {
                    "options": k, "epsilon": epsilon, "name": name, "error": float(np.mean(errors)),
                    "spread": float(np.std(errors, ddof=1) / len(errors) ** 0.5), "rate": people / took,
                    "limit": least_total_variance(epsilon, k) - float(np.sum(share**2) - 1 / k),
                }
            )  # fmt: skip
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def tables(saved: dict[str, Any]) -> None:
    """The page's tables from what is kept."""
    known = saved.get("limit", {})
    groups = {
        "2 to 31": range(2, 32),
        "32 to 64": range(32, 65),
        "100": [100],
        "200": [200],
        "365": [365],
        "500": [500],
        "1,000": [1000],
    }
    rows = []
    for name, members in groups.items():
        worst = [[known.get(f"{k} {e:g}") for k in members] for e in EPSILONS]
        if not any(all(w) for w in worst):
            continue
        rows.append((name, *(f"{max(w):.5f}" if all(w) else "–" for w in worst)))
    replace_table(PAGE, "limit", table(("options", *(f"ε = {e:g}" for e in EPSILONS)), rows))
    rows = [
        (str(r["options"]), f"{r['n']:,}", f"{100 * r['single']:.1f} %", f"{100 * r['joint']:.1f} %")
        for r in saved.get("coverage", [])
    ]
    replace_table(PAGE, "coverage", table(("options", "people", "each", "all together"), rows))
    rows = [
        (
            str(r["options"]),
            f"{r['ogpm'] / 1e6:.0f}",
            f"{r['numbers'] / 1e6:.0f}",
            f"{r['numbers'] / r['ogpm']:.2f}",
            f"{r['categories'] / r['ogpm']:.2f}",
            f"{r['in another order'] / r['ogpm']:.2f}",
            f"{r['texts'] / r['ogpm']:.2f}",
            f"{r['of one width'] / r['ogpm']:.2f}",
        )
        for r in saved.get("speed", {"rows": []})["rows"]
    ]
    ratios = ("ratio", "categories", "in another order", "texts", "of one width")
    heads = ("options", "`sv.ogpm`, M/s", "choices by numbers, M/s", *ratios)
    replace_table(PAGE, "speed", table(heads, rows))
    rows = [
        (
            f"{r['options']}, ε = {r['epsilon']:g}", r["name"], f"{r['error']:.1f} ± {r['spread']:.1f}",
            f"{r['limit']:.1f}", number(r["rate"]),
        )
        for r in saved.get("peers", [])
    ]  # fmt: skip
    heads = ("options", "package ", "n × total squared error", "balanced blocks", "reports/s")
    replace_table(PAGE, "peers", table(heads, rows))


def _saved() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def main() -> None:
    """Measure one part, or all of them."""
    saved = _saved()
    parts = {"limit": limit, "coverage": coverage, "speed": speed, "peers": peers}
    for name in sys.argv[1:] or [*parts, "tables"]:
        if name == "tables":
            tables(saved)
            continue
        figures = parts[name](saved)
        saved = {**_saved(), name: figures}
        RESULTS.write_text(json.dumps(saved, indent=1) + "\n")


if __name__ == "__main__":
    main()
