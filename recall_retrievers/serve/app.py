"""The whole server of HTTP: the page, the API, MCP at /mcp, and the door before them."""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp

from recall_retrievers.core.errors import QueryError
from recall_retrievers.core.scope import ScopeInput
from recall_retrievers.serve.door import Door, client_of
from recall_retrievers.serve.mcp_server import McpTools
from recall_retrievers.serve.operation import (
    NO_STORE,
    ScopedService,
    Service,
    answer_to,
    failure_of,
)
from recall_retrievers.serve.page import page_routes
from recall_retrievers.serve.routes import ROUTES, ApiRoute, Health, openapi
from recall_retrievers.serve.running import ServerSettings
from recall_retrievers.serve.tokens import Tokens
from recall_retrievers.store.store import Store

_log = logging.getLogger(__name__)


def create_memory_app(  # noqa: PLR0913 - the settings of a server, each by name
    store: Store,
    *,
    tokens: str | None = None,
    scope: ScopeInput = None,
    timezone: str | None = None,
    host: str = "127.0.0.1",
    allowed_hosts: Sequence[str] = (),
    rate: float | None = 100.0,
    most_bytes: int = 4_000_000,
) -> ASGIApp:
    """The server of `recall serve` as an ASGI application, over a store of yours.

    Use it if the store has an embedding model of your own, or if your application has other routes
    too. uvicorn runs it: ``uvicorn.run(app, port=8002)``.

    Args:
        store: The store, or the view of one scope.
        tokens: One token a line, with the scope to which its client is bound:
            ``TOKEN user_id=ann``. None = no token is needed.
        scope: Whose memories are served at all. None = those of the store.
        timezone: The time zone of questions that name none. None = the machine's.
        host: The address on which it is served.
        allowed_hosts: Names under which a proxy on this machine serves it, besides localhost.
        rate: The requests a second of one client. None = no limit.
        most_bytes: The bytes of one request.

    Raises:
        SettingsError: When others than this machine could reach it without a token, or there is
            no token in ``tokens``.

    Examples:
        >>> from recall_retrievers import RecallStore
        >>> from starlette.testclient import TestClient
        >>> store = RecallStore()
        >>> ids = store.add([{"content": "Tea at four.", "user_id": "ann"}])
        >>> app = create_memory_app(store, tokens="a-secret-of-ann-1 user_id=ann")
        >>> headers = {"Authorization": "Bearer a-secret-of-ann-1"}
        >>> with TestClient(app, "http://localhost", headers=headers) as client:
        ...     answer = client.post("/retrieve_personal_memory", json={"query": "Tea?"})
        ...     print(answer.json()["answer"].splitlines()[1])
          Content: Tea at four.
        >>> store.close()
    """
    settings = ServerSettings(
        host=host,
        allowed_hosts=tuple(allowed_hosts),
        rate=rate,
        most_bytes=most_bytes,
        scope=scope,
        tokens=None if tokens is None else Tokens(tokens),
    )
    return memory_app(ScopedService.of(store, timezone=timezone), settings)


def memory_app(service: Service, settings: ServerSettings) -> ASGIApp:
    """The application that serves memories over HTTP."""
    tools = McpTools(service, settings.scope, read_only=settings.read_only).server()
    # Each request is complete in itself, with a token of its own: there is no session to take over.
    over_http = tools.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=settings.most_bytes,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )  # the door checks names and origins
    app = Starlette(
        routes=[*([] if settings.only_mcp else _api_routes(service)), *over_http.routes],
        lifespan=lambda _: tools.session_manager.run(),
        exception_handlers={HTTPException: _no_such_route},
    )
    return Door(app, settings)


class _MemoryId(PathConvertor):
    """An id may hold slashes; what is to be done with its memory is no part of it."""

    regex = r".*(?<!/supersede)"


register_url_convertor("memory_id", _MemoryId())


def _api_routes(service: Service) -> list[BaseRoute]:
    api = [
        Route(
            each.path.replace("{id}", "{id:memory_id}"),
            partial(_do, service, each),
            methods=[each.method],
        )
        for each in ROUTES
    ]
    return [
        *api,
        *page_routes(),
        Route("/health", JSONResponse(Health().model_dump()), methods=["GET"]),
        Route("/openapi.json", JSONResponse(openapi()), methods=["GET"]),
    ]


async def _do(service: Service, route: ApiRoute, request: Request) -> Response:
    began, client = time.perf_counter(), client_of(request)
    try:
        values = {**await _arguments(route, request), **request.path_params}
        result = await service.do(route.operation.model_validate(values), client.scope)
    except Exception as error:  # noqa: BLE001 - a client gets a sentence, and the log the rest
        return answer_to(failure_of(error))
    took_ms = 1000 * (time.perf_counter() - began)
    _log.debug("%s by %s: %.1f ms", route.name, client.name, took_ms)
    return JSONResponse(result.model_dump(mode="json"), route.status, NO_STORE)


async def _arguments(route: ApiRoute, request: Request) -> Mapping[str, object]:
    """The arguments as they were sent: in the URL, or as a JSON object in the body."""
    if not route.has_body:
        async for part in request.stream():
            if part:
                why = f"{route.method} {route.path} takes its arguments in the URL, and no body"
                raise QueryError(why)
        named = {name: request.query_params.getlist(name) for name in request.query_params}
        return {name: each if len(each) > 1 else each[0] for name, each in named.items()}
    try:
        read = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise QueryError(f"the body must be a JSON object; it is no JSON: {error}") from None
    if not isinstance(read, Mapping):
        raise QueryError(f"the body must be a JSON object; got a {type(read).__name__}")
    return read


async def _no_such_route(request: Request, error: Exception) -> Response:
    """Answer a request outside the routes, such as for an unknown path."""
    path, status = request.url.path, error.status_code if isinstance(error, HTTPException) else 404
    if status != 405:
        why = f"there is no {path} here; /openapi.json lists what there is"
        return answer_to(HTTPException(status, why))
    methods = {
        method
        for route in request.app.routes
        if route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods or ()
    }
    allowed = ", ".join(sorted(methods))
    why = f"{path} takes {allowed.replace(', ', ' or ') or 'another method'}"
    return answer_to(HTTPException(status, why, {"Allow": allowed}))
