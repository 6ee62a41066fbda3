"""A process that crawls, visits its pages again and again, or imports files, until somebody kills it.

It is started with the folder, the kind of its work, the memory of the table in bytes, the file of hosts, and the
seeds or files.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from crivello import settings
from crivello.collection import Collection
from crivello.crawl import crawler
from crivello.settings import Settings

CHECKPOINT = 0.1


def settings_of(hosts_file: str) -> Settings:
    """Settings of a crawl on this machine that keep every version."""
    crawl = {
        "scope": "any",
        "delay": 0,
        "address_delay": 0,
        "allow_private": True,
        "hosts_file": hosts_file,
        "checkpoint": CHECKPOINT,
        "contact": "crawler@example.org",
    }
    return settings.load(flags={"crawl": crawl, "store": {"versions": 0}}, environment={})


def visit_again(collection: Collection) -> None:
    """Visits all pages."""
    urls = [row.url for row in collection.pages()]
    crawler.Crawler(collection, revisits=urls).run()


def work(folder: Path, kind: str, memory: int, hosts_file: str, inputs: list[str]) -> None:
    """Imports files; or crawls, and then, unless that is the work, visits what it has until it is killed."""
    chosen = settings_of(hosts_file)
    Collection.write(folder, settings=chosen, create=True).close()
    # Less memory than a user may ask for.
    chosen = msgspec.structs.replace(chosen, store=msgspec.structs.replace(chosen.store, memory=memory))
    with Collection.write(folder, settings=chosen) as collection:
        if kind == "import":
            collection.import_(inputs, progress=False)
            return
        crawler.crawl(collection, inputs)
        while kind != "crawl":
            visit_again(collection)


if __name__ == "__main__":
    work(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5:])
