"""A collector that is started again whenever it dies: python -m tests.collector.launcher STORE PORT FOLDER

Everything is imported once; each collector is a fork of this process, so a new one is there in a fraction of
a second. Its process number is in FOLDER/pid. From the third start on its clock says the next day for some
reports.
"""

from __future__ import annotations

import datetime as dt
import itertools
import os
import random
import sys
from pathlib import Path


def main(store: str, port: int, folder: Path) -> None:
    from sottovoce.collector import Settings, logs
    from sottovoce.collector.api import intake
    from sottovoce.collector.process import server

    now = intake.now
    for start in itertools.count():
        if start == 2:
            intake.now = lambda: now() + dt.timedelta(days=random.random() < 0.1)
        child = os.fork()
        if child == 0:
            random.seed(os.getpid())
            logs.configure("error")
            server(store, "127.0.0.1", port, Settings(rate=0), secret_file=folder / "secret").run()
            os._exit(0)
        (folder / "pid.new").write_text(str(child))
        (folder / "pid.new").rename(folder / "pid")
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
