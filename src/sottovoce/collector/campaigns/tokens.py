"""Tokens: 256 random bits behind a word that says what they are for. The store keeps SHA-256 of them.

A plain hash is enough: nobody guesses 256 bits. Looking up by hash takes the same time for every wrong token,
and the comparison that decides is made in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

from sottovoce.collector.refusals import Refusal
from sottovoce.collector.store import Store
from sottovoce.collector.store.ingest import not_an_invitation

PREFIXES = {"enrolment": "enrl", "write": "writ", "read": "read", "admin": "admn"}
_KINDS = {prefix: kind for kind, prefix in PREFIXES.items()}
_ID_BYTES, _PAGE = 6, 1000
_FORM = re.compile(r"(enrl|writ|read|admn)_[A-Za-z0-9_-]{43}")


class Scope(NamedTuple):
    """What a token is good for: a kind of request to one campaign; campaign 0 is the whole collector."""

    campaign: int
    kind: str


def make(kind: str) -> str:
    """A new token.

    >>> make("read")[:5], len(make("read"))
    ('read_', 48)
    """
    return f"{PREFIXES[kind]}_{secrets.token_urlsafe(32)}"


def token_hash(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).digest()


def issue(store: Store, campaign: int, kind: str, count: int) -> list[str]:
    """Make tokens and remember their hashes; the tokens themselves exist only in what is returned."""
    tokens = [make(kind) for _ in range(count)]
    store.add_tokens(campaign, kind, [token_hash(token) for token in tokens])
    return tokens


class Token(NamedTuple):
    """A token as administrators see it."""

    id: str
    kind: str
    spent: bool


def token_id(token: str) -> str:
    """How a token is called once it has been given away: the beginning of its hash."""
    return token_hash(token)[:_ID_BYTES].hex()


def listed(store: Store, campaign: int, after: str = "") -> list[Token]:
    """Tokens of a campaign in the order of their ids, beginning after one; a thousand at most."""
    end = bytes.fromhex(after).ljust(32, b"\xff") if after.strip("0") else b""
    rows = store.tokens(campaign, end, _PAGE)
    return [Token(digest[:_ID_BYTES].hex(), kind, spent) for digest, kind, spent in rows]


def kind_of(token: str) -> str:
    """What a token says it is for; only the store knows whether that is true. Refused if it is none."""
    if not _FORM.fullmatch(token):
        raise Refusal("bad_token", argument="token")
    return _KINDS[token[:4]]


def scope(store: Store, token: str) -> Scope:
    """What a token is good for; refused if the store does not know it."""
    row = store.token(token_hash(token))
    if row is None or not hmac.compare_digest(row.kind.encode(), kind_of(token).encode()):
        raise Refusal("bad_token", argument="token")
    return Scope(row.campaign, row.kind)


def check_invitation(store: Store, campaign: int, token: str) -> None:
    """See that an enrolment token can bring its one report; nothing is spent, and nobody else learns of it.

    Args:
        store: Where its hash is.
        campaign: The campaign's number.
        token: The token, as only its holder has it.

    Raises:
        Refusal: The one that a report with it would get.
    """
    refusal = not_an_invitation(store.token(token_hash(token)), campaign)
    if refusal is not None:
        raise refusal
