"""Run the examples, keep their pictures, write the page that shows them.

    python -m examples                  all of them, and docs/examples.md
    python -m examples heart_rate       this one, and the page

An example is a script that prints and saves one picture into the current folder; the
kept picture carries what was printed. The page is made of the scripts' docstrings,
their pictures and their code, so nothing in it can drift.
"""

from __future__ import annotations

import ast
import contextlib
import io
import math
import os
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.figures import ROOT, notes, save

from sottovoce.reporters.law.disclosure import bound, frequencies

HERE = Path(__file__).parent
PICTURES = ROOT / "docs" / "figures" / "examples"
PAGE = ROOT / "docs" / "examples.md"

#: In the order of the page; a test finds the scripts and compares.
ORDER = (
    "heart_rate",
    "landing",
    "wind_rose",
    "salaries",
    "start_time",
    "meeting_point",
)

START = """\
# Examples

Six short scripts, each with a question, a picture, and the truth beside the estimate.
Here we know the truth; a collector does not. `python examples/heart_rate.py` runs one
of them, `make examples` runs all and writes this page, and the project's tests run them
too. `rng=` is there only so that they repeat: leave it out for real people, and the
noise comes from the operating system's entropy.
"""


def run(name: str) -> tuple[dict[str, Any], str]:
    """The names an example defines and what it prints; it must save its `figure`."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with contextlib.redirect_stdout(printed):
            names = runpy.run_path(str(HERE / f"{name}.py"))
        made = os.listdir()
    if made != [f"{name}.png"]:
        raise SystemExit(
            f"examples/{name}.py must save {name}.png and nothing else, got {made}"
        )
    plt.close("all")
    return names, printed.getvalue()


def page() -> str:
    """The page, from the scripts and what their pictures carry."""
    return "\n".join([START, *map(_section, ORDER)])


def _section(name: str) -> str:
    code = (HERE / f"{name}.py").read_text("utf-8")
    kept = notes(PICTURES / f"{name}.png")
    docstring = ast.get_docstring(ast.parse(code)) or ""
    title, _, text = docstring.partition("\n")
    body = code.split('"""\n', 2)[-1].strip()
    return f"""\
## {title.rstrip(".")}

![{title}](figures/examples/{name}.png)

{text.strip()}

{_in_words(float(kept["epsilon"]))}

```text
{kept["printed"].rstrip()}
```

`examples/{name}.py`:

```py
{body}
```
"""


def _in_words(epsilon: float) -> str:
    """What one report gives away, for somebody who has never heard of ε."""
    guess, base = frequencies(bound(epsilon), round=math.ceil)
    return (
        f"**Privacy**: ε = {epsilon:g}. Somebody who knows that a person's value is "
        "one of two\nguesses right with the report in at most "
        f"{guess} of {base} cases; without it in 50 of 100."
    )


def main(wanted: list[str]) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in wanted or ORDER:
        names, printed = run(name)
        save(
            names["figure"],
            PICTURES / f"{name}.png",
            printed=printed,
            epsilon=f"{names['m'].epsilon:g}",
        )
        print(f"== {name}\n{printed}")
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
