"""The figures of docs/explanation/optimal.md: two certified designs.

python -m tools.figures optimal
"""

from __future__ import annotations

from typing import Any

import sottovoce as sv
from sottovoce.designs.portrait import draw_design


def draw() -> dict[str, Any]:
    return {
        "optimal-direct.png": draw_design(sv.optimal(4.0, goal="value"))[0].figure,
        "optimal-unbiased.png": draw_design(sv.optimal(2.0, (0, 24)))[0].figure,
    }
