"""This library: exact integers, words from AES-128 in counter mode under the system's entropy."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

DISTRIBUTIONS = ("scipy", "cryptography")
REQUIRES: tuple[str, ...] = ()

Run = Callable[[Any], Any]

if os.environ.get("SOTTOVOCE_PLAIN") != "1":  # with numba its loops are measured, not how they are loaded
    with suppress(ImportError):
        import_module("numba")


def aes(epsilon: float) -> Run:
    """The random words alone, 8 bytes a value"""
    from sottovoce.randomness.secure_stream import secure_stream

    def run(x: Any) -> None:
        for _ in secure_stream().blocks(len(x), 1 << 16):
            pass

    return run


def ogpm(epsilon: float) -> Run:
    """`sv.ogpm(ε).report(values)`"""
    import sottovoce as sv

    return sv.ogpm(epsilon).report


def ogpm_decoded(epsilon: float) -> Run:
    """`sv.ogpm(ε).perturb(values)`: reports decoded to numbers"""
    import sottovoce as sv

    return sv.ogpm(epsilon).perturb


def ogpm_single(epsilon: float) -> Run:
    """`sv.ogpm(ε).report(value)`, one value a call"""
    import sottovoce as sv

    report = sv.ogpm(epsilon).report
    return lambda x: [report(value) for value in x.tolist()]


def pm(epsilon: float) -> Run:
    """`sv.pm(ε, (0, 1)).report(values)`"""
    import sottovoce as sv

    return sv.pm(epsilon, (0, 1)).report


def sw(epsilon: float) -> Run:
    """`sv.sw(ε).report(values)`"""
    import sottovoce as sv

    return sv.sw(epsilon).report


def circle(epsilon: float) -> Run:
    """`sv.ogpm(ε, sv.Circle(1)).report(values)`"""
    import sottovoce as sv

    return sv.ogpm(epsilon, sv.Circle(1)).report


def optimal(epsilon: float) -> Run:
    """`sv.optimal(ε, question="value", loss="l1").report(values)`"""
    import sottovoce as sv

    return sv.optimal(epsilon, question="value", loss="l1").report


def optimal_unbiased(epsilon: float) -> Run:
    """`sv.optimal(ε).report(values)`"""
    import sottovoce as sv

    return sv.optimal(epsilon).report


def two_scale(epsilon: float) -> Run:
    """`sv.two_scale(ε).report(values)`"""
    import sottovoce as sv

    return sv.two_scale(epsilon).report


def default(epsilon: float) -> tuple[Run, Run]:
    """`sv.two_scale` and `sv.distribution`, both as they are"""
    import sottovoce as sv

    m = sv.two_scale(epsilon)
    return m.report, lambda reports: sv.distribution(sv.Tally(m, reports), 512, band=False).probabilities


SPEED = {
    "AES-128-CTR words alone": aes,
    "OGPM": ogpm,
    "OGPM, decoded": ogpm_decoded,
    "OGPM, one value a call": ogpm_single,
    "OGPM on a circle": circle,
    "PM": pm,
    "SW": sw,
    "two scales": two_scale,
    "optimal, absolute error": optimal,
    "optimal, unbiased": optimal_unbiased,
}
HISTOGRAMS = {"two scales + log-density splines": default}
