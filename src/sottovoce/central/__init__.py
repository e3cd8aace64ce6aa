"""Statistics in the central model: exact noise on integer sums, under add-remove neighbours.

import sottovoce as sv

sv.central.mean(values, epsilon=1.0, domain=(0, 60))
"""

from sottovoce.central.accountant import Accountant
from sottovoce.central.mean_sum_count import count, mean, sum
from sottovoce.central.release import GroupedRelease, Release

__all__ = ["Accountant", "GroupedRelease", "Release", "count", "mean", "sum"]
