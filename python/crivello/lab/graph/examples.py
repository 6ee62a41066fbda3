"""Small graphs where measures disagree: nodes that play the same role have the same name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crivello.graph.graph import Graph

Arc = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Example:
    """A small graph: the role of each node, the arcs, and what to look at."""

    name: str
    about: str
    roles: tuple[str, ...]
    arcs: tuple[Arc, ...]

    def graph(self) -> Graph:
        """The graph; its nodes have no names."""
        return Graph.from_arcs(
            [source for source, _ in self.arcs], [target for _, target in self.arcs], nodes=len(self.roles)
        )


def clique(nodes: Sequence[int]) -> list[Arc]:
    """Arcs between all pairs, both ways."""
    return [(one, other) for one in nodes for other in nodes if one != other]


def cycle(nodes: Sequence[int]) -> list[Arc]:
    """Arcs from each node to the next, and from the last to the first."""
    return [(node, nodes[(place + 1) % len(nodes)]) for place, node in enumerate(nodes)]


def both(arcs: Iterable[Arc]) -> list[Arc]:
    """Arcs and their opposites."""
    return [arc for source, target in arcs for arc in ((source, target), (target, source))]


def _star() -> Example:
    return Example(
        "star",
        "Six leaves link to a centre, which links to one of them: what is a link worth that comes from the best?",
        ("centre", "chosen leaf", *["leaf"] * 5),
        (*((leaf, 0) for leaf in range(1, 7)), (0, 1)),
    )


def _clique_with_tail() -> Example:
    tail = [(5, 6), (6, 7), (7, 8)]
    return Example(
        "clique with a tail",
        "Six pages that link to each other, and a path that leads away: spectral measures see the clique alone, "
        "distances also count those who come from afar.",
        (*["clique"] * 5, "gate", "tail 1", "tail 2", "tail 3"),
        (*clique(range(6)), *tail),
    )


def _spider_trap() -> Example:
    return Example(
        "spider trap",
        "A cycle of five pages, one of which links to two pages that link to each other only: a random surfer "
        "who never jumps stays there forever.",
        ("exit", *["cycle"] * 4, "trap, entered", "trap"),
        (*cycle(range(5)), (0, 5), (5, 6), (6, 5)),
    )


def _bridge() -> Example:
    return Example(
        "bridge",
        "Two groups of four joined by one page: all shortest paths between them pass through it.",
        ("bridge", "end", *["group"] * 3, "end", *["group"] * 3),
        (*clique(range(1, 5)), *clique(range(5, 9)), *both([(0, 1), (0, 5)])),
    )


def _bypassed_bridge() -> Example:
    return Example(
        "bypassed bridge",
        "The same with one link between the groups: the betweenness of the bridge falls to 0; its random-walk "
        "form keeps a third.",
        ("bridge", "end", *["group"] * 3, "end", *["group"] * 3),
        (*clique(range(1, 5)), *clique(range(5, 9)), *both([(0, 1), (0, 5), (1, 5)])),
    )


def _cycle() -> Example:
    return Example(
        "directed cycle",
        "Six pages, each links to the next: all are equal, whatever is measured.",
        ("page",) * 6,
        tuple(cycle(range(6))),
    )


def _bought_votes() -> Example:
    # 0: bought, 1..8: its links, 9: honest, 10..12: pages that others link to.
    good = [10, 11, 12]
    return Example(
        "bought votes",
        "One page has eight links from pages that nobody links to, another three from pages that are linked "
        "themselves: in-degree prefers the first, which can be bought.",
        ("bought", *["seller"] * 8, "honest", *["reader"] * 3),
        (
            *((seller, 0) for seller in range(1, 9)),
            *((reader, 9) for reader in good),
            *clique(good),
            *((9, reader) for reader in good),
        ),
    )


EXAMPLES: tuple[Example, ...] = (
    _star(),
    _clique_with_tail(),
    _spider_trap(),
    _bridge(),
    _bypassed_bridge(),
    _cycle(),
    _bought_votes(),
)
