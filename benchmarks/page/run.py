"""Measure everything in one sitting."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._machine import checked_out, describe_machine
from benchmarks._truths import TUNED
from benchmarks.growth import growth
from benchmarks.page.accuracy import exact_errors
from benchmarks.page.environments import Peer, known_peers, ourselves, run_peer
from sottovoce import compiling
from sottovoce._version import __version__
from sottovoce.estimates.fits.metrics import Cumulative, wasserstein

AGAINST = ("floor", "peers")
EPSILONS = (0.5, 1.0, 2.0, 4.0)
INPUTS = (0.0, 0.25, 0.5, 0.75, 1.0)
RECONSTRUCTED = (1.0, 2.0)  # the ε of reconstructions

#: What distributions are reconstructed.
TRUTHS = {name: TUNED[name] for name in ("Beta(5, 2)", "two peaks")}


def measure(
    against: str = "peers",
    *,
    quick: bool = False,
    peers: Iterable[Peer] | None = None,
    environments: Path | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """All results as plain numbers and words, ready for JSON.

    `against="floor"` measures this library's speed only. `environments` keeps the peers' environments for
    another run; without it they are thrown away.
    """
    if against not in AGAINST:
        raise ValueError(f"against must be one of {', '.join(AGAINST)}, got against={against!r}")
    people, repetitions = (2000, 2) if quick else (100_000, 4)
    chosen = list(known_peers() if peers is None else peers) if against == "peers" else []
    begin, commit = time.time(), checked_out()
    found: dict[str, Any] = {
        "version": __version__,
        "machine": describe_machine(),
        "quick": quick,
        "people": people,
        "epsilons": list(EPSILONS),
        "reconstructed": {
            "epsilons": list(RECONSTRUCTED),
            "truths": list(TRUTHS),
            "repetitions": repetitions,
        },
        "ours": {way: ourselves().description for way in _ways()},
        "peers": {peer.name: peer.description for peer in chosen},
    }
    if against == "peers":
        found["accuracy"] = exact_errors(EPSILONS, say)
    with tempfile.TemporaryDirectory(prefix="sottovoce-bench-") as scratch:
        folder = Path(scratch)
        tasks, truths = _tasks(folder, quick, people, repetitions)
        if against == "floor":
            tasks = {"speed": tasks["speed"]}
        # One task of all after the other: what is compared is close in time. A quick run compares nothing.
        for turn in [tasks] if quick else [{name: task} for name, task in tasks.items()]:
            for way, variables in _ways().items():
                _add(found["ours"][way], ourselves(), turn, truths, folder, variables, say)
            for peer in chosen:
                _add(found["peers"][peer.name], peer, turn, truths, environments or folder, {}, say)
    if against == "peers":
        found["growth"] = growth(quick, say)
    minutes = (time.time() - begin) / 60
    began = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(begin))
    found["sitting"] = f"one sitting of {minutes:.0f} minutes that began on {began}, at commit `{commit}`"
    return found


def _add(
    place: dict[str, Any],
    peer: Peer,
    tasks: dict[str, Any],
    truths: list[tuple[str, Any]],
    environments: Path,
    variables: dict[str, str],
    say: Callable[[str], None],
) -> None:
    """Some tasks of one peer; a peer that failed as a whole is not asked again."""
    if "failed" in place:
        return
    place |= run_peer(peer, tasks, environments, variables=variables, say=say)
    if "failed" not in place:
        place |= {name: _judged(name, place[name], truths) for name in tasks}


def _ways() -> dict[str, dict[str, str]]:
    """This library with and without numba: the same reports, other loops."""
    ways = {"numpy": {"SOTTOVOCE_PLAIN": "1"}}
    return {"numba": {}, **ways} if compiling.available() else ways


def _tasks(
    folder: Path, quick: bool, people: int, repetitions: int
) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """What the worker is asked for, and the (truth, people) of each reconstruction."""
    np.save(folder / "values.npy", np.random.default_rng(1).random(1 << (16 if quick else 22)))
    truths: list[tuple[str, Any]] = []
    paths: list[str] = []
    for name, draw in TRUTHS.items():
        for k in range(repetitions):
            x = draw(np.random.default_rng((11, k)), people)
            truths.append((name, x))
            paths.append(str(folder / f"people-{len(paths)}.npy"))
            np.save(paths[-1], x)
    turn = {"seconds": 0.01, "rounds": 2} if quick else {"seconds": 0.1, "rounds": 9}
    return {
        "speed": {"epsilon": 1.0, "values": str(folder / "values.npy"), **turn},
        "error": {"epsilons": EPSILONS, "inputs": INPUTS, "draws": 200 if quick else 10_000},
        "histogram": {"epsilons": RECONSTRUCTED, "data": paths},
    }, truths


def _judged(task: str, found: dict[str, Any], truths: list[tuple[str, Any]]) -> dict[str, Any]:
    """Reconstructions replaced by their distance to the people they came from, averaged over repetitions."""
    if task != "histogram":
        return found
    return {
        name: rows if "failed" in rows else [_by_truth(runs, truths) for runs in rows]
        for name, rows in found.items()
    }


def _by_truth(runs: list[dict[str, Any]], truths: list[tuple[str, Any]]) -> dict[str, dict[str, float]]:
    judged: dict[str, list[dict[str, float]]] = {}
    for run, (truth, x) in zip(runs, truths, strict=True):
        bins = Cumulative.of_bins(np.asarray(run.pop("probabilities")))
        run["distance"] = wasserstein(bins, Cumulative.of_sample(x))
        judged.setdefault(truth, []).append(run)
    return {truth: _average(same) for truth, same in judged.items()}


def _average(runs: list[dict[str, float]]) -> dict[str, float]:
    found = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    spread = float(np.std([run["distance"] for run in runs], ddof=1))
    return {**found, "standard_error": spread / len(runs) ** 0.5}
