"""The benchmarks page: speed, error, reconstruction and growth against peers and the floor, in one run.

    results = measure(against="peers")
    write_page(results, Path("benchmarks.md"))

Every peer is measured by the same script (`worker.py`) in a process of its own, in this Python if it is
installed here and otherwise in an environment made for it. A peer that does not install is in the results,
with the reason.
"""

from __future__ import annotations

from benchmarks.page.page import write_page as write_page
from benchmarks.page.run import measure as measure
