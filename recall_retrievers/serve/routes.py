"""The table of the HTTP API, and its description (OpenAPI 3.1), made of the models."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from recall_retrievers.serve.managing import (
    AddMemories,
    CountMemories,
    DeleteMemories,
    DeleteMemory,
    GetMemory,
    ListMemories,
    SupersedeMemory,
    UpdateMemory,
)
from recall_retrievers.serve.operation import Operation, RetrievePersonalMemory, RetrieveTaskMemory
from recall_retrievers.serve.page import ExplainAnswer


class Problem(BaseModel):
    """Why a request was not done: what was wrong, what was expected, what to do."""

    error: str


class Health(BaseModel):
    """Whether the server can answer."""

    status: str = "ok"


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """A route of the API; names in braces in its path are arguments of the operation."""

    method: str
    path: str
    operation: type[Operation]
    status: int = 200

    @property
    def name(self) -> str:
        """The name of the operation: retrieve_personal_memory."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.operation.__name__).lower()

    @property
    def has_body(self) -> bool:
        """Whether its arguments are JSON in the body; else they are in the URL."""
        return self.method in {"POST", "PATCH"}


ROUTES = (
    ApiRoute("POST", "/retrieve_personal_memory", RetrievePersonalMemory),
    ApiRoute("POST", "/retrieve_task_memory", RetrieveTaskMemory),
    ApiRoute("POST", "/explain", ExplainAnswer),
    ApiRoute("POST", "/memories", AddMemories, status=201),
    ApiRoute("GET", "/memories", ListMemories),
    ApiRoute("DELETE", "/memories", DeleteMemories),
    ApiRoute("GET", "/memories/{id}", GetMemory),
    ApiRoute("PATCH", "/memories/{id}", UpdateMemory),
    ApiRoute("POST", "/memories/{id}/supersede", SupersedeMemory, status=201),
    ApiRoute("DELETE", "/memories/{id}", DeleteMemory),
    ApiRoute("GET", "/count", CountMemories),
)
"""All of them."""

JsonObject = dict[str, object]

_REF = "#/components/schemas/{model}"
_PROBLEMS = {
    "400": "The arguments are wrong.",
    "401": "There is no token, or it is not known.",
    "403": "The request reaches outside the scope of the token.",
    "429": "Too many requests; the header Retry-After says when to send the next one.",
    "503": "The store cannot be reached now; the header Retry-After says when to try again.",
}
_MISSING = {"404": "There is no such memory."}
_SUPERSEDED = {"409": "Another memory supersedes it already."}
_OF_A_BODY = {
    "408": "The body did not arrive in time.",
    "413": "The body is too large.",
    "415": "The body is not JSON.",
}


def openapi() -> JsonObject:
    """The description of the API."""
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        *[(each.operation, "validation") for each in ROUTES],
        *[(each.operation.result, "serialization") for each in ROUTES],
        (Problem, "serialization"),
        (Health, "serialization"),
    ]
    _, definitions = models_json_schema([*dict.fromkeys(models)], ref_template=_REF)
    schemas: dict[str, dict[str, Any]] = definitions["$defs"]
    paths: dict[str, JsonObject] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _described(route, schemas)
        if route.has_body and "{id}" in route.path:  # the id is not in the body, too
            schema: dict[str, Any] = schemas[route.operation.__name__]
            del schema["properties"]["id"]
            schema["required"] = [each for each in schema["required"] if each != "id"]
    ok = {"description": "The server answers.", "content": _json("Health")}
    paths["/health"] = {
        "get": {"operationId": "health", "security": [], "responses": {"200": ok}},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Recall",
            "version": "1",
            "description": "Memories over HTTP. A token sees the memories of its scope alone.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        # A server that only this machine reaches may need no token.
        "security": [{"bearer": []}, {}],
    }


def _described(route: ApiRoute, schemas: Mapping[str, Mapping[str, Any]]) -> JsonObject:
    name = route.operation.__name__
    in_path = re.findall(r"{(\w+)}", route.path)
    parameters = [
        {
            "name": each,
            "in": "path" if each in in_path else "query",
            "required": each in in_path,
            "schema": _in_url(schema),
        }
        for each, schema in schemas[name]["properties"].items()
        if each in in_path or not route.has_body
    ]
    body = {"requestBody": {"required": True, "content": _json(name)}} if route.has_body else {}
    done = {"description": "Done.", "content": _json(route.operation.result.__name__)}
    possible = {**_PROBLEMS, **(_MISSING if in_path else {})}
    possible |= _OF_A_BODY if route.has_body else {}
    possible |= _SUPERSEDED if route.operation is SupersedeMemory else {}
    problems = {
        status: {"description": why, "content": _json(Problem.__name__)}
        for status, why in sorted(possible.items())
    }
    return {
        "operationId": route.name,
        "summary": inspect.cleandoc(route.operation.__doc__ or name).splitlines()[0],
        **({"parameters": parameters} if parameters else {}),
        **body,
        "responses": {str(route.status): done, **problems},
    }


def _in_url(schema: dict[str, Any]) -> JsonObject:
    """The schema of an argument in a URL, where a time is no number of seconds."""
    texts = [each for each in schema.get("anyOf", ()) if each["type"] == "string"]
    return {**schema, "anyOf": texts} if texts else schema


def _json(model: str) -> JsonObject:
    return {"application/json": {"schema": {"$ref": _REF.format(model=model)}}}
