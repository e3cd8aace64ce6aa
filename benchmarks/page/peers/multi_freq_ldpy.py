"""Frequency oracles under LDP for categories, compiled, one value a call; no mechanism for numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

DISTRIBUTIONS = ("multi-freq-ldpy", "numba")
# Its compiled EM needs scipy without asking for it, and it hashes strings, which xxhash 4 refuses.
REQUIRES = ("multi-freq-ldpy>=0.2.5", "numba>=0.61", "scipy>=1.13", "xxhash<4")

BINS = 32
Run = Callable[[Any], Any]


def _each(client: Callable[..., Any], epsilon: float) -> Run:
    def report(x: Any) -> list[Any]:
        return [client(value, BINS, epsilon) for value in np.minimum(x * BINS, BINS - 1).astype(int).tolist()]

    return report


def subsets(epsilon: float) -> tuple[Run, Run]:
    """Subset selection on 32 bins, the estimate by EM (its iterative Bayesian update)"""
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_IBU, SS_Client

    return _each(SS_Client, epsilon), lambda reports: SS_Aggregator_IBU(reports, BINS, epsilon)


def unary(epsilon: float) -> tuple[Run, Run]:
    """Optimised unary encoding on 32 bins, the estimate by EM (its iterative Bayesian update)"""
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_IBU, UE_Client

    return _each(UE_Client, epsilon), lambda reports: UE_Aggregator_IBU(reports, BINS, epsilon)


def subset_reports(epsilon: float) -> Run:
    """Subset selection on 32 bins"""
    return subsets(epsilon)[0]


def unary_reports(epsilon: float) -> Run:
    """Optimised unary encoding of 32 bins"""
    return unary(epsilon)[0]


HISTOGRAMS = {"subset selection + EM": subsets, "unary encoding + EM": unary}
SPEED = {"subset selection of bins": subset_reports, "unary encoding of bins": unary_reports}
