"""Follow the feeds of a site: new entries are fetched, indexed, and found a moment after they appear.

python examples/follow_feeds.py https://www.example.org/

Without arguments it follows the feeds of the sample web, where a note appears meanwhile.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import crivello
from crivello.lab.web import SampleWeb


def main(arguments: list[str]) -> None:
    with ExitStack() as open_until_the_end:
        folder = Path(open_until_the_end.enter_context(tempfile.TemporaryDirectory())) / "news"
        web = None
        if not arguments:
            web = open_until_the_end.enter_context(SampleWeb(hosts=3, pages_per_host=6, slow=0))
        settings = {"delay": 0, "scope": "any"} if web else {"max_pages": 200}
        with crivello.create(folder, crawl=settings) as news:
            news.crawl(web.seeds if web else arguments[0], progress=False)
            followed = news.feeds.add(found=True)
            print(f"following {len(followed)} feeds: {', '.join(followed)}")
            news.feeds.poll()
            if web:
                web.publish_note("The keeper lit the lamp an hour before dusk.")
            for polled in news.feeds.poll(every=True):
                for url in polled.new:
                    print(f"new: {url}")
            news.index(progress=False)
            for hit in news.search("keeper lamp dusk" if web else "*", top=3):
                print(hit)


if __name__ == "__main__":
    main(sys.argv[1:])
