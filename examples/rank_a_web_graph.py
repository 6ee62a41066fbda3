"""Rank the nodes of a graph by several measures, and see how far they agree.

python examples/rank_a_web_graph.py links.tsv

Without arguments the graph is that of the links of the sample web.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import crivello
from crivello.graph import Graph, load
from crivello.lab.web import SampleWeb


def sample() -> Graph:
    """The links between the pages of the sample web."""
    with (
        tempfile.TemporaryDirectory() as temporary,
        SampleWeb(hosts=4, pages_per_host=10, slow=0) as web,
        crivello.create(Path(temporary) / "crawl", crawl={"delay": 0, "scope": "any"}) as collection,
    ):
        collection.crawl(web.seeds, progress=False)
        collection.rank(progress=False)
        return collection.graph()


def main(arguments: list[str]) -> None:
    graph = load(arguments[0]) if arguments else sample()
    print(graph)
    measures = {"PageRank": graph.pagerank(), "harmonic": graph.harmonic(), "in-degree": graph.indegree()}
    for name, scores in measures.items():
        print(f"\nbest by {name}")
        for node, score in scores.top(3):
            print(f"  {score:10.4f}  {graph.name(node) if graph.names is not None else node}")
    best = {name: {node for node, _ in scores.top(10)} for name, scores in measures.items()}
    print("\nof the ten best by PageRank, among the ten best")
    for name, nodes in best.items():
        print(f"  by {name:10} {len(nodes & best['PageRank'])}")


if __name__ == "__main__":
    main(sys.argv[1:])
