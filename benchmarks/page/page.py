"""The benchmarks page: `page.md` filled in, with its two pictures and the numbers behind it next to it."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from string import Template
from typing import Any

from benchmarks.page import tables, worker
from benchmarks.page.environments import known_peers
from benchmarks.page.growth import STEPS
from benchmarks.page.pictures import draw_bins, draw_speed

NUMBERS = "results.json"


def write_page(found: dict[str, Any], path: Path) -> list[Path]:
    """Write the page, its pictures and its numbers (into a folder of the page's name); returns the files."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    numbers, speed, bins = folder / NUMBERS, folder / "speed.png", folder / "bins.png"
    numbers.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    rows = [row for row in tables.speeds(found) if "seconds" in row]
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
        "sittings": "one sitting" if found["sittings"] == 1 else f"{found['sittings']} sittings",
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
        "steps": str(STEPS),
        "worker": inspect.getsource(worker.measure_speed).strip(),
        "sources": "\n\n".join(_listing(peer.file) for peer in known_peers()),
    }
    parts |= {
        f"{place}_{loss}": tables.error_table(found, place, loss)
        for place in ("line", "circle")
        for loss in ("l1", "l2")
    }
    parts |= {f"growth_{name}": text for name, text in tables.growth_tables(found).items()}
    return template.substitute(parts)


def speed_words(found: dict[str, Any]) -> str:
    """Who is fastest, in words that follow from the numbers."""
    rows = [row for row in tables.speeds(found) if "seconds" in row]
    ours = [row for row in rows if row["whose"] == "ours"]
    published = [row for row in rows if row["label"].startswith("published")]
    packages = [row for row in rows if row["whose"] == "peer" and row not in published]
    best = ours[0]
    text = f"The fastest here is {best['label']}, at {tables.number(best['ratio'])} times the floor's time."
    numbers = [row for row in packages if found["peers"][row["peer"]]["error"]]
    kinds = (("published sampler", published), ("package", packages), ("package for numbers", numbers))
    for kind, chosen in kinds:
        if chosen:
            times = tables.number(chosen[0]["ratio"] / best["ratio"])
            text += f" The fastest {kind} ({chosen[0]['label']}) takes {times} times as long."
    single = next(row for row in ours if row["label"].endswith("one value a call"))
    text += f" With **one value a call** sottovoce needs {_microseconds(single)}"
    faster = [f"{row['label']} ({_microseconds(row)})" for row in packages if _beats(row, single)]
    return f"{text}; faster than that: {', '.join(faster)}." if faster else f"{text}, less than any package."


def _beats(row: dict[str, Any], single: dict[str, Any]) -> bool:
    """Whether an operation that takes one value a call takes less time than ours."""
    return bool(row["seconds"] < single["seconds"] and not row["label"].endswith("vector"))


def _microseconds(row: dict[str, Any]) -> str:
    return f"{1e6 * row['seconds']:.1f} µs"


def _listing(file: Path) -> str:
    """A peer's file from what it needs on."""
    text = file.read_text(encoding="utf-8")
    return f"`{file.name}`:\n\n```py\n{text[text.index('DISTRIBUTIONS') :].strip()}\n```"
