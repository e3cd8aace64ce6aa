"""Random requests and everything the OpenAPI document allows: never a 500, one error shape, exact counts."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from tests.collector.fuzz import Fuzzer, Request
from tests.collector.service import Running

import sottovoce as sv
from sottovoce.collector import Settings, create_app, open_store

REQUESTS = 10_000


def judge(request: Request, status: int, content: Any) -> int:
    """Reports accepted; raises if the answer is not one that a collector gives."""
    assert status < 500, request
    if status < 400:
        return int(content["accepted"]) if content and "accepted" in content else 0
    if request.method != "HEAD":
        assert set(content) == {"code", "message", "field"}, request
    return 0


def test_ten_thousand_broken_requests(tmp_path: Any, mechanism: sv.Mechanism) -> None:
    app = create_app(open_store(tmp_path / "store.db"), Settings(rate=0), secret=bytes(32))
    running = Running(None, app)  # type: ignore[arg-type]
    campaign = running.create(mechanism)
    fuzzer = Fuzzer(mechanism.digest, mechanism.cells, seed=1)

    async def ask(client: httpx.AsyncClient, count: int) -> int:
        accepted = 0
        for _ in range(count):
            request = fuzzer.request()
            answer = await client.request(
                request.method, request.path, headers=request.headers, content=request.body
            )
            is_json = answer.headers.get("content-type", "").startswith("application/json") and answer.content
            accepted += judge(request, answer.status_code, answer.json() if is_json else None)
        return accepted

    async def everything() -> int:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://x") as client,
        ):
            total = sum(await asyncio.gather(*(ask(client, REQUESTS // 50) for _ in range(50))))
            stored = await asyncio.to_thread(running.stored, campaign)
            assert total == stored
            return total

    assert asyncio.run(everything()) > 1000


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Any:
    store = open_store(tmp_path_factory.mktemp("fuzz") / "store.db")
    app = create_app(store, Settings(rate=0), secret=bytes(32))
    running = Running(None, app)  # type: ignore[arg-type]
    running.create(sv.sw(epsilon=1.0, cells=100))
    loaded = schemathesis.openapi.from_asgi("/v1/openapi.json", app)
    loaded.config.update(headers={"Authorization": f"Bearer {running.token('admin')}"})
    yield loaded
    app.state.service.close()


lazy = schemathesis.pytest.from_fixture("schema")


@lazy.include(path_regex="^/v1").parametrize()
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_everything_the_document_allows(case: Any) -> None:
    case.call_and_validate(checks=[not_a_server_error, _documented_shape])


def _documented_shape(context: Any, response: Any, case: Any) -> None:
    if response.status_code >= 400 and case.method != "HEAD":
        assert set(response.json()) == {"code", "message", "field"}
