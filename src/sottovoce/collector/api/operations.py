"""Health and metrics."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from sottovoce import __version__
from sottovoce.collector.api.shapes import HealthShape, answers
from sottovoce.collector.problems import json_response
from sottovoce.collector.service import Service

router = APIRouter(tags=["operations"])


@router.get("/health", responses=answers(HealthShape))
async def health(request: Request) -> Response:
    """Does the store answer?"""
    service: Service = request.app.state.service
    await service.ask(service.data.check)
    return json_response({"status": "ok", "version": __version__, "store": service.data.kind})


@router.get("/metrics", responses=answers(None))
async def metrics(request: Request) -> Response:
    """Prometheus text: totals, no campaign names."""
    service: Service = request.app.state.service
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
