"""A model of a cluster that crawls: the real assignment, and discrete events for politeness, exchange and failure.

    >>> from crivello.lab.cluster import Scenario, model
    >>> found = model(Scenario(agents=1000, pages=10_000_000))
    >>> found.load.pages_deviation, found.exchange.bytes_per_page, found.loss.redone_seconds

What is measured, what is assumed and what is left out: docs/cluster-model.md.
"""

from __future__ import annotations

from crivello.lab.cluster.costs import Costs, measured_costs
from crivello.lab.cluster.model import Model, model
from crivello.lab.cluster.report import write
from crivello.lab.cluster.scenario import Scenario

__all__ = ["Costs", "Model", "Scenario", "measured_costs", "model", "write"]
