"""The comparison laws: published mechanisms that are not windows, as exact formulas.

A module of this package that carries a function of its own name is a law; tests discover them.
"""

from __future__ import annotations

from sottovoce.errors import require_extra
from sottovoce.laws.bounded_laplace import bounded_laplace as bounded_laplace
from sottovoce.laws.hybrid import hybrid as hybrid
from sottovoce.laws.laplace import laplace as laplace
from sottovoce.laws.law import Law as Law
from sottovoce.laws.ptt2 import ptt2 as ptt2
from sottovoce.laws.purkayastha import purkayastha as purkayastha
from sottovoce.laws.staircase import staircase as staircase
from sottovoce.laws.truncated_laplace import truncated_laplace as truncated_laplace
from sottovoce.laws.von_mises import von_mises as von_mises

require_extra("analysis", "a law")
