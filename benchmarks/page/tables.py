"""The tables of the benchmarks page, from results as `measure` gives them."""

from __future__ import annotations

from typing import Any

from benchmarks._tables import error, number, table

FLOOR_NAME = "numpy `random` (PCG64), the floor"


def speeds(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Every timed operation, the fastest first: label, what, seconds, ratio, whose, or failed."""
    rows = []
    first = next(iter(found["ours"].values()))
    if "speed" in first:
        floor = first["speed"]["floor"]
        rows.append(
            {
                "label": FLOOR_NAME,
                "what": "plain floats",
                "seconds": floor,
                "ratio": 1.0,
                "whose": "floor",
            }
        )
    for way, ours in found["ours"].items():
        rows += _speeds_of(ours, f"sottovoce, {way}", "ours")
    for name, peer in found["peers"].items():
        rows += [{**row, "peer": name} for row in _speeds_of(peer, shown_name(name, peer), "peer")]
    return sorted(rows, key=lambda row: row.get("seconds", float("inf")))


def _speeds_of(peer: dict[str, Any], label: str, whose: str) -> list[dict[str, Any]]:
    rows = []
    for name, row in peer.get("speed", {}).get("rows", {}).items():
        alone = "words alone" in name
        if alone and whose == "ours" and not label.endswith("numba"):
            continue  # the same stream with and without numba
        rows.append(
            {
                "label": name if alone else f"{label}: {name}",
                "what": peer["operations"].get(name, ""),
                "whose": "floor" if alone else whose,
                **row,
            }
        )
    return rows


def shown_name(name: str, peer: dict[str, Any]) -> str:
    """The package's name as one would install it."""
    return next((key for key in peer.get("versions", {}) if key != "numpy"), name.replace("_", "-"))


def speed_table(found: dict[str, Any]) -> str:
    rows = []
    for row in speeds(found):
        if "failed" in row:
            rows.append((row["label"], row["what"], "failed", row["failed"]))
        else:
            rows.append((_bold(row), row["what"], number(1e-6 / row["seconds"]), number(row["ratio"])))
    return table(("operation", "what it does ", "M values/s", "× the floor's time"), rows)


def _bold(row: dict[str, Any]) -> str:
    return f"**{row['label']}**" if row["whose"] == "ours" else row["label"]


def peers_table(found: dict[str, Any]) -> str:
    rows = []
    for name, peer in found["peers"].items():
        versions = ", ".join(f"{key} {value}" for key, value in peer.get("versions", {}).items())
        state = f"**not measured**: {peer['failed']}" if "failed" in peer else versions
        rows.append((shown_name(name, peer), peer["about"], state))
    return table(("peer", "what it is ", "versions "), rows)


def error_table(found: dict[str, Any], place: str, loss: str) -> str:
    part, epsilons = found["accuracy"][place][loss], found["epsilons"]
    at = epsilons.index(1.0)
    ordered = sorted(part["rows"].items(), key=lambda row: -row[1][at][0])
    rows = [(name, *(f"{error(worst)} / {error(mean)}" for worst, mean in cells)) for name, cells in ordered]
    rows.append(("*limit of every ε-LDP mechanism*", *(error(limit) for limit in part["limit"])))
    return table(("mechanism", *(f"ε = {epsilon:g}" for epsilon in epsilons)), rows)


def simulated_table(found: dict[str, Any]) -> str:
    """Peers' own samplers: the worst of the simulated inputs, ± its standard error, the law next to it."""
    exact = found["accuracy"]["line"]["l1"]["rows"]
    rows = []
    for peer, name, cells in _simulated(found):
        law = found["peers"][peer]["laws"].get(name)
        label = f"{shown_name(peer, found['peers'][peer])}: {name}"
        if isinstance(cells, dict):
            rows.append((label, cells["failed"], *[""] * (len(found["epsilons"]) - 1)))
            continue
        shown = []
        for k, inputs in enumerate(cells):
            worst = max(inputs, key=lambda one: one[0])
            text = f"{error(worst[0])} ± {worst[1]:.1g}"
            shown.append(text if law is None else f"{text} ({error(exact[law][k][0])})")
        rows.append((label, *shown))
    return table(("sampler", *(f"ε = {epsilon:g}" for epsilon in found["epsilons"])), rows)


def _simulated(found: dict[str, Any]) -> list[tuple[str, str, Any]]:
    return [
        (name, operation, cells)
        for name, peer in found["peers"].items()
        for operation, cells in peer.get("error", {}).items()
    ]


def reconstructions(found: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """(whose, method, per ε: {truth: {distance, report, estimate}}) of everything that reconstructs."""
    rows = [
        (f"**sottovoce, {way}**", name, cells)
        for way, ours in found["ours"].items()
        for name, cells in ours.get("histogram", {}).items()
    ]
    return rows + [
        (shown_name(peer, results), name, cells)
        for peer, results in found["peers"].items()
        for name, cells in results.get("histogram", {}).items()
    ]


def reconstruction_table(found: dict[str, Any]) -> str:
    of = found["reconstructed"]
    truths = [f"{truth}, ε = {epsilon:g}" for epsilon in of["epsilons"] for truth in of["truths"]]
    rows: list[tuple[str, ...]] = []
    for whose, name, cells in reconstructions(found):
        if isinstance(cells, dict):
            rows.append((whose, name, "failed", cells["failed"], *[""] * len(truths)))
            continue
        distances = [
            f"{1000 * one['distance']:.1f} ± {1000 * one['standard_error']:.1f}"
            for per in cells
            for one in per.values()
        ]
        first = list(cells[0].values())
        spent = [f"{sum(one[key] for one in first) / len(first):.3g}" for key in ("report", "estimate")]
        rows.append((whose, name, *distances, *spent))
    return table(("who", "method ", *truths, "reports, s", "estimate, s"), rows)
