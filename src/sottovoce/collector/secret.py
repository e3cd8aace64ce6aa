"""The collector's secret: it keys the hashes by which a replayed request is recognised.

It lives in a file beside the database, not in it. Whoever steals the database alone cannot try cells against
the stored hashes; whoever steals both still misses the random key that each client made.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path

_BYTES = 32


def load(path: Path) -> bytes:
    """The secret of a file, made on first use, readable by its owner only."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        secret = path.read_bytes()
        if len(secret) != _BYTES:
            raise ValueError(f"the secret file {path} must hold {_BYTES} bytes, got {len(secret)}") from None
        return secret
    secret = os.urandom(_BYTES)
    with os.fdopen(handle, "wb") as file:
        file.write(secret)
        file.flush()
        os.fsync(file.fileno())
    return secret


def fingerprints(secret: bytes, campaign: int, key: str, body: bytes) -> tuple[bytes, bytes]:
    """Keyed hashes of an idempotency key and of the body that came with it, 128 bits each.

    The body's hash covers the client's random key too, so equal bodies of two people have unequal hashes.
    """

    def keyed(*parts: bytes) -> bytes:
        mac = hmac.new(secret, digestmod=hashlib.sha256)
        for part in parts:
            mac.update(len(part).to_bytes(8, "little") + part)
        return mac.digest()[:16]

    place = campaign.to_bytes(8, "little")
    return keyed(b"key", place, key.encode()), keyed(b"body", place, key.encode(), body)
