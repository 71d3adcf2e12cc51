"""The page of a server, at /: its files, and the operation that it asks questions with."""

from functools import partial
from importlib.resources import files

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recall_retrievers.core.world import World
from recall_retrievers.look.answer import Explained, Sliders, explained
from recall_retrievers.retriever.call_options import CallOptions, TimeMode, combine_options
from recall_retrievers.serve.operation import AskingOperation, ScopedService

_HTML = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Memories</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="look/look.css">
<script type="module" src="look/look.js"></script>
<body><main><h1>Memories</h1><div id="recall-page"></div></main></body>
</html>
"""
# Nothing runs or is loaded but the two files of the page; no other site may show it in a frame.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
_FILES = {"/look/look.js": "text/javascript", "/look/look.css": "text/css"}

PATHS = frozenset({"/", *_FILES})
"""Where the page and its files are. Nothing in them is anybody's."""


def page_routes() -> list[Route]:
    """The routes of the page and its files."""
    read = {path: (files("recall_retrievers") / path[1:]).read_text("utf-8") for path in _FILES}
    shown = {"/": (_HTML, "text/html")} | {
        path: (read[path], kind) for path, kind in _FILES.items()
    }

    def show(request: Request) -> Response:
        content, kind = shown[request.url.path]
        return Response(content, media_type=kind, headers=_HEADERS)

    return [Route(path, show, methods=["GET"]) for path in shown]


class ExplainAnswer(Sliders, AskingOperation):
    """Find memories, with the way to every score, and what was left out."""

    result = Explained

    time_mode: TimeMode | None = Field(
        default=None, description="What a named time does; with `when`, `since` and `until`, too."
    )

    def options(self) -> CallOptions:
        """The same; a time beside the question may do what a time in it would do."""
        named: CallOptions = {} if self.time_mode is None else {"time_mode": self.time_mode}
        return {**super().options(), **named}

    async def done_by(self, service: ScopedService) -> Explained:
        """Ask, with the settings of the call over those of the server."""
        bound = combine_options({"scope": service.scope}, self.options())
        world = partial(World, asynchronous=True)
        return await explained(service.personal, self.query, bound, self, world)
