"""Links for people who are invited: each opens the survey page with a token of its own, good once."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape

from sottovoce.errors import ArgumentError

_STYLE = """
body { font: 11pt/1.4 system-ui, sans-serif; margin: 1cm; color: #16201f; }
ul { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(2, 1fr); gap: .6cm; }
li { border: 1px dashed #888; padding: .4cm; break-inside: avoid; display: flex; gap: .5cm; }
svg { width: 3.4cm; height: 3.4cm; flex: none; }
p { margin: 0 0 .2cm; } .link { font-size: 7pt; overflow-wrap: anywhere; color: #52605e; }
""".strip()


def links(address: str, campaign: str, tokens: Sequence[str]) -> list[str]:
    """A link for each token. The token travels in the fragment, which browsers send to nobody.

    Args:
        address: Where the collector is reached, such as https://survey.example.
        campaign: The campaign's name.
        tokens: Enrolment tokens.

    Returns:
        Addresses of the survey page.

    Raises:
        ArgumentError: If the address is none of the web.
    """
    if not address.startswith(("https://", "http://")):
        raise ArgumentError(f"url must begin with https://, got url={address!r}", argument="url")
    return [f"{address.rstrip('/')}/survey/{campaign}#{token}" for token in tokens]


def listed(addresses: Sequence[str]) -> str:
    """The links as CSV, a line each.

    Args:
        addresses: The links.

    Returns:
        A file's text.
    """
    text = io.StringIO()
    csv.writer(text).writerows([("link",), *((one,) for one in addresses)])
    return text.getvalue()


def sheet(title: str, addresses: Sequence[str]) -> str:
    """A page to print and cut up: a QR code for each link.

    Args:
        title: What people are invited to.
        addresses: The links.

    Returns:
        HTML that loads nothing.
    """
    import segno

    def ticket(address: str) -> str:
        code = segno.make(address, error="m", micro=False).svg_inline(omitsize=True, border=0)
        words = f"<p><strong>{escape(title)}</strong></p><p>Scan this to answer. It works once.</p>"
        return f'<li>{code}<div>{words}<p class="link">{escape(address)}</p></div></li>'

    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
    tickets = "\n".join(map(ticket, addresses))
    body = f"<body><ul>\n{tickets}\n</ul></body>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n{body}</html>\n'
