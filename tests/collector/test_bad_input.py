"""Every kind of bad input: the status and code, one error shape, nothing stored, the reason counted."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.collector.service import Running, every_count

import sottovoce as sv
from sottovoce.collector.campaigns.campaign import Campaign
from sottovoce.collector.http.problems import STATUS
from sottovoce.collector.refusals import SENTENCES

BINARY = "application/vnd.sottovoce.cells"
FUTURE = (dt.datetime.now(dt.UTC) + dt.timedelta(days=2)).isoformat()
PAST = (dt.datetime.now(dt.UTC) - dt.timedelta(days=2)).isoformat()


@dataclass
class Case:
    """A request to be refused: `body` gets the digest, `token` names a kind or is a text itself."""

    code: str
    body: bytes | Callable[[str], bytes]
    kind: str = "application/json"
    name: str | None = None
    key: str | None = None
    token: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def cells(text: str) -> Callable[[str], bytes]:
    return lambda digest: f'{{"digest":"{digest}","cells":{text}}}'.encode()


def binary(content: bytes) -> Callable[[str], bytes]:
    return lambda digest: bytes.fromhex(digest) + content


GZIP = {"Content_Encoding": "gzip"}
CASES = {
    "not json": Case("malformed", b"cells=3"),
    "empty body": Case("malformed", b""),
    "cut off": Case("malformed", b'{"digest":"'),
    "not utf-8": Case("malformed", b'{"digest":"\xff\xfe","cells":[1]}'),
    "utf-16": Case("malformed", '{"digest":"a","cells":[1]}'.encode("utf-16")),
    "byte order mark": Case("malformed", b"\xef\xbb\xbf[1]"),
    "a list": Case("malformed", b"[1,2]"),
    "another key": Case("malformed", lambda d: f'{{"digest":"{d}","cells":[1],"name":"me"}}'.encode()),
    "no digest": Case("malformed", b'{"cells":[1]}'),
    "digest not text": Case("malformed", b'{"digest":7,"cells":[1]}'),
    "cells not a list": Case("malformed", cells("7")),
    "NaN": Case("malformed", cells("[NaN]")),
    "Infinity": Case("malformed", cells("[-Infinity]")),
    "1e999": Case("malformed", cells("[1e999]")),
    "many digits": Case("malformed", cells("[" + "9" * 5000 + "]")),
    "duplicate keys": Case("duplicate_key", lambda d: f'{{"digest":"{d}","cells":[1],"cells":[2]}}'.encode()),
    "too deep": Case("too_deep", b"[" * 50_000),
    "deep objects": Case("too_deep", b'{"a":' * 10_000),
    "no idempotency key": Case("key_missing", cells("[1]"), key=""),
    "short key": Case("key_missing", cells("[1]"), key="abc"),
    "strange key": Case("key_missing", cells("[1]"), key="ab cd" * 6),
    "no token": Case("bad_token", cells("[1]"), settings={"collection": "write"}),
    "no enrolment": Case("bad_token", cells("[1]"), settings={"collection": "enrolment"}),
    "two reports, no token": Case("one_report_per_request", cells("[1,2]"), settings={"collection": "open"}),
    "two reports, binary": Case(
        "one_report_per_request", binary(bytes(4)), kind=BINARY, settings={"collection": "open"}
    ),
    "much JSON": Case("too_large", cells("[" + "1," * 40_000 + "1]")),
    "nonsense token": Case("bad_token", cells("[1]"), token="open sesame"),
    "unknown token": Case(
        "bad_token", cells("[1]"), token="writ_" + "A" * 43, settings={"collection": "write"}
    ),
    "unknown enrolment": Case(
        "bad_token", cells("[1]"), token="enrl_" + "A" * 43, settings={"collection": "enrolment"}
    ),
    "read token writes": Case("wrong_scope", cells("[1]"), token="read", settings={"collection": "write"}),
    "admin token writes": Case("wrong_scope", cells("[1]"), token="admin"),
    "write token for enrolment": Case(
        "wrong_scope", cells("[1]"), token="write", settings={"collection": "enrolment"}
    ),
    "another campaign's token": Case(
        "wrong_scope", cells("[1]"), token="other write", settings={"collection": "write"}
    ),
    "another campaign's enrolment": Case(
        "wrong_scope", cells("[1]"), token="other enrolment", settings={"collection": "enrolment"}
    ),
    "not open yet": Case("not_open_yet", cells("[1]"), settings={"opens": FUTURE}),
    "unknown campaign": Case("unknown_campaign", cells("[1]"), name="nobody"),
    "strange name": Case("unknown_campaign", cells("[1]"), name="%00"),
    "another mechanism": Case("digest_differs", b'{"digest":"' + b"0" * 64 + b'","cells":[1]}'),
    "another mechanism, binary": Case("digest_differs", bytes(34), kind=BINARY),
    "closed": Case("closed", cells("[1]"), settings={"closes": PAST}),
    "oversize": Case("too_large", b" " * ((1 << 20) + 1)),
    "oversize decompressed": Case("too_large", gzip.compress(bytes(1 << 24)), headers=GZIP),
    "too many": Case("too_large", binary(bytes(2 * 100_001)), kind=BINARY),
    "no content type": Case("unsupported_type", cells("[1]"), kind=""),
    "a form": Case("unsupported_type", cells("[1]"), kind="application/x-www-form-urlencoded"),
    "latin-1": Case("unsupported_type", cells("[1]"), kind="application/json; charset=latin-1"),
    "brotli": Case("unsupported_type", cells("[1]"), headers={"Content_Encoding": "br"}),
    "bad gzip": Case("malformed", b"not gzip", headers=GZIP),
    "half a gzip": Case("malformed", gzip.compress(b"[1,2,3]" * 99)[:-9], headers=GZIP),
    "gzip and more": Case("malformed", gzip.compress(b"[1]") + b"more", headers=GZIP),
    "cell too large": Case("cell_out_of_range", cells("[1,1000]")),
    "cell negative": Case("cell_out_of_range", cells("[-1]")),
    "cell enormous": Case("cell_out_of_range", cells("[99999999999999999999]")),
    "cell too large, binary": Case("cell_out_of_range", binary(b"\xff\xff"), kind=BINARY),
    "half a cell": Case("malformed", binary(b"\x01"), kind=BINARY),
    "half a digest": Case("malformed", b"\x01" * 31, kind=BINARY),
    "a boolean": Case("not_an_integer", cells("[1,true]")),
    "a float": Case("not_an_integer", cells("[1.0]")),
    "text": Case("not_an_integer", cells('["1"]')),
    "null": Case("not_an_integer", cells("[null]")),
    "a list inside": Case("not_an_integer", cells("[[1]]")),
    "nothing": Case("empty_batch", cells("[]")),
    "nothing, binary": Case("empty_batch", binary(b""), kind=BINARY),
    "two reports, one token": Case(
        "one_report_per_token", cells("[1,2]"), token="enrolment", settings={"collection": "enrolment"}
    ),
}


def token_of(running: Running, case: Case, campaign: Campaign, mechanism: sv.Mechanism) -> str | None:
    words = (case.token or "").split()
    if words and words[0] == "other":
        other = running.create(mechanism, name=f"other-{campaign.name}")
        return running.token(words[1], other.id)
    if case.token in ("enrolment", "write", "read", "admin"):
        return running.token(case.token, 0 if case.token == "admin" else campaign.id)
    return case.token


def check_refused(answer: Any, code: str) -> None:
    assert (answer.json()["code"], answer.status_code) == (code, STATUS[code])
    assert set(answer.json()) == {"code", "message", "field"}
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_refused_whole(embedded: Running, mechanism: sv.Mechanism, case: Case) -> None:
    name = next(f"case-{index}" for index, other in enumerate(CASES.values()) if other is case)
    campaign = embedded.create(mechanism, name=name, **case.settings)
    if case.token == "":
        embedded.writers.pop(name)
    token = token_of(embedded, case, campaign, mechanism)
    body = case.body if isinstance(case.body, bytes) else case.body(mechanism.digest)
    options = {"name": case.name or name, "key": case.key, "token": token, "kind": case.kind}
    check_refused(embedded.post_raw(body, **options, **case.headers), case.code)
    assert embedded.stored(campaign) == 0
    counted = embedded.get(f"/campaigns/{name}/summary").json()["refusals"]
    assert counted == ({} if case.code == "unknown_campaign" else {case.code: 1})


def test_the_same_request_without_the_fault_is_accepted(running: Running, mechanism: sv.Mechanism) -> None:
    """Otherwise every case above could be refused for another reason."""
    campaign = running.create(mechanism)
    assert running.post(mechanism, [1, 999]).json() == {"accepted": 2}
    plain = bytes.fromhex(mechanism.digest) + b"\x01\x00\xe7\x03"
    assert running.post_raw(plain, kind=BINARY).json() == {"accepted": 2}
    packed = gzip.compress(json.dumps({"digest": mechanism.digest, "cells": [5]}).encode())
    assert running.post_raw(packed, **GZIP).json() == {"accepted": 1}
    counts = every_count(running.store, campaign)
    assert counts[[1, 5, 999]].tolist() == [2, 1, 2]
    assert counts.sum() == running.stored(campaign) == 5


def test_the_largest_batch_is_accepted(running: Running, mechanism: sv.Mechanism) -> None:
    campaign = running.create(mechanism)
    body = bytes.fromhex(mechanism.digest) + bytes(2 * 100_000)
    assert running.post_raw(body, kind=BINARY).json() == {"accepted": 100_000}
    assert running.stored(campaign) == 100_000


def test_wrong_paths_and_methods_have_the_same_shape(embedded: Running) -> None:
    check_refused(embedded.client.get("/v1/nothing"), "not_found")
    check_refused(embedded.client.get("/v1/campaigns/"), "not_found")
    answer = embedded.client.put("/v1/campaigns")
    check_refused(answer, "method_not_allowed")
    assert "GET" in answer.headers["allow"]


def test_an_error_names_count_and_index_but_no_value(embedded: Running, mechanism: sv.Mechanism) -> None:
    embedded.create(mechanism, name="message")
    message = embedded.post(mechanism, [3, 123456, 654321], name="message").json()["message"]
    assert message == "cells must lie in 0..999: 2 of 3 do not, the first at index 1"


def test_every_documented_code_is_a_code_and_the_other_way_round() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/http-api.md").read_text()
    table = page.split("| status | code | when |")[1].split("\n\n")[0]
    documented = {
        (int(row.split("|")[1]), code.strip(" `"))
        for row in table.strip().splitlines()[1:]
        for code in row.split("|")[2].split(",")
    }
    assert documented == {(status, code) for code, status in STATUS.items() if code != "internal"}
    assert set(SENTENCES) == set(STATUS)
