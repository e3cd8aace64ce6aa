"""App telemetry: how long does the app take to start?

Most starts are quick, some are slow, and the slow ones depend on what is on a
person's phone. Each phone reports one start, randomised. Times spread over two powers
of ten, so the mechanism works on their logarithm: a public change of scale, made
before randomising, costs no privacy.

Data: a simulated population of 200,000 phones, seven in ten warm starts, three in ten
cold ones.

To see: two humps, at the right places and of the right size, from reports of which
each alone says little.
"""

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv

# What stays on the phones.
rng = np.random.default_rng(2026)
phones = 200_000
cold = rng.lognormal(np.log(1.7), 0.30, phones)
warm = rng.lognormal(np.log(0.32), 0.25, phones)
seconds = np.where(rng.random(phones) < 0.3, cold, warm)

# From 0.05 to 10 seconds on a logarithmic scale; the few beyond count as the ends.
power = np.log10(seconds).clip(np.log10(0.05), 1.0)
m = sv.design("distribution", epsilon=1.0, domain=(np.log10(0.05), 1.0))
tally = sv.Tally(m, m.report(power, rng=1))  # rng= makes this example repeat

for limit in (0.5, 1.0, 2.0):
    slow = sv.probability(tally, round(np.log10(limit), 5), 1.0)
    print(f"slower than {limit:g} s: truth {np.mean(seconds > limit):.3f}, {slow}")

# The histogram, beside the truth.
d = sv.distribution(tally, bins=46)
print(f"the histogram is off by {d.distance(power):.3f} powers of ten (Wasserstein)")

figure, ax = plt.subplots(figsize=(8, 4), dpi=110, layout="constrained")
d.plot(ax, label="estimate")
truth = np.histogram(power, d.edges, density=True)[0]
ax.stairs(truth, d.edges, color="#c0562b", label="truth (never collected)")
marks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
ax.set_xticks(np.log10(marks), marks)
ax.set(xlabel="seconds until the app is ready", ylabel="density per power of ten")
ax.set_title(f"{phones:,} phones, one report each, ε = {m.epsilon:g}")
ax.legend(
    frameon=False,
    fontsize="small",
    loc="upper center",
    bbox_to_anchor=(0.5, -0.25),
    ncols=2,
)
figure.savefig("start_time.png")
