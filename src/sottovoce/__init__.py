"""sottovoce: numbers from people, without anyone's number.

    import sottovoce as sv
    m = sv.ogpm(epsilon=1.0, domain=(0, 24))
    cells = m.report(hours)
"""

from sottovoce._version import __version__
from sottovoce.auditing import Audit, audit
from sottovoce.designs.classic import duchi, ogpm, ogpm_unbiased, pm, ptt, sw
from sottovoce.domains import Circle, Interval
from sottovoce.mechanism import Mechanism, from_json

__all__ = [
    "Audit",
    "Circle",
    "Interval",
    "Mechanism",
    "__version__",
    "audit",
    "duchi",
    "from_json",
    "ogpm",
    "ogpm_unbiased",
    "pm",
    "ptt",
    "sw",
]
