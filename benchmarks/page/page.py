"""The benchmarks page: `page.md` filled in, with its two pictures and the numbers behind it next to it."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from benchmarks import before, growth
from benchmarks._tables import number
from benchmarks.page import tables

NUMBERS = "results.json"
OURS, THEIRS, FLOOR = "#0072B2", "#999999", "#E69F00"


def write_page(found: dict[str, Any], path: Path) -> list[Path]:
    """Write the page, its pictures and its numbers (into a folder of the page's name); returns the files."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    numbers, speed, bins = folder / NUMBERS, folder / "speed.png", folder / "bins.png"
    numbers.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    rows = pictured([row for row in tables.speeds(found) if "seconds" in row])
    draw_speed([(row["label"].replace("`", ""), 1 / row["seconds"], row["whose"]) for row in rows], speed)
    draw_bins(found["growth"]["bins"], bins)
    path.write_text(page(found, folder.name), encoding="utf-8")
    return [path, numbers, speed, bins]


def page(found: dict[str, Any], folder: str) -> str:
    """The text of the page, its pictures in `folder`."""
    template = Template(Path(__file__).with_name("page.md").read_text(encoding="utf-8"))
    parts = {
        "version": found["version"],
        "machine": found["machine"],
        "sitting": found["sitting"],
        "quick": "**A `--quick` run: too short for its numbers to mean much.**" if found["quick"] else "",
        "folder": folder,
        "peers": tables.peers_table(found),
        "speed_words": speed_words(found),
        "speed": tables.speed_table(found),
        "simulated": tables.simulated_table(found),
        "people": f"{found['people']:,}",
        "repetitions": str(found["reconstructed"]["repetitions"]),
        "reconstruction": tables.reconstruction_table(found),
        "numba": "with" if found["growth"]["compiled"] else "without",
        "steps": str(growth.STEPS),
        "before": before.page_table(json.loads(before.RESULTS.read_text())),
    }
    parts |= {
        f"{place}_{loss}": tables.error_table(found, place, loss)
        for place in ("line", "circle")
        for loss in ("l1", "l2")
    }
    parts |= {f"growth_{name}": text for name, text in growth.tables(found["growth"]).items()}
    return template.substitute(parts)


def speed_words(found: dict[str, Any]) -> str:
    """Who is fastest, in words that follow from the numbers."""
    rows = [row for row in tables.speeds(found) if "seconds" in row]
    ours = [row for row in rows if row["whose"] == "ours"]
    published = [row for row in rows if row["label"].startswith("published")]
    packages = [row for row in rows if row["whose"] == "peer" and row not in published]
    best = ours[0]
    text = f"The fastest here is {best['label']}, at {number(best['ratio'])} times the floor's time."
    numbers = [row for row in packages if found["peers"][row["peer"]]["error"]]
    kinds = (("published sampler", published), ("package", packages), ("package for numbers", numbers))
    for kind, chosen in kinds:
        if chosen:
            times = number(chosen[0]["ratio"] / best["ratio"])
            text += f" The fastest {kind} ({chosen[0]['label']}) takes {times} times as long."
    single = next(row for row in ours if row["label"].endswith("one value a call"))
    text += f" With **one value a call** sottovoce needs {_microseconds(single)}"
    faster = [f"{row['label']} ({_microseconds(row)})" for row in packages if _beats(row, single)]
    return f"{text}; faster than that: {', '.join(faster)}." if faster else f"{text}, less than any package."


def readme_words(found: dict[str, Any]) -> str:
    """How fast, for those who read only the README."""
    rows = [row for row in tables.speeds(found) if "seconds" in row]
    ratios = {row["label"]: row["ratio"] for row in rows}
    three = sorted(ratios[f"sottovoce, numba: {name}"] for name in ("OGPM", "SW", "PM"))
    published = min(ratio for label, ratio in ratios.items() if label.startswith("published"))
    plain = [ratios[f"sottovoce, numpy: {name}"] for name in ("OGPM", "optimal, absolute error")]
    single = sorted(1e6 * row["seconds"] for row in rows if row["label"].endswith("OGPM, one value a call"))
    return (
        "With numba loaded (the extra `fast`), exact and cryptographically secure reports of OGPM, SW and PM "
        f"take {three[0]:.2f} to {three[-1]:.2f} of the time of\nnumpy's plain `random`; the fastest "
        f"published sampler takes {published / three[0]:.0f} times as long. Without numba, OGPM takes "
        f"{plain[0]:.0f} and an optimal\ndesign {plain[1]:.0f} times the time of `random`. One value a call "
        f"takes about {single[-1]:.0f} µs either way ([benchmarks](docs/benchmarks.md))."
    )


def _beats(row: dict[str, Any], single: dict[str, Any]) -> bool:
    """Whether an operation that takes one value a call takes less time than ours."""
    return bool(row["seconds"] < single["seconds"] and not row["label"].endswith("vector"))


def _microseconds(row: dict[str, Any]) -> str:
    return f"{1e6 * row['seconds']:.1f} µs"


def pictured(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those with a bar: the fastest of each peer, and of ours those with numba; the table has all."""
    peers = [row.get("peer") for row in rows]
    compiled = any("numba" in row["label"] for row in rows)
    return [
        row
        for place, row in enumerate(rows)
        if row["whose"] == "floor"
        or (row["whose"] == "peer" and row["peer"] not in peers[:place])
        or (row["whose"] == "ours" and (not compiled or "numba" in row["label"]))
    ]


def draw_speed(rows: list[tuple[str, float, str]], path: Path) -> None:
    """Bars of (label, values a second, whose); logarithmic: five orders of magnitude."""
    drawn, panel = _panel(7.2, 0.8 + 0.28 * len(rows))
    colour = {"ours": OURS, "peer": THEIRS, "floor": FLOOR}
    places = range(len(rows))
    panel.barh(
        places,
        [speed / 1e6 for _, speed, _ in rows],
        color=[colour[whose] for _, _, whose in rows],
        height=0.72,
    )
    panel.set_yticks(places, [label for label, _, _ in rows], fontsize=10)
    panel.set_ylim(len(rows) - 0.4, -0.6)
    panel.set_axisbelow(True)
    panel.set_xscale("log")
    panel.set_xlabel("million values a second, one core")
    panel.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    handles = [Patch(color=colour[key], label=name) for key, name in _NAMES.items()]
    panel.legend(handles=handles, frameon=False, fontsize=9, loc="lower right")
    drawn.savefig(path)


_NAMES = {"ours": "sottovoce", "peer": "peers", "floor": "the floor: random numbers alone"}


def draw_bins(rows: list[dict[str, float]], path: Path) -> None:
    """Microseconds of one step of EMS by the number of bins."""
    drawn, panel = _panel(5.2, 3.2)
    bins = [row["bins"] for row in rows]
    looks = {"dense": (THEIRS, "o", "dense matrix, as published"), "sums": (OURS, "s", "sottovoce")}
    for key, (colour, marker, label) in looks.items():
        times = [1e6 * row[key] for row in rows]
        panel.plot(bins, times, color=colour, marker=marker, label=label)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xticks(bins, [f"{int(size)}" for size in bins])
    panel.set_xlabel("bins")
    panel.set_ylabel("µs a step")
    panel.grid(True, color="#dddddd", linewidth=0.6)
    panel.legend(frameon=False, fontsize=8)
    drawn.savefig(path)


def _panel(width: float, height: float) -> tuple[Any, Any]:
    drawn = Figure(figsize=(width, height), dpi=110, layout="constrained")
    FigureCanvasAgg(drawn)
    panel = drawn.add_subplot()
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    return drawn, panel
