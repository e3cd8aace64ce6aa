"""Heart rates through the day: twenty-four means from wearables.

A maker of watches wants to know how its wearers' heart rate goes through a day. Each
watch takes part once: at an hour of its own choosing (which is not secret) it
randomises the current beats per minute and sends one integer. The collector groups
reports by hour and takes means.

Data: a simulated population, low at night, higher in the day, one in ten running in
the evening.

To see: the quiet night and the runners of the evening stand out. At four in the
morning the interval misses the truth, as one in twenty may.
"""

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv

# What the wearers keep to themselves.
rng = np.random.default_rng(2026)
people = 60_000
hour = rng.integers(0, 24, people)
resting = 64 + 9 * np.cos(2 * np.pi * (hour - 15) / 24)
running = (rng.random(people) < 0.10) & (hour >= 17) & (hour < 20)
bpm = np.where(running, rng.normal(140, 15, people), rng.gamma(60, resting / 60))

# Before anything is collected: which mechanism, and how sharp will one hour's mean be?
plan = sv.plan("mean", epsilon=2.0, people=people // 24, domain=(30, 200))
print(f"plan: {plan.best.name}, each mean within ±{plan.best.half_width:.1f}")
m = plan.best.mechanism

# On each watch. (rng= makes this example repeat.)
cells = m.report(bpm, clip=True, rng=1)

# At the collector: integers and hours, nothing else.
means = [sv.mean(sv.Tally(m, cells[hour == h])) for h in range(24)]
truth = np.array([bpm[hour == h].mean() for h in range(24)])
for h in range(0, 24, 4):
    print(f"at {h} h: truth {truth[h]:.1f}, {means[h]}")
inside = sum(e.low <= t <= e.high for e, t in zip(means, truth, strict=True))
print(f"{inside} of 24 intervals hold the truth")

low, high = [e.low for e in means], [e.high for e in means]
figure, ax = plt.subplots(figsize=(8, 4), dpi=110, layout="constrained")
ax.fill_between(range(24), low, high, color="#c4d4e3", label="95 % interval")
ax.plot([e.value for e in means], "o-", color="#1f4e79", markersize=4, label="estimate")
ax.plot(truth, color="#c0562b", label="truth (never collected)")
ax.set(xlabel="hour of the day", ylabel="mean heart rate, beats per minute")
ax.set_title(f"{people:,} wearers, one report each, ε = {m.epsilon:g}")
ax.set_xticks(range(0, 24, 3))
ax.margins(x=0.02)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
figure.savefig("heart_rate.png")
