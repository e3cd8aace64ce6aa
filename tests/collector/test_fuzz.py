"""Random requests and everything the OpenAPI document allows: never a 500, one error shape, exact counts."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import schemathesis
from hypothesis import HealthCheck, given, settings
from tests.collector.fuzz import Fuzzer, Request
from tests.collector.service import Running

import sottovoce as sv
from sottovoce.collector import Settings, create_app, open_store
from sottovoce.collector.store import Store
from sottovoce.reporters.contract import Reporter

REQUESTS = 4_000
ALL = list(HealthCheck)


def judge(request: Request, status: int, content: Any) -> int:
    """Reports accepted; raises if the answer is not one that a collector gives."""
    assert status < 500, (status, content, request)
    if status < 400:
        return int(content["accepted"]) if content and "accepted" in content else 0
    if request.method != "HEAD":
        assert set(content) == {"code", "message", "field"}, request
    return 0


async def exchange(app: Any, request: Request) -> int:
    """One request to the application itself, without a client that would repair it first."""
    path, _, query = request.path.partition("?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in request.headers.items()],
        "client": ("203.0.113.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent: list[dict[str, Any]] = []

    messages = iter([{"type": "http.request", "body": request.body, "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in messages:
            return message
        return await asyncio.Event().wait()  # the client stays and says no more

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    is_json = (b"content-type", b"application/json") in sent[0]["headers"] and body
    return judge(request, sent[0]["status"], json.loads(body) if is_json else None)


def test_thousands_of_broken_requests(tmp_path: Path, mechanism: sv.Mechanism) -> None:
    break_requests(open_store(tmp_path / "store.db"), mechanism, REQUESTS)


def test_broken_reports_of_a_survey(store: Store, mechanism: sv.Mechanism) -> None:
    """Also rows that lack a question, have one too many, or hold cells of another: on both stores."""
    survey = sv.Survey(5 * mechanism.epsilon, dict.fromkeys("abcde", mechanism), sampled=5)
    break_requests(store, survey, REQUESTS // 4)


def break_requests(store: Store, reporter: Reporter, requests: int) -> None:
    app = create_app(store, Settings(rate=0), secret=bytes(32))
    running = Running(None, app)  # type: ignore[arg-type]
    campaign = running.create(reporter)
    token = running.writers["trial"]
    fuzzer = Fuzzer(reporter.digest, reporter.cells, seed=1, token=token, width=reporter.width)

    async def ask(count: int) -> int:
        return sum([await exchange(app, fuzzer.request()) for _ in range(count)])

    async def everything() -> int:
        async with app.router.lifespan_context(app):
            total = sum(await asyncio.gather(*(ask(requests // 50) for _ in range(50))))
            assert total == await asyncio.to_thread(running.stored, campaign)
            return total

    with ThreadPoolExecutor(1) as thread:  # an event loop of its own, whatever runs in this thread
        assert thread.submit(asyncio.run, everything()).result() > requests // 10


def test_everything_the_document_allows(tmp_path: Path) -> None:
    """schemathesis: every operation of the OpenAPI document, as an administrator."""
    app = create_app(open_store(tmp_path / "store.db"), Settings(rate=0), secret=bytes(32))
    running = Running(None, app)  # type: ignore[arg-type]
    running.create(sv.sw(epsilon=1.0, cells=100))
    headers = {"Authorization": f"Bearer {running.token('admin')}"}
    document = schemathesis.openapi.from_asgi("/v1/openapi.json", app)
    operations = [found.ok() for found in document.get_all_operations() if found.ok().path.startswith("/v1")]
    assert len(operations) >= 12
    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(max_examples=12, deadline=None, database=None, derandomize=True, suppress_health_check=ALL)
        def check(case: Any) -> None:
            if case.method != "DELETE" and "name" in (case.path_parameters or {}):
                case.path_parameters["name"] = "trial"
            if isinstance(case.body, dict) and isinstance(case.body.get("count"), int):
                case.body["count"] = min(case.body["count"], 50)  # a sheet of thousands takes a minute
            answer = case.call(headers=headers)
            assert answer.status_code < 500, case
            if answer.status_code >= 400:
                assert set(answer.json()) == {"code", "message", "field"}

        check()
    app.state.service.close()
