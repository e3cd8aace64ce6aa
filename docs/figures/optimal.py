"""Draws docs/figures/optimal-*.png: python docs/figures/optimal.py"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

import sottovoce as sv
from sottovoce.designs.pictures import draw_design

mpl.use("agg")
HERE = Path(__file__).parent

for name, m in {
    "optimal-direct": sv.optimal(4.0, loss="l2"),
    "optimal-unbiased": sv.optimal(2.0, (0, 24), unbiased=True),
}.items():
    draw_design(m)[0].figure.savefig(HERE / f"{name}.png", dpi=110)
