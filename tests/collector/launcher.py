"""A collector that is started again whenever it dies: python -m tests.collector.launcher STORE PORT FOLDER

Everything is imported once; each collector is a fork of this process, so a new one is there in a fraction
of a second. Its process number is in FOLDER/pid.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main(store: str, port: int, folder: Path) -> None:
    from sottovoce.collector import Settings, logs
    from sottovoce.collector.run import server

    while True:
        child = os.fork()
        if child == 0:
            logs.configure("error")
            server(store, "127.0.0.1", port, Settings(rate=0), secret_file=folder / "secret").run()
            os._exit(0)
        (folder / "pid.new").write_text(str(child))
        (folder / "pid.new").rename(folder / "pid")
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
