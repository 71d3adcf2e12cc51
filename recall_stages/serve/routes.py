"""The table of the HTTP API: which operation is behind which method and path."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recall_stages.serve.managing import (
    AddMemories,
    CountMemories,
    DeleteMemories,
    DeleteMemory,
    GetMemory,
    ListMemories,
    UpdateMemory,
)
from recall_stages.serve.operation import Operation
from recall_stages.serve.retrieving import RetrievePersonalMemory, RetrieveTaskMemory


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """A route of the API.

    Attributes:
        method: The method of HTTP.
        path: The path; names in braces are arguments of the operation.
        operation: The operation.
        status: The status of its answer.
    """

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
    ApiRoute("POST", "/memories", AddMemories, status=201),
    ApiRoute("GET", "/memories", ListMemories),
    ApiRoute("DELETE", "/memories", DeleteMemories),
    ApiRoute("GET", "/memories/{id}", GetMemory),
    ApiRoute("PATCH", "/memories/{id}", UpdateMemory),
    ApiRoute("DELETE", "/memories/{id}", DeleteMemory),
    ApiRoute("GET", "/count", CountMemories),
)
"""All of them."""
