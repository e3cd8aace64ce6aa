"""Numbers and words of an answer, as they are printed."""

from __future__ import annotations

import math

#: What the words for methods mean.
METHODS = {
    "decoded": "the average of what the reports stand for, right because the mechanism is unbiased",
    "unbiased": "the average of weights whose expectation is the value itself, wherever people are",
    "envelope": "limits that hold for every distribution the people may have",
    "distribution": "the value is that of the reconstructed distribution, the limits hold for every one",
    "raw": "the average report as it is, which is not the people's mean",
    "asked directly": "people were asked this very question",
    "finite": "holds for any number of reports",
    "bootstrap": "by resampling the counts",
    "sequential": "holds however often somebody looks",
}


def explained(method: str) -> str:
    """What a method is, in words; an empty text for one that is not in `METHODS`."""
    return "; ".join(METHODS[part] for part in method.split(", ") if part in METHODS)


def rounded(value: float, low: float, high: float) -> list[str]:
    """The numbers to about two figures of the interval's width; very small and very large ones in powers."""
    ends = [abs(end) for end in (value, low, high) if math.isfinite(end)]  # a slope may be without limit
    largest, width = max(ends, default=0.0), high - low
    decimals = 2 - math.floor(math.log10(width)) if 0 < width < math.inf else 4
    if largest == 0 or 1e-6 <= largest < 1e15:
        return [f"{number:.{min(max(0, decimals), 12)}f}" for number in (value, low, high)]
    figures = min(max(0, math.floor(math.log10(largest)) + decimals), 15)
    return [f"{number:.{figures}e}" for number in (value, low, high)]
