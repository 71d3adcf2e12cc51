"""The whole server of HTTP: the API, MCP at /mcp, and the door before them."""

from __future__ import annotations

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from recall_stages.core.scope import ScopeInput
from recall_stages.serve.door import Door
from recall_stages.serve.http_app import api_routes, no_such_route
from recall_stages.serve.mcp_server import McpTools
from recall_stages.serve.operation import ScopedService, Service
from recall_stages.serve.running import ServerSettings
from recall_stages.serve.tokens import Tokens
from recall_stages.store.scoped_store import ManagedStore


def memory_app(
    service: Service,
    settings: ServerSettings,
    *,
    only_mcp: bool = False,
    read_only: bool = False,
) -> ASGIApp:
    """The application that serves memories over HTTP.

    Args:
        service: What does the operations.
        settings: What it lets in.
        only_mcp: Whether there is no API beside MCP.
        read_only: Whether the tools of MCP change nothing.
    """
    tools = McpTools(service, settings.scope, read_only=read_only).server()
    # Each request is complete in itself, with a token of its own: there is no session to take over.
    over_http = tools.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=settings.most_bytes,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )  # the door checks names and origins
    app = Starlette(
        routes=[*([] if only_mcp else api_routes(service)), *over_http.routes],
        lifespan=lambda _: tools.session_manager.run(),
        exception_handlers={HTTPException: no_such_route},
    )
    return Door(app, settings)


def create_memory_app(  # noqa: PLR0913 - the settings of a server, each by name
    store: ManagedStore,
    *,
    tokens: str = "",
    scope: ScopeInput = None,
    timezone: str | None = None,
    host: str = "127.0.0.1",
    rate: float | None = 100.0,
    most_bytes: int = 4_000_000,
) -> ASGIApp:
    """The server of `recall serve` as an ASGI application, over a store of yours.

    Use it if the store has an embedding model of your own, or if your application has other routes
    too. uvicorn runs it: ``uvicorn.run(app, port=8002)``.

    Args:
        store: The store, or the view of one scope.
        tokens: One token a line, with the scope to which its client is bound:
            ``TOKEN user_id=ann``. Empty = no token is needed.
        scope: Whose memories are served at all. None = those of the store.
        timezone: The time zone of questions that name none. None = the machine's.
        host: The address on which it is served.
        rate: The requests a second of one client. None = no limit.
        most_bytes: The bytes of one request.

    Raises:
        SettingsError: When others than this machine could reach it, and there are no tokens.

    Examples:
        >>> from recall_stages import RecallStore
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
        rate=rate,
        most_bytes=most_bytes,
        scope=scope,
        tokens=Tokens(tokens) if tokens else None,
    )
    return memory_app(ScopedService.of(store, timezone=timezone), settings)
