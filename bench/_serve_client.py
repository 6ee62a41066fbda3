"""A load generator for search servers that prints its measurements as JSON; for bench/serve.py.

python -m bench._serve_client URL PATH QUERIES CLIENTS SECONDS

``PATH`` is what is asked with the parameter q, ``QUERIES`` a file with one query per line. Every client has a keep-alive connection and sends the next
request as soon as it is answered. Responses are uncompressed. All queries are sent once before the clock
starts.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import aiohttp
import numpy as np


async def _ask(
    session: aiohttp.ClientSession, path: str, queries: Iterator[str], until: float
) -> list[float | None]:
    """The latency of each response in seconds; ``None`` if a request failed."""
    taken: list[float | None] = []
    for query in queries:
        began = time.perf_counter()
        if began >= until:
            break
        try:
            async with session.get(path, params={"q": query}) as response:
                body = await response.read()
                answered = response.status == 200 and body.rstrip().endswith((b"}", b"</html>"))
        except aiohttp.ClientError:
            answered = False
        taken.append(time.perf_counter() - began if answered else None)
    return taken


async def _run(url: str, path: str, queries: list[str], clients: int, seconds: float) -> dict[str, float]:
    connector = aiohttp.TCPConnector(limit=clients)
    headers = {"Accept-Encoding": "identity"}
    async with aiohttp.ClientSession(url, connector=connector, headers=headers) as session:
        once = iter(queries)
        warm = await asyncio.gather(*(_ask(session, path, once, float("inf")) for _ in range(clients)))
        endless = cycle(queries)
        began = time.perf_counter()
        rounds = await asyncio.gather(
            *(_ask(session, path, endless, began + seconds) for _ in range(clients))
        )
        elapsed = time.perf_counter() - began
    answers = [one for taken in rounds for one in taken]
    milliseconds = np.array([one for one in answers if one is not None]) * 1000
    return {
        "rate": len(milliseconds) / elapsed,
        "mean": float(milliseconds.mean()),
        "median": float(np.percentile(milliseconds, 50)),
        "99 %": float(np.percentile(milliseconds, 99)),
        "asked": len(answers) + len(queries),
        "answered": len(milliseconds) + sum(one is not None for taken in warm for one in taken),
    }


def main() -> None:
    url, path, file, clients, seconds = sys.argv[1:]
    queries = Path(file).read_text().splitlines()
    print(json.dumps(asyncio.run(_run(url, path, queries, int(clients), float(seconds)))))


if __name__ == "__main__":
    main()
