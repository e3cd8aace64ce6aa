"""A salary survey: percentiles, with intervals that assume nothing.

People round, joke or leave when asked for a salary. Here the form in their browser
randomises it before it is sent; the survey still finds the percentiles.

Data: a simulated population of 50,000, in thousands a year, one in ten on the same
pay grade.

To see: the intervals hold for every possible distribution, spikes included, so they
are wider than the estimate's actual error. Where many share a salary, as around the
pay grade at 52, they are narrow.
"""

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv

# What people keep to themselves.
rng = np.random.default_rng(2026)
people = 50_000
salary = rng.lognormal(np.log(40), 0.45, people)
salary[rng.random(people) < 0.1] = 52.0  # a tenth is on the same pay grade

# The form asks for 0 to 150. Whoever earns more counts as 150 (clip=True): no
# percentile below notices. (rng= makes this example repeat.)
m = sv.sw(epsilon=2.0, domain=(0, 150))
tally = sv.Tally(m, m.report(salary, clip=True, rng=1))

levels = [0.1, 0.25, 0.5, 0.75, 0.9]
estimates = sv.quantile(tally, levels)
for truth, e in zip(np.quantile(salary, levels), estimates, strict=True):
    print(f"truth {truth:.1f}, {e}")

# The same as a picture: how many earn less than x.
d = sv.distribution(tally, bins=100)
truth = np.searchsorted(np.sort(salary), d.edges) / people
low, high = [e.low for e in estimates], [e.high for e in estimates]
figure, ax = plt.subplots(figsize=(8, 4), dpi=110, layout="constrained")
ax.hlines(levels, low, high, color="#c4d4e3", linewidth=7, label="95 % interval")
ax.plot(d.edges, truth, color="#c0562b", label="truth (never collected)")
ax.plot(d.edges, d.cdf(d.edges), color="#1f4e79", label="estimate")
ax.plot([e.value for e in estimates], levels, "o", color="#1f4e79", markersize=4)
ax.set(xlabel="salary, thousands a year", ylabel="share of people who earn less")
ax.set(xlim=(0, 150), ylim=(0, 1.02))
ax.set_title(f"{people:,} salaries, one report each, ε = {m.epsilon:g}")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
figure.savefig("salaries.png")
