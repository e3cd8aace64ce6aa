"""Print what pip has to install for sottovoce with some of its extras, one requirement per line.

    python tools/requirements.py fast peers    the core, an extra and a dependency group
    python tools/requirements.py --all         the core, every extra and what the papers take
    python tools/requirements.py --build       the tools that install them

pip cannot check the hash of a folder, so `pip install --require-hashes .[fast]` is refused. Installing
these lines with `--require-hashes -c constraints.txt`, and then the folder alone, checks everything else.
"""

import sys
import tomllib
from pathlib import Path


def requirements(arguments: list[str]) -> list[str]:
    pyproject = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))
    if arguments == ["--build"]:
        return sorted(pyproject["dependency-groups"]["build"])
    extras = pyproject["project"]["optional-dependencies"]
    known = extras | pyproject["dependency-groups"]
    chosen = [*extras, "papers"] if arguments == ["--all"] else arguments
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        raise SystemExit(f"no such extra: {', '.join(unknown)}; there are {', '.join(known)}")
    lines = {line for extra in chosen for line in known[extra]}
    return sorted(lines.union(pyproject["project"]["dependencies"]))


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
