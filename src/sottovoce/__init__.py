"""sottovoce: statistics about people; every answer stays deniable.

    import sottovoce as sv
    m = sv.ogpm(epsilon=1.0, domain=(0, 24))   # a mechanism: what the device runs
    cells = m.report(hours)                    # integers: the only thing that leaves it

Public names are loaded on first use, so that importing the package stays quick on a device.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sottovoce._version import __version__

if TYPE_CHECKING:  # a line for each module
    from sottovoce import bulk as bulk, laws as laws
    from sottovoce.auditing.audit import Audit as Audit, audit as audit
    from sottovoce.auditing.check_reporter import check_reporter as check_reporter
    from sottovoce.shuffling.privacy_curve import Curve as Curve
    from sottovoce.shuffling.shuffled import Shuffled as Shuffled, shuffled as shuffled
    from sottovoce.surveys.split_budget import split_budget as split_budget
    from sottovoce.surveys.design import design as design
    from sottovoce.surveys.pair import pair as pair
    from sottovoce.surveys.polar import polar as polar
    from sottovoce.surveys.rounds.mean_rounds import two_rounds as two_rounds
    from sottovoce.surveys.rounds.pair_rounds import pair_rounds as pair_rounds
    from sottovoce.surveys.rounds.rounds import rounds as rounds
    from sottovoce.surveys.any_of import any_of as any_of
    from sottovoce.surveys.survey import survey as survey
    from sottovoce.surveys.within import within as within
    from sottovoce.values.area import Area as Area
    from sottovoce.reporters.law.disclosure import Disclosure as Disclosure, disclosure as disclosure
    from sottovoce.values.disc import Disc as Disc
    from sottovoce.values.circle import Circle as Circle
    from sottovoce.values.interval import Interval as Interval
    from sottovoce.reporters.formats import from_json as from_json
    from sottovoce.reporters.mechanism import Mechanism as Mechanism
    from sottovoce.reporters.mixture import Mixture as Mixture
    from sottovoce.values.options import Options as Options
    from sottovoce.reporters.composites.polar import Polar as Polar
    from sottovoce.reporters.contract import Reporter as Reporter
    from sottovoce.reporters.question import Question as Question
    from sottovoce.reporters.rows import Rows as Rows
    from sottovoce.reporters.composites.survey import Survey as Survey
    from sottovoce.reporters.translates import Translates as Translates
    from sottovoce.designs.choice import choice as choice
    from sottovoce.designs.classic import (
        duchi as duchi,
        ogpm as ogpm,
        ogpm_unbiased as ogpm_unbiased,
        pm as pm,
        ptt as ptt,
        sw as sw,
    )
    from sottovoce.designs.optimal import optimal as optimal
    from sottovoce.designs.place import place as place
    from sottovoce.designs.two_scale import two_scale as two_scale
    from sottovoce.device.client import Client as Client
    from sottovoce.device.ledger import Ledger as Ledger
    from sottovoce.estimates.direction import circular_mean as circular_mean, concentration as concentration
    from sottovoce.comparing.compare import Comparison as Comparison, compare as compare
    from sottovoce.comparing.difference import difference as difference, weighted as weighted
    from sottovoce.estimates.distribution import Distribution as Distribution, distribution as distribution
    from sottovoce.estimates.estimate import Estimate as Estimate
    from sottovoce.estimates.fakes import fakes as fakes
    from sottovoce.estimates.groups import Groups as Groups, groups as groups
    from sottovoce.estimates.heatmap import Heatmap as Heatmap, heatmap as heatmap
    from sottovoce.estimates.honesty import honesty as honesty
    from sottovoce.estimates.mean import mean as mean
    from sottovoce.estimates.position import mean_position as mean_position, region_share as region_share
    from sottovoce.estimates.quantile import median as median, quantile as quantile
    from sottovoce.estimates.probability import probabilities as probabilities, probability as probability
    from sottovoce.estimates.relation import (
        correlation as correlation,
        covariance as covariance,
        covariances as covariances,
        slope as slope,
    )
    from sottovoce.estimates.shares import Shares as Shares, shares as shares
    from sottovoce.estimates.summary import Answer as Answer, Summary as Summary, summary as summary
    from sottovoce.estimates.tally import Tally as Tally
    from sottovoce.estimates.variance import standard_deviation as standard_deviation, variance as variance
    from sottovoce.comparing.trend import Trend as Trend, trend as trend
    from sottovoce.planning.plan import plan as plan
    from sottovoce.planning.scenario import Plan as Plan

#: The public names of each module; a test keeps them in step with the imports above.
_NAMES = {
    "auditing.audit": "Audit audit",
    "auditing.check_reporter": "check_reporter",
    "comparing.compare": "Comparison compare",
    "comparing.difference": "difference weighted",
    "comparing.trend": "Trend trend",
    "designs.choice": "choice",
    "designs.classic": "duchi ogpm ogpm_unbiased pm ptt sw",
    "designs.optimal": "optimal",
    "designs.place": "place",
    "designs.two_scale": "two_scale",
    "device.client": "Client",
    "device.ledger": "Ledger",
    "estimates.direction": "circular_mean concentration",
    "estimates.distribution": "Distribution distribution",
    "estimates.estimate": "Estimate",
    "estimates.fakes": "fakes",
    "estimates.groups": "Groups groups",
    "estimates.heatmap": "Heatmap heatmap",
    "estimates.honesty": "honesty",
    "estimates.mean": "mean",
    "estimates.position": "mean_position region_share",
    "estimates.probability": "probabilities probability",
    "estimates.quantile": "median quantile",
    "estimates.relation": "correlation covariance covariances slope",
    "estimates.shares": "Shares shares",
    "estimates.summary": "Answer Summary summary",
    "estimates.tally": "Tally",
    "estimates.variance": "standard_deviation variance",
    "planning.plan": "plan",
    "planning.scenario": "Plan",
    "reporters.composites.polar": "Polar",
    "reporters.composites.survey": "Survey",
    "reporters.contract": "Reporter",
    "reporters.formats": "from_json",
    "reporters.law.disclosure": "Disclosure disclosure",
    "reporters.mechanism": "Mechanism",
    "reporters.mixture": "Mixture",
    "reporters.question": "Question",
    "reporters.rows": "Rows",
    "reporters.translates": "Translates",
    "shuffling.privacy_curve": "Curve",
    "shuffling.shuffled": "Shuffled shuffled",
    "surveys.any_of": "any_of",
    "surveys.design": "design",
    "surveys.pair": "pair",
    "surveys.polar": "polar",
    "surveys.rounds.mean_rounds": "two_rounds",
    "surveys.rounds.pair_rounds": "pair_rounds",
    "surveys.rounds.rounds": "rounds",
    "surveys.split_budget": "split_budget",
    "surveys.survey": "survey",
    "surveys.within": "within",
    "values.area": "Area",
    "values.circle": "Circle",
    "values.disc": "Disc",
    "values.interval": "Interval",
    "values.options": "Options",
}
_HOME: dict[str, str] = {}
for _module, _names in _NAMES.items():
    _HOME.update(dict.fromkeys(_names.split(), _module))
#: Subpackages reached as attributes.
_PARTS = frozenset({"bulk", "central", "device", "laws", "surveys"})

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"sottovoce.{_HOME[name]}"), name)
    elif name in _PARTS:
        value = importlib.import_module(f"sottovoce.{name}")
    else:
        raise AttributeError(f"module 'sottovoce' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_PARTS})
