"""The pool: reports wait here, sealed, until many can leave for the counters together.

Whoever reads the tables later must not be able to put a token and a cell together. PostgreSQL marks every
row with the transaction that wrote it, and leaves on its pages what the row was before; write-ahead logs are
in the order of arrival. So a report that comes alone never touches a counter: it joins the one row of its
campaign, across days, which is encrypted with the collector's secret. When `FULL` reports are there, a
random part of them leaves, all under one date, and `KEEP` stay. What has left is what is published.
"""

from __future__ import annotations

import hmac
import os

import numpy as np
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from sottovoce.collector.store import schema

#: Reports that stay in the pool, and the number at which the others leave it: never fewer than 64 at once.
KEEP, FULL = 64, 128
#: A report per row: its day, then its cells.
Rows = NDArray[np.int64]
# Built once: building a statement takes longer than running it.
_OF_CAMPAIGN = schema.pool.c.campaign == bindparam("owner")
_READ = select(schema.pool.c.content).where(_OF_CAMPAIGN).with_for_update()
_REPLACE = update(schema.pool).where(_OF_CAMPAIGN).values(content=bindparam("content"))
_BEGIN = insert(schema.pool).values(campaign=bindparam("owner"), content=bindparam("content"))
_DELETE = delete(schema.pool).where(_OF_CAMPAIGN)


class Pool:
    """The pools of all campaigns of a store, for those who know its secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @property
    def check(self) -> str:
        """By what the store recognises its secret."""
        return hmac.digest(self._secret, b"check", "sha256")[:16].hex()

    def read(self, connection: Connection, campaign: int) -> Rows | None:
        """The reports that wait, held until this transaction ends; None if there never were any."""
        content = connection.execute(_READ, {"owner": campaign}).scalar_one_or_none()
        return None if content is None else self._opened(campaign, bytes(content))

    def mix(self, connection: Connection, campaign: int, arrived: Rows) -> Rows:
        """Put reports in; those that come back leave for the counters."""
        old = self.read(connection, campaign)
        rows = arrived if old is None else np.concatenate([old, arrived])
        leaving = rows[:0]
        if len(rows) >= FULL:
            order = np.argsort(np.frombuffer(os.urandom(8 * len(rows)), dtype=np.uint64))
            rows, leaving = rows[order[:KEEP]], rows[order[KEEP:]]
        # Not an upsert: of two collectors that both find no row, one has to lose and start again.
        statement = _BEGIN if old is None else _REPLACE
        connection.execute(statement, {"owner": campaign, "content": self._sealed(campaign, rows)})
        return leaving

    def forget(self, connection: Connection, campaign: int, day: int) -> None:
        """Delete the reports of a day and of all before it."""
        rows = self.drain(connection, campaign)
        if rows is not None and (rows[:, 0] > day).any():
            self.mix(connection, campaign, rows[rows[:, 0] > day])

    def redate(self, connection: Connection, campaign: int, day: int) -> int:
        """Date reports of later days as of this one; returns how many there were."""
        rows = self.read(connection, campaign)
        if rows is None or not (late := rows[:, 0] > day).any():
            return 0
        rows[late, 0] = day
        connection.execute(_REPLACE, {"owner": campaign, "content": self._sealed(campaign, rows)})
        return int(late.sum())

    def drain(self, connection: Connection, campaign: int, least: int = 1) -> Rows | None:
        """Everything leaves, if there are at least so many reports; None if nothing does."""
        rows = self.read(connection, campaign)
        if rows is None or len(rows) < least:
            return None
        connection.execute(_DELETE, {"owner": campaign})
        return rows

    def _cipher(self, campaign: int, salt: bytes) -> AESGCM:
        """A key for one content only, so that the nonce may always be the same."""
        return AESGCM(hmac.digest(self._secret, b"pool" + campaign.to_bytes(8, "little") + salt, "sha256"))

    def _sealed(self, campaign: int, rows: Rows) -> bytes:
        salt, ordered = os.urandom(16), rows[np.lexsort(rows.T[::-1])]
        plain = np.append(rows.shape[1], ordered).astype("<u4").tobytes()
        return salt + self._cipher(campaign, salt).encrypt(bytes(12), plain, None)

    def _opened(self, campaign: int, content: bytes) -> Rows:
        plain = self._cipher(campaign, content[:16]).decrypt(bytes(12), content[16:], None)
        numbers = np.frombuffer(plain, dtype="<u4").astype(np.int64)
        return numbers[1:].reshape(-1, int(numbers[0]))
