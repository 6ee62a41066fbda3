"""Measures that resist spam: those of hosts, which cost more to make than pages, and trust from good seeds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from crivello.errors import InvalidArgument
from crivello.graph.collapse import Collapse
from crivello.graph.measures import measure, named
from crivello.graph.scores import Scores

if TYPE_CHECKING:
    from crivello.graph.graph import Graph


class Trust(Collapse):
    """The measures of a graph that are hard to raise by adding pages."""

    @measure("PageRank of a page's host in the graph of hosts", family="spam-resistant")
    def host_pagerank(
        self, *, by: Literal["host", "domain"] = "host", damping: float = 0.85, tolerance: float = 1e-9
    ) -> Scores:
        """The PageRank of each node's host, in the graph of hosts with the number of links as weights.

        Links within a host do not count, so that a farm of pages on one host raises nothing. Cost:
        O(n + m), and PageRank of the hosts. The names of the nodes must be URLs. ``by`` may be ``"domain"``.
        """
        return self._of_groups("pagerank", "host-pagerank", by, damping=damping, tolerance=tolerance)

    @measure("harmonic centrality of a page's host in the graph of hosts", family="spam-resistant")
    def host_harmonic(self, *, by: Literal["host", "domain"] = "host") -> Scores:
        """The harmonic centrality of each node's host, in the graph of hosts: Σ 1 / d(y, x) over hosts y.

        Cost: O(n + m), and harmonic centrality of the hosts. The names of the nodes must be URLs. ``by`` may
        be ``"domain"``.
        """
        return self._of_groups("harmonic", "host-harmonic", by)

    @measure("PageRank that flows from trusted pages only", family="spam-resistant")
    def trustrank(
        self,
        *,
        seeds: Iterable[int | str] | int | str | None = None,
        selected: int = 20,
        damping: float = 0.85,
        tolerance: float = 1e-9,
    ) -> Scores:
        """TrustRank: PageRank whose surfer jumps only to trusted seeds, also from a node without successors.

        t = α Tᵀt + (1 − α) d, where d is uniform on the seeds (numbers or names) and 0 elsewhere: trust
        flows from the seeds along links, divided among them, and attenuated by α at each step. A node that
        no seed reaches has trust 0. Without seeds, the ``selected`` nodes of highest inverse PageRank
        (PageRank along reversed links: those that reach most) are taken; the paper has people look at these
        and keep the good ones. Cost: that of PageRank.

        Source: Gyöngyi, Garcia-Molina and Pedersen, "Combating web spam with TrustRank", 2004.
        """
        graph, pagerank = cast("Graph", self), named("pagerank")
        options = {"damping": damping, "tolerance": tolerance}
        trusted: set[int]
        if seeds is None:
            if selected < 1:
                raise InvalidArgument(f"{selected} seeds cannot be selected", hint="at least 1")
            trusted = {node for node, _ in pagerank(graph.transpose(), **options).top(selected)}
        else:
            given = [seeds] if isinstance(seeds, int | str) else seeds
            trusted = {self.node(seed) for seed in given}
        if self.nodes and not trusted:
            raise InvalidArgument("there is no trusted node", hint="give at least one seed")
        preference = np.zeros(self.nodes)
        preference[list(trusted)] = 1.0
        scores = pagerank(graph, preference=preference, dangling="preference", **options)
        scores.measure = "trustrank"
        return scores

    def _of_groups(self, of: str, name: str, by: str, **options: Any) -> Scores:
        """A measure of the hosts or domains, for each node."""
        groups = self.collapse(by)
        scores = named(of)(cast("Graph", groups), **options)
        of_node = np.asarray(groups.groups)
        return Scores(
            np.asarray(scores)[of_node],
            name,
            iterations=scores.iterations,
            residual=scores.residual,
            converged=scores.converged,
            error=scores.error[of_node] if isinstance(scores.error, np.ndarray) else scores.error,
            confidence=scores.confidence,
        )
