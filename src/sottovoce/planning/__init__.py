"""Which mechanism, what error, how many people: questions to answer before anything is collected."""

from __future__ import annotations

from sottovoce.planning.differences import DifferencePlan as DifferencePlan
from sottovoce.planning.planner import plan as plan
from sottovoce.planning.plans import Option as Option
from sottovoce.planning.plans import Plan as Plan
