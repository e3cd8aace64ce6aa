"""The collector's secret: it keys the hashes by which a replayed request is recognised, and seals the pool.

It lives in a file beside the database, not in it. Whoever steals the database alone cannot try cells against
the stored hashes, and cannot read the reports that are not counted yet.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import tempfile
from pathlib import Path

from sottovoce.errors import ArgumentError
from sottovoce.storage.durable_file import sync

_BYTES = 32


def load(path: Path) -> bytes:
    """The secret of a file, made on first use, readable by its owner only.

    A new one is written and synced under another name and then linked: there is never half a secret, and of
    two collectors that start at once both take the one that was linked first.
    """
    if not path.exists() or path.stat().st_size == 0:  # an earlier version could leave an empty file behind
        _make(path)
    secret = path.read_bytes()
    if len(secret) != _BYTES:
        raise ArgumentError(
            f"the secret file {path} must hold {_BYTES} bytes, got {len(secret)}",
            code="secret",
            argument="secret",
        )
    return secret


def _make(path: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent) as file:  # made with mode 0600
        file.write(os.urandom(_BYTES))
        file.flush()
        os.fsync(file.fileno())
        if path.exists() and path.stat().st_size == 0:
            path.unlink()
        with contextlib.suppress(FileExistsError):
            os.link(file.name, path)
    sync(path.parent)


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
