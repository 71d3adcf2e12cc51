"""The HTTP API: a route an operation."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from recall_stages.core.errors import QueryError
from recall_stages.serve.answers import Health
from recall_stages.serve.door import CLIENT
from recall_stages.serve.openapi import openapi
from recall_stages.serve.operation import Service
from recall_stages.serve.problems import answer_to, failure_of
from recall_stages.serve.routes import ROUTES, ApiRoute
from recall_stages.serve.tokens import Client

_log = logging.getLogger(__name__)


def api_routes(service: Service) -> list[BaseRoute]:
    """The routes of the API. What comes in is decided by a `Door` before it.

    Args:
        service: What does the operations.
    """
    return [
        *(Route(each.path, partial(_do, service, each), methods=[each.method]) for each in ROUTES),
        Route("/health", JSONResponse(Health().model_dump()), methods=["GET"]),
        Route("/openapi.json", JSONResponse(openapi(ROUTES)), methods=["GET"]),
    ]


def client_of(request: Request) -> Client:
    """Whose request it is; the `Door` has found that out."""
    client: Client = getattr(request.state, CLIENT)
    return client


async def _do(service: Service, route: ApiRoute, request: Request) -> Response:
    began, client = time.perf_counter(), client_of(request)
    try:
        values = {**await _arguments(route, request), **request.path_params}
        result = await service.do(route.operation.model_validate(values), client.scope)
    except Exception as error:  # noqa: BLE001 - a client gets a sentence, and the log the rest
        return answer_to(failure_of(error))
    took_ms = 1000 * (time.perf_counter() - began)
    _log.debug("%s by %s: %.1f ms", route.name, client.name, took_ms)
    return JSONResponse(result.model_dump(mode="json"), route.status)


async def _arguments(route: ApiRoute, request: Request) -> Mapping[str, object]:
    """The arguments of an operation as they were sent.

    Raises:
        QueryError: When the body is no JSON object.
    """
    if not route.has_body:
        named = {name: request.query_params.getlist(name) for name in request.query_params}
        return {name: each if len(each) > 1 else each[0] for name, each in named.items()}
    try:
        read = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise QueryError(f"the body must be a JSON object; it is no JSON: {error}") from None
    if not isinstance(read, Mapping):
        raise QueryError(f"the body must be a JSON object; got a {type(read).__name__}")
    return read


async def no_such_route(request: Request, error: Exception) -> Response:
    """Answer a request outside the routes, such as for an unknown path."""
    path, status = request.url.path, error.status_code if isinstance(error, HTTPException) else 404
    if status == 405:
        methods = sorted({each.method for each in ROUTES if each.path == path})
        why = f"{path} takes {' or '.join(methods) or 'another method'}"
    else:
        why = f"there is no {path} here; /openapi.json lists what there is"
    return answer_to(HTTPException(status, why))
