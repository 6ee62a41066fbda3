"""Answers of ``/search`` in another form than the page: ``format=json`` as SearXNG has it, and feeds.

A request without ``format`` is for the page, whose route comes after these.
"""

from __future__ import annotations

from starlette.datastructures import QueryParams
from starlette.routing import Match, Route
from starlette.types import Scope

from crivello.errors import InvalidArgument

FORMATS = ("json", "rss", "atom")


class FormatRoute(Route):
    """A route that matches only requests that name a format."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        asked = scope["type"] == "http" and "format" in QueryParams(scope["query_string"])
        posted = scope["type"] == "http" and scope["method"] == "POST"
        return super().matches(scope) if asked or posted else (Match.NONE, {})


def chosen(parameters: QueryParams) -> str:
    """The format that a request names."""
    form = parameters.get("format", "json")
    if form not in FORMATS:
        raise InvalidArgument(
            f"{form[:40]!r} is not a format of results",
            hint=f"there are {', '.join(FORMATS)}; without format it is a page",
        )
    return form
