"""Every figure and table of the papers, regenerated, with the paper's number next to ours.

sottovoce reproduce --output papers            # or, in Python:
sottovoce.papers.reproduce("papers")
"""

from __future__ import annotations

from sottovoce.papers.findings import Finding as Finding
from sottovoce.papers.findings import Run as Run
from sottovoce.papers.findings import Verdict as Verdict
from sottovoce.papers.registry import entries as entries
from sottovoce.papers.runner import reproduce as reproduce
