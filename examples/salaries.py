"""A salary survey: the median, the quartiles and the top tenth, with intervals that assume nothing.

People round, joke or leave when asked for a salary. Here the form in their browser randomises it before it
is sent; the survey still finds the percentiles. The intervals hold for every possible distribution of
salaries, spikes included, which is why they are wider than the estimate's actual error.

Data: a simulated population, 50,000 salaries in thousands a year, log-normal with a bump at a pay grade.
"""

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv

# What people keep to themselves.
rng = np.random.default_rng(2026)
people = 50_000
salary = rng.lognormal(np.log(40), 0.45, people)
salary[rng.random(people) < 0.1] = 52.0  # a tenth is on the same pay grade

# The form asks for 0 to 150. Whoever earns more counts as 150 (clip=True): no percentile below notices.
m = sv.sw(epsilon=2.0, domain=(0, 150))
tally = sv.Tally(m, m.report(salary, clip=True, rng=1))  # rng= makes this example repeat

levels = [0.1, 0.25, 0.5, 0.75, 0.9]
estimates = sv.quantile(tally, levels)
truth = np.quantile(salary, levels)
for p, t, e in zip(levels, truth, estimates, strict=True):
    print(f"{p:.0%} earn less than: truth {t:.1f}, estimate {e.value:.1f} in {e.low:.1f} to {e.high:.1f}")

# The same as a picture: how many earn less than x.
d = sv.distribution(tally, bins=100)
x = np.sort(salary.clip(0, 150))
figure, ax = plt.subplots(figsize=(8, 4), dpi=110, layout="constrained")
ax.plot(x[::100], np.arange(1, people + 1)[::100] / people, color="#c0562b", label="truth (never collected)")
ax.plot(d.edges, d.cdf(d.edges), color="#1f4e79", label="estimate from reports")
ax.hlines(levels, [e.low for e in estimates], [e.high for e in estimates], color="#9db8d2", linewidth=6,
          alpha=0.7, label="95 % interval of a percentile")  # fmt: skip
ax.plot([e.value for e in estimates], levels, "o", color="#1f4e79", markersize=4)
ax.set(
    xlabel="salary, thousands a year", ylabel="share of people who earn less", xlim=(0, 150), ylim=(0, 1.02)
)
ax.set_title(f"{people:,} salaries, one report each, ε = {m.epsilon:g}", fontsize="medium")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
figure.savefig("salaries.png")
