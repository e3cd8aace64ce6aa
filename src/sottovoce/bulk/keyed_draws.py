"""Draws that are a keyed function of the row: the same report however often a row is computed.

    words = AES_k(AES_k(row id) ⊕ (bits of x, bits of y or 0)),   k = HMAC-SHA256(secret, digest, column)

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
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sottovoce.arrays import FloatArray
from sottovoce.errors import ArgumentError, ArgumentTypeError, DataError
from sottovoce.values.checked_arrays import from_arrow

SECRET_BYTES = 32
_REPORT, _STAND_IN = b"\0", b"\1"  # what a key is for


def new_secret() -> bytes:
    """A secret from the operating system, for one run."""
    return os.urandom(SECRET_BYTES)


class KeyedDraws:
    """Draws for one column of some rows, by their ids, under one secret, which its repr does not show."""

    def __init__(self, law: Any, secret: bytes, column: str, ids: pa.Array) -> None:
        if len(secret) != SECRET_BYTES:
            raise ArgumentError(f"secret must be {SECRET_BYTES} bytes, got {len(secret)}", argument="secret")
        self._law, self._secret, self._column = law, secret, column
        self._blocks, self.rows = row_blocks(ids), len(ids)

    def report(self, values: FloatArray) -> NDArray[Any]:
        """The cells of the rows with these values: numbers, places in a list, or positions."""
        words = self._words(_REPORT, values)[:, : self._law.draws]
        return self._law.report_from(words, self._law.domain.named(values))

    def stand_ins(self) -> NDArray[np.uint64]:
        """A uniform word for every row."""
        return self._words(_STAND_IN, np.zeros(self.rows))[:, 0]

    def _words(self, purpose: bytes, values: FloatArray) -> NDArray[np.uint64]:
        text = self._law.digest.encode() + purpose + self._column.encode()
        key = hmac.new(self._secret, text, hashlib.sha256).digest()[:16]
        inner = _encrypted(key, self._blocks)
        bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64).reshape(self.rows, -1)
        inner[:, : bits.shape[1]] ^= bits
        return _encrypted(key, inner)


def _encrypted(key: bytes, blocks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    data = np.ascontiguousarray(blocks, dtype="<u8")
    return np.frombuffer(encryptor.update(data.tobytes()), dtype="<u8").reshape(-1, 2).copy()


def row_blocks(ids: pa.Array) -> NDArray[np.uint64]:
    """One 128-bit block per row id: an integer as it is, text by its hash. Nulls have no identity."""
    if ids.null_count:
        raise DataError(f"row ids must not be null: {ids.null_count} of {len(ids)} are", argument="row_id")
    if pa.types.is_integer(ids.type):
        blocks = np.zeros((len(ids), 2), dtype=np.uint64)
        blocks[:, 0] = from_arrow(ids).astype(np.int64, copy=False).view(np.uint64)
        return blocks
    items = ids.to_pylist()
    if not all(isinstance(item, str | bytes) for item in items):
        raise ArgumentTypeError("row ids must be integers or text", argument="row_id")
    digests = (hashlib.sha256(item.encode() if isinstance(item, str) else item).digest() for item in items)
    return np.frombuffer(b"".join(digest[:16] for digest in digests), dtype="<u8").reshape(-1, 2).copy()
