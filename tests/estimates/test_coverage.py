"""Coverage of the 95 % intervals: a short version of benchmarks/interval_coverage.py, and what must fail it.

The same code as the benchmark, on a few settings. Every row is judged with its share of a false alarm of
1e-6.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from benchmarks._tables import table_in
from benchmarks.interval_coverage import (
    PAGE,
    Row,
    Setting,
    collect,
    condense,
    least_coverage,
    read,
    simulate,
    summary,
    table,
)

from sottovoce.estimates.limits.envelope import CrossFit

SETTINGS = {
    Setting("pm", 4.0, 100, "skewed"): 80,
    Setting("sw", 1.0, 100, "two peaks"): 32,
    Setting("sw", 4.0, 100_000, "skewed"): 32,
    Setting("sw", 4.0, 100_000, "two groups"): 32,
    Setting("two_scale", 1.0, 100_000, "air time"): 32,
    Setting("ogpm", 4.0, 100, "two peaks around"): 40,
    Setting("ogpm", 1.0, 100_000, "departure clock"): 32,
}


def lines(half: float, settings: dict[Setting, int] = SETTINGS) -> list[dict[str, object]]:
    return [
        {**asdict(setting), "found": condense(simulate(setting, range(runs), half))}
        for setting, runs in settings.items()
    ]


def test_every_interval_covers_at_least_as_often_as_it_says() -> None:
    rows = collect(lines(1.0))
    assert {row.quantity for row in rows} >= {
        "mean", "mean, finite", "mean, bootstrap", "mean, respondents", "variance", "variance, respondents",
        "0.5-quantile", "0.9-quantile", "0.9-quantile, respondents", "probability", "circular mean",
        "circular mean, respondents", "concentration",
    }  # fmt: skip
    assert [row for row in rows if not row.holds] == []


@pytest.mark.parametrize(
    ("setting", "quantity"),
    [
        (Setting("pm", 4.0, 100, "skewed"), "mean"),
        (Setting("ogpm", 4.0, 100, "two peaks around"), "circular mean"),
    ],
    ids=str,
)
def test_intervals_of_half_the_width_are_caught(
    setting: Setting, quantity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Setting, "quantities", [q for q in setting.quantities if quantity in q.names])
    rows = collect(lines(0.5, {setting: 100}))
    assert not next(row for row in rows if row.quantity == quantity).holds


def test_weights_tuned_to_their_own_counts_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant that envelope.py describes: the same half chooses and is weighed."""
    setting, runs = Setting("sw", 4.0, 100, "skewed"), range(80)
    quantities = [q for q in setting.quantities if q.names == ("mean",)]
    monkeypatch.setattr(Setting, "quantities", quantities)
    honest = condense(simulate(setting, runs))["mean"]
    proper = CrossFit.__init__

    def tuned(self: CrossFit, *given: object, **options: object) -> None:
        proper(self, *given, **options)  # type: ignore[arg-type]
        (one, other), (two, own) = self.halves
        self.halves = [(one, own), (two, other)]

    monkeypatch.setattr(CrossFit, "__init__", tuned)
    held, _, _ = condense(simulate(setting, runs))["mean"]
    assert honest[0] / 80 >= least_coverage(80, 1e-6)
    assert held < honest[0]


def test_the_limit_is_where_the_binomial_says() -> None:
    """P(Binomial(runs, 0.95) < limit·runs) is at most the false alarm, and one more would be above it."""
    from scipy.stats import binom

    for runs in (40, 200, 1000):
        held = round(runs * least_coverage(runs, 1e-6))
        assert binom.cdf(held - 1, runs, 0.95) <= 1e-6 < binom.cdf(held, runs, 0.95)


def test_the_page_shows_what_was_measured() -> None:
    """The tables on the page are those of the results file, and no row there is below its limit."""
    rows = collect(read())
    assert table_in(PAGE, "coverage") == table(rows)
    assert table_in(PAGE, "coverage-summary") == summary(rows)
    assert all(row.holds for row in rows)
    assert np.isfinite([row.width for row in rows]).all()
    measured = {(row.quantity, row.setting.epsilon, row.setting.n) for row in rows if row.runs >= 20}
    for quantity in ("mean", "0.9-quantile", "circular mean"):
        for n in (100, 100_000):
            assert {e for q, e, k in measured if q == quantity and k == n} >= {0.25, 1.0, 4.0}
    # All settings of a quantity together: a sharp limit.
    by_name: dict[str, list[Row]] = {}
    for row in rows:
        by_name.setdefault(row.quantity, []).append(row)
    for name, found in by_name.items():
        runs = sum(row.runs for row in found)
        held = sum(row.runs * row.coverage for row in found) / runs
        assert held >= least_coverage(runs, 1e-6 / len(by_name)), name
    worst = min(row.chance for row in rows)
    said = f"the worst would have a chance of about 1/{len(rows)}, here it is {worst:.2g}"
    assert said in PAGE.read_text().replace("\n", " ")
