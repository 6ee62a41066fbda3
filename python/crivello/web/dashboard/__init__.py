"""The dashboard: a crawl that one can watch and steer, under ``/crawl``. See docs/dashboard.md."""

from __future__ import annotations

from starlette.routing import Route

from crivello.web.dashboard.access import log_in
from crivello.web.dashboard.acts import act
from crivello.web.dashboard.events import events
from crivello.web.dashboard.overview import crawl_page
from crivello.web.dashboard.places import host_page, url_page

__all__ = ["routes"]

routes: list[Route] = [
    Route("/crawl", crawl_page),
    Route("/crawl/host", host_page),
    Route("/crawl/url", url_page),
    Route("/crawl/events", events),
    Route("/crawl/act", act, methods=["POST"]),
    Route("/crawl/login", log_in, methods=["POST"]),
]
