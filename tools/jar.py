"""Pack compiled classes into a jar that is the same bytes on every machine: entries in order, one date.

python tools/jar.py CLASSES JAR
"""

import os
import re
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
EARLY = 1580601600  # 2020-02-02, which the wheel's builder takes as well


def pack(classes: Path, jar: Path) -> None:
    """Write the jar: its manifest first, then the files of a folder."""
    version = re.search(r'= "(.+)"', (ROOT / "src/sottovoce/_version.py").read_text())
    assert version is not None
    manifest = f"Manifest-Version: 1.0\r\nImplementation-Version: {version[1]}\r\n\r\n"
    date = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", EARLY)))[:6]
    contents = {"META-INF/MANIFEST.MF": manifest.encode()}
    contents |= {
        path.relative_to(classes).as_posix(): path.read_bytes()
        for path in sorted(classes.rglob("*"))
        if path.is_file()
    }
    with zipfile.ZipFile(jar, "w") as file:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, date)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, content)


if __name__ == "__main__":
    pack(Path(sys.argv[1]), Path(sys.argv[2]))
