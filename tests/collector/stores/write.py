"""Writes the stores of earlier versions beside it, with the code of that time, over HTTP.

    git archive COMMIT src tests | tar x -C /tmp/then
    cd /tmp/then && PYTHONPATH=src:. python …/tests/collector/stores/write.py SCHEMA

SCHEMA is that of the commit: 0001 f5d5a58, 0002 b8dee3d (the end of 0.1.0), 0003 cb042ac, 0004 6f28fd6. For
each there are two dumps, one of SQLite and one of PostgreSQL, and SCHEMA.json: what the store knew then.
"""

import datetime as dt
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from starlette.testclient import TestClient
from tests.collector.cluster import Cluster
from tests.collector.service import Running

import sottovoce as sv
from sottovoce.collector import Settings, create_app, open_store

HERE = Path(__file__).parent
BODY = {"cells": [3, 9, 40] * 30}
KEY = "0123456789abcdef" * 2


def at(day: int) -> None:
    """From now on it is this day of January 2026, for every module of the collector."""
    for name, module in list(sys.modules.items()):
        if name.startswith("sottovoce.collector") and hasattr(module, "now"):
            module.now = lambda: dt.datetime(2026, 1, day, 12, tzinfo=dt.UTC)


def fill(url: str, schema: str) -> dict[str, object]:
    """Campaigns of three kinds, reports of two days, tokens, keys, refusals; what the store then counts."""
    app = create_app(open_store(url), Settings(rate=0), secret=bytes(32))
    old = {"out_of_range": "missing"} if schema < "0003" else {"outside": "missing"}
    designs = {
        "commute": sv.sw(epsilon=1.0, domain=(0, 120), cells=64),
        "hours": sv.ogpm(epsilon=2.0, domain=sv.Circle(24), cells=60),
        "coin": sv.two_scale(1.0, (0, 24), cells=64),
    }
    with TestClient(app) as client:
        running = Running(client, app)
        at(5)
        running.create(designs["commute"], name="gone")
        running.store.purge(1)
        rules = {"title": "Your way", "missing": 45.0, "closes": "2999-01-01T00:00:00Z", **old}
        commute = running.create(designs["commute"], name="commute", collection="write", **rules)
        writer = running.token("write", commute.id)
        hours = running.create(designs["hours"], name="hours", collection="enrolment")
        tokens = [running.token("enrolment", hours.id) for _ in range(4)]
        coin = running.create(designs["coin"], name="coin", collection="write", retention_days=900)
        body = json.dumps({"digest": designs["commute"].digest, **BODY})
        assert running.post_raw(body.encode(), name="commute", key=KEY, token=writer).status_code == 200
        for cell, token in zip((7, 7, 8), tokens, strict=False):
            assert running.post(designs["hours"], [cell], name="hours", token=token).status_code == 200
        assert running.post(designs["commute"], [64], name="commute", token=writer).status_code == 422
        at(6)
        for count in (70, 5):
            sent = [count % 64] * count
            assert running.post(designs["commute"], sent, name="commute", token=writer).status_code == 200
        writer = running.token("write", coin.id)
        assert running.post(designs["coin"], [1] * 66, name="coin", token=writer).status_code == 200
        return {
            "counts": {one.stored.name: counted(running.store, one) for one in (commute, hours, coin)},
            "digests": {name: design.digest for name, design in designs.items()},
            "key": KEY,
            "body": body,
            "unspent": tokens[3],
            "spent": tokens[0],
        }


def counted(store, campaign) -> list[list[int]]:
    """[cell, reports] of everything that is stored, published or not."""
    mechanism = getattr(campaign, "reporter", None) or campaign.mechanism
    counts = store.counts(campaign.id, mechanism.cells)
    if hasattr(store, "waiting"):
        for _, cell in store.waiting(campaign.id):
            counts[cell] += 1
    return [[cell, int(number)] for cell, number in enumerate(counts) if number]


def main(schema: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        known = {"sqlite": fill(f"{folder}/store.db", schema)}
        with sqlite3.connect(f"{folder}/store.db") as file:
            (HERE / f"{schema}.sqlite.sql").write_text("\n".join(file.iterdump()) + "\n")
    cluster = Cluster()
    try:
        url = cluster.database()
        known["postgresql"] = fill(url, schema)
        dump = [str(cluster._bin / "pg_dump"), "--inserts", "--no-owner", "--no-privileges", url]
        text = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
        # Comments, and settings that other versions of PostgreSQL do not know.
        kept = re.sub(r"^(--|SET |SELECT pg_catalog.set_config|\\).*\n", "", text, flags=re.MULTILINE)
        (HERE / f"{schema}.postgresql.sql").write_text(re.sub(r"\n{2,}", "\n", kept).lstrip())
    finally:
        cluster.remove()
    (HERE / f"{schema}.json").write_text(json.dumps(known) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
