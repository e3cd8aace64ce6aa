"""Every figure and table of the papers, regenerated, with the paper's number next to ours.

python -m papers            # in a clone; or, in Python:
papers.reproduce("out/papers")
"""

from __future__ import annotations

from papers.findings import Finding as Finding
from papers.findings import Run as Run
from papers.findings import Verdict as Verdict
from papers.registry import entries as entries
from papers.runner import reproduce as reproduce
