"""A WebSub hub on loopback: it verifies subscriptions, and distributes what is published with a signature."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


@dataclass
class Hub:
    """A hub, and who subscribes to what."""

    url: str = ""
    method: str = "sha256"
    lease: int = 3600
    denies: bool = False
    subscribers: dict[tuple[str, str], str] = field(default_factory=dict)
    """The secrets by topic and callback."""
    verified: list[tuple[str, str, int]] = field(default_factory=list)
    """The mode and the topic of each verification, and the status of the answer."""

    async def subscribe(self, request: Request) -> Response:
        form = dict(parse_qsl((await request.body()).decode()))
        task = BackgroundTask(self._verify, form)
        return Response(status_code=202, background=task)

    def _verify(self, form: dict[str, str]) -> None:
        mode, topic, callback = form["hub.mode"], form["hub.topic"], form["hub.callback"]
        if self.denies:
            httpx.get(callback, params={"hub.mode": "denied", "hub.topic": topic, "hub.reason": "no room"})
            self.verified.append(("denied", topic, 0))
            return
        challenge = secrets.token_urlsafe(20)
        said = {
            "hub.mode": mode,
            "hub.topic": topic,
            "hub.challenge": challenge,
            "hub.lease_seconds": str(self.lease),
        }
        answer = httpx.get(callback, params=said)
        if answer.status_code == 200 and answer.text == challenge:
            if mode == "subscribe":
                self.subscribers[topic, callback] = form["hub.secret"]
            else:
                self.subscribers.pop((topic, callback), None)
        self.verified.append((mode, topic, answer.status_code))

    def publish(self, topic: str, body: bytes) -> list[int]:
        """Sends a new version of a topic to its subscribers; returns the statuses of their answers."""
        statuses = []
        for (of, callback), secret in self.subscribers.items():
            if of == topic:
                signature = hmac.new(secret.encode(), body, getattr(hashlib, self.method)).hexdigest()
                headers = {
                    "X-Hub-Signature": f"{self.method}={signature}",
                    "Content-Type": "application/atom+xml",
                }
                statuses.append(httpx.post(callback, content=body, headers=headers).status_code)
        return statuses


@contextmanager
def hub_running() -> Iterator[Hub]:
    """A hub in a thread."""
    hub = Hub()
    application = Starlette(routes=[Route("/", hub.subscribe, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    hub.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    try:
        yield hub
    finally:
        server.should_exit = True
        thread.join()
