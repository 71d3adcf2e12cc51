"""The server that the tests of the HTTP API have, too."""

from serve.conftest import open_server

__all__ = ["open_server"]
