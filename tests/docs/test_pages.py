"""What the site does to pages and docstrings on their way to HTML."""

from __future__ import annotations

from tools.griffe_doctests import fenced
from tools.site_pages import on_page_content, on_page_markdown, table


def test_examples_of_docstrings_are_fenced() -> None:
    text = "One.\n>>> 1 + 1  # doctest: +ELLIPSIS\n2\n\nTwo.\n\n>>> 3\n3"
    assert fenced(text).split("\n") == [
        *("One.", "", "```pycon", ">>> 1 + 1", "2", "```", ""),
        *("Two.", "", "```pycon", ">>> 3", "3", "```"),
    ]


def test_powers_are_raised_outside_code() -> None:
    page = '<a href="x^2">e^ε, e^{ε/2}</a>, 10^−6 and |y − x|^k; <code>2^16</code> <pre>2^W\n3^W</pre>, a ^ b'
    assert on_page_content(page) == (
        '<a href="x^2">e<sup>ε</sup>, e<sup>ε/2</sup></a>, 10<sup>−6</sup> and |y − x|<sup>k</sup>; '
        "<code>2^16</code> <pre>2^W\n3^W</pre>, a ^ b"
    )


def test_tables_keep_their_columns() -> None:
    assert table(("a", "b"), [("1", "x|y")]) == "| a | b |\n|---|---|\n| 1 | x\\|y |"


def test_a_page_gets_what_it_asks_for() -> None:
    assert "| `max_batch` |" in on_page_markdown("# Settings\n\n<!-- settings -->\n")
    for other in ("Nothing. <!-- settings --> in a line stays.", "<!-- end -->"):
        assert on_page_markdown(other) == other
