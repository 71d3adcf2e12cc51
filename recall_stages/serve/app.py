"""The whole server of HTTP: the API, MCP at /mcp, and the door before them."""

from __future__ import annotations

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.types import ASGIApp

from recall_stages.core.scope import Scope
from recall_stages.serve.http_app import answered_in_sentences, api_routes
from recall_stages.serve.mcp_server import McpTools
from recall_stages.serve.operation import Service
from recall_stages.serve.running import ServerSettings, guarded
from recall_stages.serve.tokens import Tokens

EVERYBODY = Scope()


def memory_app(  # noqa: PLR0913 - the settings of a server, each by name
    service: Service,
    settings: ServerSettings,
    *,
    scope: Scope = EVERYBODY,
    tokens: Tokens | None = None,
    only_mcp: bool = False,
    read_only: bool = False,
) -> ASGIApp:
    """The application that serves memories over HTTP.

    Args:
        service: What does the operations.
        settings: Where it listens, and what it lets in.
        scope: Whose memories are served at all.
        tokens: The tokens of the clients. None = no token is needed.
        only_mcp: Whether there is no API beside MCP.
        read_only: Whether the tools of MCP change nothing.

    Raises:
        SettingsError: When others than this machine could reach it, and there are no tokens.
    """
    tools = McpTools(service, scope, read_only=read_only).server()
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
        exception_handlers=answered_in_sentences(),
    )
    return guarded(app, settings, tokens=tokens, scope=scope)
