"""A year of daily reports: what repetition tells an attacker, with and without kept answers.

    python -m tools.figures year           # writes docs/figures/year.png and prints the numbers

Two thousand people, a value in [0, 120] that wobbles by a minute or two from day to day and, for half of
them, moves for good in the middle of the year. Every policy of the ledger uses Duchi's two reports with ε = 1
per draw: fresh draws, one draw for all, bins, bins randomised again with ε = ¼ per send. The averaging
attacker knows how values spread over people and shrinks the mean of all reports so far towards their centre,
by the right amount. The attacker on changes compares the mean reports of the days before and after the middle
of the year, and is allowed to accuse 5 % of those who did not move.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv
from sottovoce.reporters.randomised_response import response

DAYS, PEOPLE, BINS, AGAIN = 365, 2000, 12, 0.25
MIDDLE = 183
Table = np.ndarray


def lives(rng: np.random.Generator) -> tuple[Table, Table]:
    """Values by person and day, and who moves in the middle of the year."""
    home = rng.uniform(20, 100, PEOPLE)
    moves = np.arange(PEOPLE) < PEOPLE // 2
    later = np.where(moves, rng.uniform(20, 100, PEOPLE), home)
    # Wobbles stay within a bin of ten minutes.
    centre = np.where(np.arange(DAYS) < MIDDLE, home[:, None], later[:, None])
    centre = np.floor(centre / 10) * 10 + 5
    return centre + rng.uniform(-2, 2, (PEOPLE, DAYS)), moves & (centre[:, 0] != centre[:, -1])


def reports(values: Table, rng: np.random.Generator) -> dict[str, Table]:
    """Decoded reports under each policy, as the ledger's rules make them."""
    m = sv.duchi(1.0, (0, 120))
    bins = (values // (120 / BINS)).astype(int)
    kept = m.report(np.tile((np.arange(BINS) + 0.5) * 120 / BINS, (PEOPLE, 1)), rng=rng)
    sent = np.take_along_axis(kept, bins, axis=1)
    share = upper_share(m)
    again = response(AGAIN, 2).report(sent.astype(float), rng=rng)
    return {
        "fresh draw every day": m.decode(m.report(values, rng=rng)),
        "one draw for the year": np.repeat(m.decode(m.report(values[:, :1], rng=rng)), DAYS, axis=1),
        "bins": m.decode(sent),
        # Decoded so that the mean of twice randomised reports is unbiased.
        "bins, randomised again": 120 * (again - share[0]) / (share[1] - share[0]),
    }


def upper_share(m: sv.Mechanism) -> Table:
    """How often the upper of two cells is sent after both steps, for values at either end."""
    return m.probabilities([0.0, 120.0]) @ response(AGAIN, 2).probabilities([0.0, 1.0])[:, 1]


def noise(name: str) -> tuple[float, float]:
    """Variance of a report that stays from day to day, and of what is new every day."""
    m = sv.duchi(1.0, (0, 120))
    one = float(m.variance(60.0))
    if name == "fresh draw every day":
        return 0.0, one
    if name != "bins, randomised again":
        return one, 0.0
    share = upper_share(m)
    return one, 120**2 / 4 / (share[1] - share[0]) ** 2 - one


def averaging_error(sent: Table, values: Table, name: str) -> Table:
    """Root mean squared error of the shrunk mean of the reports so far, over those who did not move."""
    days, truth = np.arange(1, DAYS + 1), values.mean(axis=1, keepdims=True)
    so_far = np.cumsum(sent, axis=1) / days
    stays, renewed = noise(name)
    trust = truth.var() / (truth.var() + stays + renewed / days)
    return np.sqrt(np.mean((60 + trust * (so_far - 60) - truth) ** 2, axis=0))


def detection(sent: Table, moved: Table, after: Table, rng: np.random.Generator) -> Table:
    """Share of movers found at 5 % false accusations, by days after the move."""
    out = []
    before = sent[:, :MIDDLE].mean(axis=1)
    for days in after:
        score = np.abs(sent[:, MIDDLE : MIDDLE + days].mean(axis=1) - before)
        score = score + rng.uniform(0, 1e-9, len(score))
        limit = np.quantile(score[~moved], 0.95)
        out.append(float((score[moved] > limit).mean()))
    return np.array(out)


def total_epsilon(name: str) -> str:
    return {
        "fresh draw every day": "ε = 365",
        "one draw for the year": "ε = 1",
        "bins": "ε = 1 per bin, changes open",
        "bins, randomised again": "ε = 1 per bin + ¼ per send",
    }[name]


def draw() -> dict[str, Any]:
    rng = np.random.default_rng(2026)
    values, moved = lives(rng)
    made, after = reports(values, rng), np.array([1, 2, 4, 7, 14, 30, 60, 120, 182])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.6), layout="constrained")
    styles = {"fresh draw every day": "#D55E00", "one draw for the year": "#0072B2", "bins": "#E69F00"}
    marks = iter("osD^")
    for name, sent in made.items():
        colour, label = styles.get(name, "#009E73"), f"{name} ({total_epsilon(name)})"
        error = averaging_error(sent[~moved], values[~moved], name)
        found = detection(sent, moved, after, rng)
        left.plot(np.arange(1, DAYS + 1), error, color=colour, label=label)
        right.plot(after, found, color=colour, marker=next(marks), markersize=5)
        first, month, year = error[0], error[29], error[-1]
        print(f"{name}: error {first:.1f} after a day, {month:.1f} after 30, {year:.1f} after a year")
        print(f"  movers found after 1, 30, 182 days: {found[0]:.2f}, {found[5]:.2f}, {found[-1]:.2f}")
    guess = float(np.sqrt(np.mean((values[~moved].mean(axis=1) - 60) ** 2)))
    print(f"without any report (guessing 60): error {guess:.1f}")
    left.axhline(guess, color="0.6", linewidth=1, linestyle="--")
    left.annotate("no report at all", (1.1, guess), textcoords="offset points", xytext=(0, 4), color="0.4")
    left.set(xscale="log", xlabel="days", ylabel="root mean squared error, minutes", ylim=(0, 26))
    left.annotate("kept answers", (365, 23.4), ha="right", va="bottom", color="0.4")
    left.set_title("An attacker who averages", fontsize="medium")
    right.axhline(0.05, color="0.6", linewidth=1, linestyle="--")
    right.annotate("by chance", (200, 0.06), va="bottom", color="0.4")
    right.set(xscale="log", xlabel="days after the change", ylabel="share of changes found", ylim=(0, 1))
    right.set_title("Changes found, at 5 % false alarms", fontsize="medium")
    right.set_xlim(0.85, 500)
    days = [1, 3, 10, 30, 100, 300]
    for ax in (left, right):
        ax.set_xticks(days, days)
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return {"year.png": figure}
