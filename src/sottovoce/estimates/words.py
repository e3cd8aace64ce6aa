"""Numbers and words of an answer, as they are printed."""

from __future__ import annotations

import math

#: What the words for methods mean.
METHODS = {
    "decoded": "the average of what the reports stand for, right because the mechanism is unbiased",
    "unbiased": "the average of weights whose expectation is the value itself, wherever people are",
    "envelope": "limits that hold for every distribution the people may have",
    "declared": "limits that hold for every distribution of the declared shape",
    "distribution": "the value is that of the reconstructed distribution, the limits hold for every one",
    "raw": "the average report as it is, which is not the people's mean",
    "asked directly": "people were asked this very question",
    "finite": "holds for any number of reports",
    "bootstrap": "by resampling the counts",
    "sequential": "holds however often somebody looks",
    "clopper-pearson": "exact limits of a count, for any number of reports",
    "inverse": "weighted counts, with the weights that undo the noise",
    "signs": "the noise of a sign and of a share, undone",
    "functions by lot": "each person answered one function of the numbers, drawn by lot",
    "two rounds": "a first part of the people told where to look",
    "hourglass": "noise on the sum and the count together, in the shape that costs a mean least",
    "staircase2d": "noise on the sum and the count together, of equal heights in steps",
    "transformed": "noise on the sums of distances to both bounds",
    "shifted": "noise on the sum of distances to the middle, and on the count",
    "independent": "noise on the sum, and on the count",
    "swap": "noise on the sum; the number of people is public",
    "staircase": "noise on the sum, in steps",
    "geometric": "noise on the count",
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
