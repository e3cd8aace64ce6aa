"""Frequency oracles under LDP for categories, one value a call; no mechanism for numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

DISTRIBUTIONS = ("pure-ldp",)
# It imports two packages without asking for them, and hashes strings, which xxhash 4 refuses.
REQUIRES = ("pure-ldp>=1.2", "scikit-learn<1.8", "statsmodels", "xxhash<4")

BINS = 32
Run = Callable[[Any], Any]


def _oracle(client: Any, server: Any) -> tuple[Run, Run]:
    def report(x: Any) -> list[Any]:
        return [client.privatise(1 + value) for value in bins_of(x)]

    def estimate(reports: list[Any]) -> Any:
        server.reset()
        for one in reports:
            server.aggregate(one)
        return np.maximum(server.estimate_all(range(1, BINS + 1), normalization=0), 0.0)

    return report, estimate


def bins_of(x: Any) -> list[int]:
    return np.minimum(x * BINS, BINS - 1).astype(int).tolist()


def direct(epsilon: float) -> tuple[Run, Run]:
    """Direct encoding (randomised response) on 32 bins, negative estimates set to zero"""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer

    return _oracle(DEClient(epsilon, BINS), DEServer(epsilon, BINS))


def hashing(epsilon: float) -> tuple[Run, Run]:
    """Optimised local hashing on 32 bins, negative estimates set to zero"""
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer

    return _oracle(LHClient(epsilon, BINS, use_olh=True), LHServer(epsilon, BINS, use_olh=True))


def direct_reports(epsilon: float) -> Run:
    """Randomised response on 32 bins"""
    return direct(epsilon)[0]


def hashing_reports(epsilon: float) -> Run:
    """Optimised local hashing of 32 bins"""
    return hashing(epsilon)[0]


HISTOGRAMS = {"direct encoding": direct, "local hashing": hashing}
SPEED = {"direct encoding of bins": direct_reports, "local hashing of bins": hashing_reports}
