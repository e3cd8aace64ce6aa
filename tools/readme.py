"""Print the Python of the README, so that it can be run where only the package is: `make dist` does.

python tools/readme.py > readme.py
"""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def code(text: str) -> str:
    """The Python blocks of a Markdown text, one after the other."""
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL))


if __name__ == "__main__":
    print(code(README.read_text("utf-8")))
