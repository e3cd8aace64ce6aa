"""Print what pip has to install for sottovoce with some of its extras, one requirement per line.

    python tools/requirements.py fast peers    the core, an extra and a dependency group
    python tools/requirements.py --all         the core, every extra and what tests, docs and papers take
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
    chosen = ["all", "dev", "docs", "papers"] if arguments == ["--all"] else list(arguments)
    lines = set(pyproject["project"]["dependencies"])
    for name in chosen:  # an extra that asks for other extras adds them to the end
        if name not in known:
            raise SystemExit(f"no such extra: {name}; there are {', '.join(known)}")
        for line in known[name]:
            if line.startswith("sottovoce["):
                chosen += line.removeprefix("sottovoce[").rstrip("]").split(",")
            else:
                lines.add(line)
    return sorted(lines)


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
