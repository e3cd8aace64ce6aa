"""The secret: made once, whole and private; hashes that it keys cannot be tried out."""

from __future__ import annotations

import hashlib
import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.collector.service import Running, new_key

import sottovoce as sv
from sottovoce.collector import secret


def stolen_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("store.db*")) if path.suffix != ".key")


def test_keys_tokens_and_addresses_are_not_in_the_file(
    embedded: Running, mechanism: sv.Mechanism, tmp_path: Path
) -> None:
    campaign = embedded.create(mechanism, name="stolen", collection="enrolment")
    token, key = embedded.token("enrolment", campaign.id), new_key()
    answer = embedded.post(
        mechanism, [77], name="stolen", token=token, key=key, User_Agent="my-very-own-browser"
    )
    assert answer.status_code == 200
    content = stolen_bytes(Path(str(embedded.store.engine.url.database)).parent)
    assert hashlib.sha256(token.encode()).digest() in content  # the files that were read are the right ones
    for private in (token, token[5:], key, "my-very-own-browser", "testclient"):
        assert private.encode() not in content


def test_a_stored_body_hash_cannot_be_tried_out(mechanism: sv.Mechanism) -> None:
    """A plain hash of one cell falls to trying all cells; the stored one needs the secret and the key."""
    body = bytes.fromhex(mechanism.digest) + (77).to_bytes(2, "little")

    def tried(guess: object, stored: bytes) -> list[int]:
        bodies = ((c, bytes.fromhex(mechanism.digest) + c.to_bytes(2, "little")) for c in range(1000))
        return [c for c, b in bodies if guess(b) == stored]  # type: ignore[operator]

    plain = hashlib.sha256(body).digest()
    assert tried(lambda b: hashlib.sha256(b).digest(), plain) == [77]
    own, key = os.urandom(32), new_key()
    stored = secret.fingerprints(own, 1, key, body)[1]
    assert tried(lambda b: secret.fingerprints(own, 1, key, b)[1], stored) == [77]
    assert tried(lambda b: secret.fingerprints(bytes(32), 1, key, b)[1], stored) == []
    assert tried(lambda b: secret.fingerprints(own, 1, new_key(), b)[1], stored) == []


def test_fingerprints_do_not_run_into_each_other() -> None:
    made = [
        secret.fingerprints(bytes(32), campaign, key, body)
        for campaign, key, body in itertools.product((1, 256), ("ab", "abc"), (b"c", b"", b"bc"))
    ]
    assert len({body for _, body in made}) == len(made)
    assert len({key for key, _ in made}) == 4


def test_the_secret_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    first = secret.load(path)
    assert len(first) == 32
    assert secret.load(path) == first
    assert path.stat().st_mode & 0o077 == 0
    path.write_bytes(b"short")
    with pytest.raises(ValueError, match="must hold 32 bytes, got 5"):
        secret.load(path)


@pytest.mark.attack("L10")
def test_a_secret_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash in the middle of making it leaves no file; an empty one of an earlier version is replaced."""
    path = tmp_path / "secret"

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(os, "fsync", crash)
        with pytest.raises(KeyboardInterrupt):
            secret.load(path)
    assert list(tmp_path.iterdir()) == []
    path.touch()
    with monkeypatch.context() as context:
        context.setattr(secret, "_make", lambda path: None)  # as it was: every start was refused
        with pytest.raises(ValueError, match="must hold 32 bytes, got 0"):
            secret.load(path)
    assert len(secret.load(path)) == 32
    assert path.stat().st_mode & 0o077 == 0


def test_of_two_that_start_at_once_both_get_the_same_secret(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: secret.load(path), range(8)))) == 1
