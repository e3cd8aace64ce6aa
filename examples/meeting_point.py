"""A location in polar coordinates: where should the new library be?

Where people live is as private as data gets. A position around the town hall is a
distance and an angle: one linear, one circular. `sv.polar` divides ε between the two
and packs both reports into one integer. The collector finds the mean position, with
intervals, and a heat map.

Data: a simulated town, 60,000 people in two quarters within ten kilometres of the
town hall.

To see: the mean is known to less than a hundred metres, and the map finds both
quarters. It is smoothed by as much as the reports ask for, so they come out a little
wider than they are.
"""

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv
from sottovoce.compose.disc import density, mean_position

# What people keep to themselves: kilometres east and north of the town hall.
rng = np.random.default_rng(2026)
people = 60_000
old_town = rng.random(people) < 0.6
east = np.where(old_town, rng.normal(4.5, 1.3, people), rng.normal(-4.0, 1.2, people))
north = np.where(old_town, rng.normal(3.0, 1.3, people), rng.normal(-2.5, 1.2, people))

# One integer per person holds both reports. (rng= makes this example repeat.)
m = sv.polar(epsilon=4.0, radius=10.0, design="unbiased")
tally = sv.Tally(m, m.report(np.column_stack((east, north)), clip=True, rng=1))

x, y = mean_position(tally)
print(f"east, truth {east.mean():.3f}, {x}")
print(f"north, truth {north.mean():.3f}, {y}")

# Two heat maps on the same colours: shares of people per square kilometre.
found = density(tally)
distance, angle = np.hypot(east, north), np.arctan2(north, east) % (2 * np.pi)
counts = np.histogram2d(distance, angle, (found.radii, found.angles))[0]
truth = counts / people * found.density / found.probabilities
maps = {"truth (never collected)": truth, "estimate": found.density}

figure = plt.figure(figsize=(8, 4), dpi=110, layout="constrained")
axes = figure.subplots(1, 2, subplot_kw={"projection": "polar"})
for ax, (name, share) in zip(axes, maps.items(), strict=True):
    colours = {"cmap": "magma_r", "vmin": 0, "vmax": 100 * truth.max()}
    mesh = ax.pcolormesh(found.angles, found.radii, 100 * share, **colours)
    ax.grid(False)
    ax.set_title(name)
    ax.set_xticks([0, np.pi / 2, np.pi, 3 * np.pi / 2], ["E", "N", "W", "S"])
    ax.set_yticks([10], ["10 km"])
figure.suptitle(f"{people:,} people, one report each, ε = {m.epsilon:g}")
figure.colorbar(mesh, ax=axes, shrink=0.8, label="% of people per km²")
figure.savefig("meeting_point.png")
