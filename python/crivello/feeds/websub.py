"""WebSub (W3C, 2018): a subscriber, which is told by hubs that a feed changed instead of asking.

Nothing about a subscription is stored. The callback URL of a feed names it, and ends in a code that is made from the
key of the collection by HMAC-SHA256, as the secret of the subscription is: nobody can guess them, and after a restart
they are the same; the lease is renewed then, which hubs take as any renewal. A hub's request is answered only if its topic is the feed of its
callback URL: a subscription that we asked for, or the end of one that we did not. A notification without a valid
signature is acknowledged and ignored, as the specification wants it. The content of one with it is the feed as of
now, or its new entries (7, "Content distribution"): the next poll stores it as a version of the feed, and does not
ask for it. One without content makes the feed due.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from crivello import _core
from crivello.feeds.feed import Feed
from crivello.feeds.store import FeedStore

if TYPE_CHECKING:
    from crivello.collection import Collection

LEASE = 10 * 86_400
"""The lease that is asked for, in seconds; the hub decides."""
_SHORTEST_LEASE = 300.0
_TIMEOUT = 20.0
_RETRY = 3600.0
_METHODS = {name: getattr(hashlib, name) for name in ("sha1", "sha256", "sha384", "sha512")}


@dataclass(slots=True)
class Subscription:
    """A subscription as far as this process knows."""

    feed: str
    topic: str
    hub: str
    until: float = 0.0
    """When the lease ends; 0 before it is verified."""
    asked: float = 0.0
    """When the hub was asked last."""
    failure: str = ""

    def is_due(self, now: float) -> bool:
        """Whether to ask the hub, again or for the first time: at nine tenths of the lease, or an hour after a try."""
        if self.until:
            return now >= self.until - max((self.until - self.asked) / 10, 30.0)
        return now >= self.asked + _RETRY


class Subscriber:
    """Subscribes to the hubs of a collection's feeds, and checks what they send. Thread-safe."""

    def __init__(self, collection: Collection, public_url: str) -> None:
        self._collection = collection
        self._store = FeedStore(collection)
        self._base = public_url.rstrip("/")
        self._lock = threading.Lock()
        self.subscriptions: dict[str, Subscription] = {}

    def feed(self, url: str) -> Feed | None:
        """The feed with a URL as it was committed last; ``None`` if it is not followed."""
        self._collection.refresh()
        return self._store.get(url)

    def token(self, feed: str) -> str:
        """The last part of a feed's callback URL: its URL, and a code that nobody can guess."""
        named = base64.urlsafe_b64encode(feed.encode()).decode().rstrip("=")
        return f"{named}/{self._derived(b'callback', feed)[:40]}"

    def secret(self, feed: str) -> str:
        """The secret with which the hub signs the notifications of a feed."""
        return self._derived(b"secret", feed)

    def _derived(self, purpose: bytes, feed: str) -> str:
        key = bytes.fromhex(self._store.key)
        return hmac.new(key, purpose + b"\0" + feed.encode(), hashlib.sha256).hexdigest()

    def of_token(self, token: str) -> str | None:
        """The URL of the feed with this token, whether it is still followed or its subscription still runs."""
        self._collection.refresh()
        if not self._store.key:
            return None
        named = token.partition("/")[0]
        try:
            url = base64.urlsafe_b64decode(named + "=" * (-len(named) % 4)).decode()
        except ValueError:
            return None
        is_ours = hmac.compare_digest(self.token(url).encode(), token.encode())
        return url if is_ours and (url in self.subscriptions or self.feed(url)) else None

    def confirms(self, feed: str, mode: str, topic: str, lease: float) -> bool:
        """Whether we did ask for this; a confirmed subscription begins its lease."""
        with self._lock:
            subscription = self.subscriptions.get(feed)
            if subscription is None or topic != subscription.topic:
                return False
            followed = self.feed(feed) is not None
            if mode == "subscribe" and followed:
                subscription.until = time.time() + max(lease, _SHORTEST_LEASE)
                subscription.failure = ""
                return True
            if mode == "unsubscribe" and not followed:
                del self.subscriptions[feed]
                return True
            return False

    def denied(self, feed: str, reason: str) -> None:
        """Records that the hub refuses a subscription."""
        with self._lock:
            if subscription := self.subscriptions.get(feed):
                subscription.until = 0.0
                subscription.failure = reason or "the hub refuses it"

    def is_signed(self, feed: str, header: str, body: bytes) -> bool:
        """Whether a notification has a valid signature (``X-Hub-Signature: sha256=…``)."""
        method, _, signature = header.strip().partition("=")
        if method.lower() not in _METHODS:
            return False
        expected = hmac.new(self.secret(feed).encode(), body, _METHODS[method.lower()]).hexdigest()
        return hmac.compare_digest(expected.encode(), signature.strip().lower().encode())

    def renew(self) -> None:
        """Asks the hubs of all feeds whose subscription is missing or ends soon, and ends those of removed feeds."""
        self._collection.refresh()
        now = time.time()
        with self._lock:
            followed = set()
            for feed in self._store:
                if not feed.hub and feed.url not in self.subscriptions:
                    continue
                followed.add(feed.url)
                topic = feed.topic or feed.url
                known = self.subscriptions.get(feed.url)
                if feed.hub and (known is None or (known.hub, known.topic) != (feed.hub, topic)):
                    self.subscriptions[feed.url] = Subscription(feed.url, topic, feed.hub)
            asked = [
                (subscription, "subscribe" if url in followed else "unsubscribe")
                for url, subscription in self.subscriptions.items()
                if url not in followed or subscription.is_due(now)
            ]
        for subscription, mode in asked:
            self._ask(subscription, mode)

    def _ask(self, subscription: Subscription, mode: str) -> None:
        subscription.asked = time.time()
        try:
            self._post(subscription, mode)
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            subscription.failure = f"could not reach the hub {subscription.hub}: {reason}"
        if mode == "unsubscribe" and subscription.failure:
            # Its lease ends by itself, and what it sends is refused.
            self.subscriptions.pop(subscription.feed, None)

    def _post(self, subscription: Subscription, mode: str) -> None:
        hub = subscription.hub
        may_be_private = (
            self._collection.settings.crawl.allow_private
            or self._store.is_private
            or self._collection.state("crawl").get("private")
        )
        if not hub.startswith(("http://", "https://")) or (
            not may_be_private and _core.any_is_private([hub], None)
        ):
            raise ValueError("it is not on the public internet")
        form = {
            "hub.mode": mode,
            "hub.topic": subscription.topic,
            "hub.callback": f"{self._base}/websub/{self.token(subscription.feed)}",
            "hub.secret": self.secret(subscription.feed),
            "hub.lease_seconds": str(LEASE),
        }
        request = urllib.request.Request(hub, urlencode(form).encode(), method="POST")
        with _OPENER.open(request, timeout=_TIMEOUT) as answer:
            answer.read(1 << 16)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect could lead to a private network."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))
