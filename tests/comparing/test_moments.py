"""Moments of a trend: numbers, dates and texts as ISO 8601 writes them, one kind in a series."""

from __future__ import annotations

import datetime as dt
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import sottovoce as sv

matplotlib.use("Agg")
M = sv.pm(4.0)
TALLIES = [sv.Tally(M, M.report(np.full(500, x), rng=int(10 * x))) for x in (0.2, 0.5, 0.8)]
MAY = dt.datetime(2026, 5, 1, tzinfo=dt.UTC)


def rise(moments: list[Any], **how: Any) -> sv.Trend:
    return sv.trend(dict(zip(moments, TALLIES, strict=False)), **how)


@pytest.mark.parametrize(
    ("first", "last", "days"),
    [
        ("2000", "2001", 366),  # a leap year
        ("2013-01", "2013-03", 59),
        ("2026-W09", "2026-W10", 7),
        ("2026-W09-1", "2026-W09-3", 2),
        ("2026-03-01", "2026-03-04", 3),
        ("2000", "2000-01-02", 1),
        ("2026-03-01 06:00", "2026-03-02T18:00", 1.5),
        ("2026-03-01T12:00+02:00", "2026-03-02T10:00Z", 1),
        (dt.date(2026, 3, 1), dt.date(2026, 3, 3), 2),
        (dt.date(2026, 3, 1), "2026-03-03", 2),
        (MAY, MAY + dt.timedelta(hours=6), 0.25),
        (MAY, "2026-05-02", 1),
        (np.datetime64("2026-03-01"), np.datetime64("2026-03-01T12"), 0.5),
        (np.datetime64("2026", "Y"), np.datetime64("2026-02", "M"), 31),
        (pd.Timestamp("2026-03-01"), pd.Timestamp("2026-03-05", tz="UTC"), 4),
        (("2026-03-01",), ("2026-03-02",), 1),  # keys of groups
        (0, 2.5, 2.5),
        (np.int64(2000), np.float32(2002), 2),
        ((2000,), (2004,), 4),
    ],
    ids=str,
)
def test_what_a_moment_can_be(first: Any, last: Any, days: float) -> None:
    t = rise([first, last])
    assert t.slope.value * days == pytest.approx((sv.mean(TALLIES[1]) - sv.mean(TALLIES[0])).value)
    assert t.change(first, last).value == pytest.approx(t.slope.value * days)
    assert len(t.to_frame()) == 2
    axes = t.plot()
    assert len(axes.lines) == 2
    plt.close(axes.figure)  # type: ignore[arg-type]


def test_one_moment_written_in_two_ways() -> None:
    t = rise(["2000", "2001", "2002"], per="year")
    assert 0.2 < t.slope.value < 0.4
    assert t.slope.what == "slope of the mean per year"
    assert t.change("2000-01-01", dt.date(2001, 1, 1)) == t.change("2000", "2001")
    for number in (2000, 10957):  # the days since 1970 of that year
        with pytest.raises(ValueError, match="first must be one of the moments"):
            t.change(number, "2001")
    with pytest.raises(ValueError, match="same moment"):
        rise(["2000", "2000-01-01"])


@pytest.mark.parametrize(
    "text",
    ["01/15/2013", "15.01.2013", "2013-1", "2013-1-5", "3/4/5", "2026-W9", "201301", "2013-13", "2013-02-30",
     "2013-015", "13-01-05", "99", " 2013", "\u0662\u0660\u0661\u0663", "0000", "12:30", "1.5", "spring", "",
     "2013-01-05 25:00"],
)  # fmt: skip
def test_what_may_be_read_in_two_ways_is_refused_without_the_text(text: str) -> None:
    for ask, argument in (
        (lambda: rise([text, "2013"]), "series"),
        (lambda: rise(["2012", "2013"]).change("2012", text), "last"),
    ):
        with pytest.raises(ValueError, match=f"^{argument}: a moment must be .* '2026-03-01'") as refusal:
            ask()
        assert refusal.value.argument == argument  # type: ignore[attr-defined]
        assert not text.strip() or text not in str(refusal.value)


@pytest.mark.parametrize(
    "moment",
    [True, np.True_, None, float("nan"), float("inf"), pd.NaT, np.datetime64("NaT"),
     np.datetime64(10**6, "Y"), b"2013", ("2013", "a"), 1j, dt.time(1)],
    ids=repr,
)  # fmt: skip
def test_what_is_no_moment(moment: Any) -> None:
    with pytest.raises(ValueError, match="series: a moment must be a number, a date or a time"):
        rise([moment, 2013])


@pytest.mark.parametrize(
    "moments", [("2000", 2001), (2000, dt.date(2001, 1, 1)), (1.5, np.datetime64(1, "D"))]
)
def test_numbers_beside_dates(moments: Any) -> None:
    with pytest.raises(ValueError, match="series must have numbers or dates as its moments, not both"):
        rise(list(moments))


def test_the_unit_is_of_dates() -> None:
    with pytest.raises(ValueError, match="per does not belong to times that are plain numbers"):
        rise([2000, 2001], per="year")
