"""Figures that carry the numbers they draw, so that a test can tell whether a committed one is still true.

    python -m tools.figures             draw every figure of docs/figures and of the examples again
    python -m tools.figures polar       only those of docs/figures/polar.py

A script of docs/figures has a function `draw()` that returns its figures by file name. The papers' figures
come from `python -m papers`, which keeps a CSV file of each instead.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "figures"
Numbers = list[list[float]]

#: One style: letters to be read at half the size, and Okabe and Ito's colours, which everybody tells apart.
STYLE = {
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": "cycler('color', ['#0072B2', '#E69F00', '#009E73', '#D55E00', '#CC79A7', '#56B4E9'])",
}
_MOST = 160  # numbers kept of one line, bar or mesh: evenly thinned, enough to notice a change
_MARKS = ("<dc:description>", "</dc:description>")


def content(figure: Any) -> Numbers:
    """The coordinates (or heights of a mesh) of everything drawn in the axes, to four figures."""
    drawn: list[Any] = []
    for ax in figure.axes:
        drawn += [line.get_xydata() for line in ax.lines]
        drawn += [
            patch.get_patch_transform().transform(np.asarray(patch.get_path().vertices))
            for patch in ax.patches
        ]
        for one in ax.collections:
            mesh, paths = one.get_array(), one.get_paths()
            drawn += [mesh] if mesh is not None else [path.vertices for path in paths]
    return [_thinned(np.ma.filled(np.ma.asarray(numbers, float), np.nan)) for numbers in drawn]


def _thinned(numbers: Any) -> list[float]:
    flat = numbers.reshape(-1)
    flat = flat[np.isfinite(flat)]
    chosen = np.unique(np.linspace(0, len(flat) - 1, _MOST).astype(int)) if len(flat) else []
    return [float(f"{number:.4g}") for number in flat[chosen]]


def differences(one: Numbers, two: Numbers, tolerance: float = 0.01) -> list[str]:
    """Where two contents differ by more than a share of the range of what is drawn."""
    if len(one) != len(two):
        return [f"{len(one)} things drawn, not {len(two)}"]
    found = []
    for i, (a, b) in enumerate(zip(one, two, strict=True)):
        if len(a) != len(b):
            found.append(f"thing {i} has {len(a)} numbers, not {len(b)}")
        elif a and np.max(np.abs(np.subtract(a, b))) > tolerance * max(np.ptp(a), np.ptp(b), 1e-12):
            found.append(f"thing {i} moved by {np.max(np.abs(np.subtract(a, b))):.3g}")
    return found


def save(figure: Any, path: Path, **notes: str) -> None:
    """Write a PNG or SVG file with its content, and further notes, in its description."""
    import matplotlib as mpl
    from PIL.PngImagePlugin import PngInfo

    text = json.dumps({"drawn": content(figure), **notes}, separators=(",", ":"))
    more: dict[str, Any] = {"metadata": {"Date": None, "Description": text}}
    if path.suffix == ".png":
        info = PngInfo()
        info.add_text("Description", text, zip=True)
        more = {"pil_kwargs": {"pnginfo": info, "optimize": True}, "dpi": 110}
    with mpl.rc_context({"svg.hashsalt": "sottovoce"}):  # the same file from the same figure
        figure.savefig(path, **more)


def notes(path: Path) -> dict[str, Any]:
    """What `save` wrote beside the picture."""
    if path.suffix == ".svg":
        from html import unescape

        text = path.read_text("utf-8")
        if _MARKS[0] not in text:
            return {}
        description = unescape(text.split(_MARKS[0])[1].split(_MARKS[1])[0])
    else:
        from PIL import Image

        with Image.open(path) as picture:
            description = str(picture.info.get("Description", "{}"))
    return dict(json.loads(description))


def scripts() -> dict[str, Path]:
    return {path.stem: path for path in sorted(FOLDER.glob("*.py"))}


def draw(script: Path) -> dict[str, Any]:
    """The figures of one script of docs/figures, by file name."""
    import matplotlib as mpl

    mpl.use("agg")
    with mpl.rc_context(STYLE):
        return dict(runpy.run_path(str(script))["draw"]())


def main(wanted: list[str]) -> None:
    if unknown := sorted(set(wanted) - set(scripts())):
        raise SystemExit(f"no script named {unknown[0]!r}; there are: {', '.join(scripts())}")
    for name in wanted or scripts():
        for file, figure in draw(scripts()[name]).items():
            save(figure, FOLDER / file)
            print(f"docs/figures/{file}")


if __name__ == "__main__":
    main(sys.argv[1:])
