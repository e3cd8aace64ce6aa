"""A place on a map: where should the new library be?

Where people live is private. A report about a place is a disc on the
map, as one integer, that holds the person's home more often than another disc of the
same size. The collector finds the mean position, with intervals, and a map.

Data: a simulated town, 60,000 people in two quarters within ten kilometres of the
town hall.

To see: the mean is known to less than a hundred metres, and the map finds both
quarters. It is as smooth as the reports ask for, so they come out a little wider than
they are.
"""

import matplotlib.pyplot as plt
import numpy as np

import sottovoce as sv

# What people keep to themselves: kilometres east and north of the town hall.
rng = np.random.default_rng(2026)
people = 60_000
old_town = rng.random(people) < 0.6
east = np.where(old_town, rng.normal(4.5, 1.3, people), rng.normal(-4.0, 1.2, people))
north = np.where(old_town, rng.normal(3.0, 1.3, people), rng.normal(-2.5, 1.2, people))

# One integer per person. (rng= makes this example repeat.)
m = sv.place(epsilon=4.0, radius=10.0)
tally = sv.Tally(m, m.report(np.column_stack((east, north)), clip=True, rng=1))

x, y = sv.mean_position(tally)
print(f"east, truth {east.mean():.3f}, {x}")
print(f"north, truth {north.mean():.3f}, {y}")

# Two maps on the same colours: shares of people per square kilometre.
found = sv.heatmap(tally)
side = found.positions[0, :, 0]
edges = np.append(side - (side[1] - side[0]) / 2, side[-1] + (side[1] - side[0]) / 2)
counts = np.histogram2d(north, east, (edges, edges))[0]
truth = np.where(found.areas > 0, counts / people / (side[1] - side[0]) ** 2, np.nan)
maps = {"truth (never collected)": truth, "estimate": found.density}

figure = plt.figure(figsize=(8, 4), dpi=110, layout="constrained")
axes = figure.subplots(1, 2, sharey=True)
for ax, (name, share) in zip(axes, maps.items(), strict=True):
    colours = {"cmap": "magma_r", "vmin": 0, "vmax": 100 * np.nanmax(truth)}
    mesh = ax.pcolormesh(side, side, 100 * share, **colours)
    ax.set_title(name)
    ax.set(xlabel="km east", aspect="equal")
axes[0].set(ylabel="km north")
figure.suptitle(f"{people:,} people, one report each, ε = {m.epsilon:g}")
figure.colorbar(mesh, ax=axes, shrink=0.8, label="% of people per km²")
figure.savefig("meeting_point.png")
