"""What the dashboard's planner shows: errors to expect on a domain of width 1, by ε and people.

    mean                  error · z · width / √n, exact: `sottovoce.plan`'s best, the certified optimum
    distribution, quartiles  from simulations over a grid of ε and people, interpolated

The numbers take minutes to compute and depend on nothing but this library, so they are a file:
tools/planner_table.py writes it, and tests compare it with what `sottovoce.plan` says.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent / "planner.json"


@cache
def planner_table() -> dict[str, Any]:
    """The table as it is served."""
    content: dict[str, Any] = json.loads(TABLE.read_text("ascii"))
    return content
