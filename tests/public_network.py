"""A public network that is none: a network namespace with public addresses and a name server, which nothing leaves.

    unshare --net python -m tests.public_network FOLDER

On its one interface, the loopback, it has 8.8.8.8, where a web server answers, and 8.8.4.4, where a name server
does; on 127.0.0.1 a second web server waits for somebody to be led astray. It crawls twice from the names, without
leave to enter private networks, and prints as JSON what became of each URL and what the second server saw.

| name | address |
| --- | --- |
| ``public.test`` | 8.8.8.8 |
| ``inner.test`` | 127.0.0.1 |
| ``both.test`` | 127.0.0.1 and 8.8.8.8 |
| ``changing.test`` | 8.8.8.8 when it is asked for first, 127.0.0.1 from then on |
"""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.crawling import Crawled, run_crawl

PUBLIC, NAME_SERVER, LOOPBACK = "8.8.8.8", "8.8.4.4", "127.0.0.1"
PORT = 8000
CHANGING_PAGES = 6
# Where a page of the public server redirects to.
ASTRAY = {
    "/to-loopback": f"http://127.0.0.1:{PORT}/secret",
    "/to-mapped": f"http://[::ffff:127.0.0.1]:{PORT}/secret",
    "/to-number": f"http://2130706433:{PORT}/secret-by-number",
    "/to-zero": f"http://0.0.0.0:{PORT}/secret",
    "/to-inner-name": f"http://inner.test:{PORT}/secret",
    "/to-private-network": f"http://10.0.0.1:{PORT}/secret",
    "/to-metadata": f"http://169.254.169.254:{PORT}/secret",
}


class Site(BaseHTTPRequestHandler):
    """A front page that links everything, redirects, and ordinary pages; the same at each address."""

    protocol_version = "HTTP/1.1"
    asked: Counter[str]

    def do_GET(self) -> None:
        self.asked[str(self.request.getsockname()[0])] += 1
        if self.path == "/robots.txt":
            self._answer(404, "")
        elif self.path in ASTRAY:
            self._answer(302, "", ASTRAY[self.path])
        else:
            pages = [f"/page-{number}" for number in range(1, CHANGING_PAGES)]
            also = [*ASTRAY, f"http://both.test:{PORT}/"] if self.headers["Host"].startswith("public") else []
            links = [*pages, *also]
            self._answer(200, "".join(f"<a href={path}>{path}</a>" for path in links))

    def _answer(self, status: int, body: str, location: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Nothing to standard error."""


class Names:
    """A name server of a few lines, over UDP; it knows only addresses of version 4."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((NAME_SERVER, 53))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            query, client = self._socket.recvfrom(4096)
            self._socket.sendto(self._reply(query), client)

    def _reply(self, query: bytes) -> bytes:
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1 : at + 1 + query[at]].decode().lower())
            at += 1 + query[at]
        question = query[12 : at + 5]
        [kind] = struct.unpack("!H", query[at + 1 : at + 3])
        addresses = self._addresses(".".join(labels)) if kind == 1 else []
        known = bool(labels) and labels[-1] == "test"
        flags = 0x8180 if known else 0x8183
        head = query[:2] + struct.pack("!5H", flags, 1, len(addresses), 0, 0)
        # Each answer: the name of the question, an address (A) of the Internet (IN), valid for no time at all.
        answers = [struct.pack("!3HIH", 0xC00C, 1, 1, 0, 4) + socket.inet_aton(one) for one in addresses]
        return head + question + b"".join(answers)

    def _addresses(self, name: str) -> list[str]:
        self.asked[name] += 1
        changed = self.asked["changing.test"] > 1
        return {
            "public.test": [PUBLIC],
            "inner.test": [LOOPBACK],
            "both.test": [LOOPBACK, PUBLIC],
            "changing.test": [LOOPBACK] if changed else [PUBLIC],
        }.get(name, [])


def _outcomes(crawled: Crawled) -> dict[str, str]:
    return {row.url: row.outcome.value for row in crawled.rows()}


def main() -> None:
    folder = Path(sys.argv[1])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=10)
    for address in (PUBLIC, NAME_SERVER):
        subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=True, timeout=10)
    Site.asked = Counter()
    names = Names()
    for address in (PUBLIC, LOOPBACK):
        server = ThreadingHTTPServer((address, PORT), Site)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()

    flags = (
        *("--delay", 0, "--address-delay", 0, "--scope", "any", "--retries", 0, "--timeout", 5),
        *("--name-server", f"{NAME_SERVER}:53"),
    )
    astray = run_crawl(folder / "astray", [f"http://public.test:{PORT}/"], *flags, timeout=60)
    changing = [f"http://changing.test:{PORT}/"]
    first = run_crawl(folder / "changing", changing, *flags, "--max-pages", 3, timeout=60)
    before = _outcomes(first)
    second = run_crawl(folder / "changing", [], *flags, timeout=60)
    result = {
        "astray": _outcomes(astray),
        "changing": [before, _outcomes(second)],
        "asked": dict(Site.asked),
        "names": dict(names.asked),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
