"""Private, behind ``Collection.serve``: the search page and the HTTP API of a collection."""

from crivello.summary import Summary
from crivello.web.api import Doors
from crivello.web.app import create_app
from crivello.web.engine import Engine
from crivello.web.push import Push
from crivello.web.server import Server, free_port, serve
from crivello.web.workers import serve_by_workers

__all__ = [
    "Doors",
    "Engine",
    "Push",
    "Server",
    "Summary",
    "create_app",
    "free_port",
    "serve",
    "serve_by_workers",
]
