"""Draws that are a keyed function of the row: the same report however often a row is computed.

    words = AES_k(AES_k(row id) ⊕ (bits of the value, 0)),   k = HMAC-SHA256(secret, digest, column)

A distributed engine may compute a row twice (a retry, a speculative copy, a second action on the same
plan). Fresh randomness would then publish two reports of one person. A pseudorandom function of a secret, the
row, the column, the mechanism *and the value* gives one: two values, columns or mechanisms never share a
draw. It is CBC-MAC over two blocks, a pseudorandom function for inputs of fixed length; two words per row.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sottovoce.bulk.labels import AnyMechanism
from sottovoce.core.errors import DataError
from sottovoce.core.mixture import Mixture

SECRET_BYTES = 32


def new_secret() -> bytes:
    """A secret from the operating system, for one run."""
    return os.urandom(SECRET_BYTES)


class KeyedDraws:
    """Draws of one column under one secret. Its representation does not show the key."""

    def __init__(self, secret: bytes, column: str, mechanism: AnyMechanism) -> None:
        if len(secret) != SECRET_BYTES:
            raise ValueError(f"secret must be {SECRET_BYTES} bytes, got {len(secret)}")
        label = mechanism.digest.encode() + b"\0" + column.encode()
        self._key = hmac.new(secret, label, hashlib.sha256).digest()[:16]
        self._mechanism = mechanism

    def report(self, rows: Any, values: NDArray[np.float64], *, clip: bool = False) -> NDArray[Any]:
        """The cells of some rows, by their ids and values."""
        words = self._words(row_blocks(rows), np.ascontiguousarray(values, dtype=np.float64))
        if isinstance(self._mechanism, Mixture):
            return self._mechanism.report_from(words[:, 0], values, words[:, 1], clip=clip)
        return self._mechanism.report_from(words[:, 0], values, clip=clip)

    def _words(self, blocks: NDArray[np.uint64], values: NDArray[np.float64]) -> NDArray[np.uint64]:
        inner = self._encrypt(blocks)
        inner[:, 0] ^= values.view(np.uint64)
        return self._encrypt(inner)

    def _encrypt(self, blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
        encryptor = Cipher(algorithms.AES(self._key), modes.ECB()).encryptor()
        data = np.ascontiguousarray(blocks, dtype="<u8")
        return np.frombuffer(encryptor.update(data.tobytes()), dtype="<u8").reshape(-1, 2).copy()


def row_blocks(rows: Any) -> NDArray[np.uint64]:
    """One 128-bit block per row id: an integer as it is, text by its hash. Nulls have no identity."""
    if getattr(rows, "null_count", 0):
        raise DataError(f"row ids must not be null: {rows.null_count} of {len(rows)} are")
    array = rows.to_numpy(zero_copy_only=False) if hasattr(rows, "null_count") else np.asarray(rows)
    blocks = np.zeros((len(array), 2), dtype=np.uint64)
    if array.dtype.kind in "iu":
        blocks[:, 0] = array.astype(np.int64, copy=False).view(np.uint64)
        return blocks
    if array.dtype.kind not in "OUST" or not all(isinstance(item, str | bytes) for item in array):
        raise TypeError("row ids must be integers or text")
    digests = b"".join(
        hashlib.sha256(item.encode() if isinstance(item, str) else item).digest()[:16] for item in array
    )
    return np.frombuffer(digests, dtype="<u8").reshape(-1, 2).copy()
