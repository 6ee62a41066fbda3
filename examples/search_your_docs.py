"""Search a documentation site: crawl it, index it, rank it, ask it.

python examples/search_your_docs.py https://docs.example.org/ "how to install"

Without arguments it searches the sample web, which runs inside this process.
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
        folder = Path(open_until_the_end.enter_context(tempfile.TemporaryDirectory())) / "docs"
        if arguments:
            seed, queries, settings = arguments[0], arguments[1:], {"max_pages": 2000}
        else:
            web = open_until_the_end.enter_context(SampleWeb(hosts=3, pages_per_host=6, slow=0))
            # On your own machine there is no need to wait between requests; on the web there is, and it is the default.
            seed, queries, settings = web.seeds[0], ["lens", 'title:bee OR "queen bee"'], {"delay": 0}
        with crivello.create(folder, crawl=settings) as docs:
            report = docs.crawl(seed)
            docs.index()
            docs.rank()
            print(f"{report.pages:,} pages of {seed}")
            for query in queries:
                results = docs.search(query, top=3, explain=True)
                print(f"\n{results.counted} for {query!r}")
                for hit in results:
                    print(hit)
                if results.hits:
                    print(results.hits[0].explanation)


if __name__ == "__main__":
    main(sys.argv[1:])
