"""Graphs made from a graph: its hosts, its domains, its components, any groups; some of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from crivello._core import graph_collapse, graph_subgraph, url_hosts
from crivello.errors import InvalidArgument
from crivello.graph.base import _numbers
from crivello.graph.components import Components
from crivello.graph.groups import Groups

_BATCH = 1 << 16
"""How many names cross the boundary at a time."""


class Collapse(Components):
    """The graphs that are made from a graph."""

    _groups: Groups | None = None

    @property
    def groups(self) -> Groups | None:
        """The group of each node of the graph that this one was collapsed from; None if it was not."""
        return self._groups

    def collapse(self, by: str | ArrayLike | Callable[[str], str], *, loops: bool = False) -> Self:
        """The graph of groups of nodes; the weight of an arc is the number of links between two groups.

        ``by`` is ``"host"`` (without its port) or ``"domain"`` (the public suffix and the label before it), if
        the names are URLs; or a function from the name of a node to that of its group; or an array with the
        number of each node's group, such as ``graph.strong_components()``, which gives the condensation.
        Named groups are in the order of their reversed labels (``org.example``, ``org.example.www``), so that
        the hosts of a domain are a range. Links within a group are left out unless ``loops``. The result has
        the group of each node in ``groups``. Cost: O(n + m); beside the result, 4 bytes per node and 20 per
        group.
        """
        groups = self._groups_by(by)
        arcs = graph_collapse(self._arcs, np.asarray(groups), len(groups.sizes), loops, self._progress)
        made = type(self)(arcs, groups.names)
        made._groups = groups
        return made

    def condensation(self) -> Self:
        """The graph of the strong components, which has no cycle; weights are numbers of links."""
        return self.collapse(self.strong_components())

    def subgraph(self, nodes: ArrayLike) -> Self:
        """The graph of some nodes, in increasing order, and of the arcs between them.

        ``nodes`` are numbers, or a truth value for every node. Cost: O(n + m).
        """
        array = np.asarray(nodes)
        if array.dtype == bool:
            if array.shape != (self.nodes,):
                raise InvalidArgument(f"there are {array.size:,} truth values for {self.nodes:,} nodes")
            array = np.flatnonzero(array)
        kept = np.unique(_numbers(array, "nodes"))
        names = None if self._names is None else [self._names[int(node)] for node in kept]
        return type(self)(graph_subgraph(self._arcs, kept, self._progress), names)

    def _groups_by(self, by: str | ArrayLike | Callable[[str], str]) -> Groups:
        if isinstance(by, Groups) and len(by) == self.nodes and len(by.sizes):
            return by
        if isinstance(by, str):
            if by not in ("host", "domain"):
                raise InvalidArgument(
                    f"there is no grouping {by!r}", hint="host, domain, an array or a function"
                )
            return _named(_hosts(self._each_name(), by == "domain"))
        if callable(by):
            return _named(by(name) for name in self._each_name())
        given = _numbers(by, "groups")
        if len(given) != self.nodes:
            raise InvalidArgument(f"there are groups of {len(given):,} nodes for {self.nodes:,} nodes")
        if len(given) and given.max() >= self.nodes:
            raise InvalidArgument(
                f"there is no group {given.max()}: {self.nodes:,} nodes have groups from 0 to {self.nodes - 1}"
            )
        return Groups(given)

    def _each_name(self) -> Iterator[str]:
        if self._names is None:
            raise InvalidArgument(
                "the nodes have no names to group by",
                hint="give an array with the number of each node's group",
            )
        return (self._names[node] for node in range(self.nodes))


def _hosts(urls: Iterator[str], domain: bool) -> Iterator[str]:
    while batch := list(islice(urls, _BATCH)):
        yield from url_hosts(batch, domain)


def _named(groups: Iterator[str]) -> Groups:
    """Groups from the name of each node's, in the order of the reversed labels."""
    found: dict[str, int] = {}
    first_seen = np.fromiter((found.setdefault(group, len(found)) for group in groups), np.uint32)
    names = sorted(found, key=_reversed)
    places = np.empty(len(names), np.uint32)
    places[[found[name] for name in names]] = np.arange(len(names), dtype=np.uint32)
    return Groups(places[first_seen], names=names)


def _reversed(host: str) -> list[str]:
    labels = host.split(".")
    return [host] if labels[-1].isdigit() else labels[::-1]
