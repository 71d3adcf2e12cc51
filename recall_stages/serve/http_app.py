"""The HTTP API: a route an operation."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from recall_stages.core.errors import QueryError
from recall_stages.serve.answers import Health
from recall_stages.serve.door import CLIENT
from recall_stages.serve.openapi import openapi
from recall_stages.serve.operation import Service
from recall_stages.serve.problems import failure_of
from recall_stages.serve.routes import ROUTES, ApiRoute
from recall_stages.serve.tokens import Client

_log = logging.getLogger(__name__)

_BUSY_S = "5"  # when to try again what is not available now


def api_routes(service: Service) -> list[BaseRoute]:
    """The routes of the API. What comes in is decided by a `Door` before it.

    Args:
        service: What does the operations.
    """
    description = openapi(ROUTES)

    async def health(_: Request) -> Response:
        return JSONResponse(Health().model_dump())

    async def described(_: Request) -> Response:
        return JSONResponse(description)

    return [
        *(Route(each.path, _endpoint(each, service), methods=[each.method]) for each in ROUTES),
        Route("/health", health),
        Route("/openapi.json", described),
    ]


def client_of(request: Request) -> Client:
    """Whose request it is; the `Door` has found that out."""
    client: Client = getattr(request.state, CLIENT)
    return client


def _endpoint(route: ApiRoute, service: Service) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        began = time.perf_counter()
        try:
            values = await _arguments(route, request)
            operation = route.operation.model_validate({**values, **request.path_params})
            result = await service.do(operation, client_of(request).scope)
        except Exception as error:  # noqa: BLE001 - a client gets a sentence, and the log the rest
            failure = failure_of(error)
            headers = {"Retry-After": _BUSY_S} if failure.status == 503 else None
            return JSONResponse({"error": failure.sentence}, failure.status, headers=headers)
        took_ms = 1000 * (time.perf_counter() - began)
        _log.debug("%s by %s: %.1f ms", route.name, client_of(request).name, took_ms)
        return JSONResponse(result.model_dump(mode="json"), route.status)

    return answer


async def _arguments(route: ApiRoute, request: Request) -> Mapping[str, object]:
    """The arguments of an operation as they were sent.

    Raises:
        QueryError: When the body is no JSON object.
    """
    if not route.has_body:
        return {
            name: values if name in route.lists else values[-1]
            for name in request.query_params
            if (values := request.query_params.getlist(name))
        }
    try:
        read = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise QueryError(f"the body must be a JSON object; it is no JSON: {error}") from None
    if not isinstance(read, Mapping):
        raise QueryError(f"the body must be a JSON object; got a {type(read).__name__}")
    return read


async def no_such_route(request: Request, error: Exception) -> Response:
    """Answer a request outside the routes, such as for an unknown path."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    if status == 405:
        methods = sorted({each.method for each in ROUTES if each.path == request.url.path})
        why = f"{request.url.path} takes {' or '.join(methods) or 'another method'}"
    else:
        why = f"there is no {request.url.path} here; /openapi.json lists what there is"
    return JSONResponse({"error": why}, status)
