"""The section ``[cluster]``: how the web is divided among agents."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crivello.settings.fields.meta import CHOICES, duration, one_of, setting

_CLUSTER = "Many agents"


class Cluster(msgspec.Struct, kw_only=True, frozen=True):
    """How the web is divided among agents."""

    method: Annotated[
        str,
        one_of(
            _CLUSTER,
            "how hosts are assigned to agents",
            CHOICES["assignment"],
            flag="--assignment",
            python=True,
        ),
    ] = "consistent"
    replicas: Annotated[
        int,
        setting(
            _CLUSTER,
            "consistent hashing: points of an agent of weight 1 on the circle",
            ge=1,
            le=100_000,
            python=True,
        ),
    ] = 300
    by: Annotated[
        str,
        one_of(
            _CLUSTER,
            "what is assigned as one when a URL is discovered",
            CHOICES["assignment-key"],
            flag="--assign-by",
            python=True,
        ),
    ] = "host"
    lease: Annotated[
        float,
        duration(
            _CLUSTER,
            "seconds for which an agent may fetch without being heard; then it pauses",
            ge=1,
            le=600,
            python=True,
        ),
    ] = 5.0
    grace: Annotated[
        float,
        duration(
            _CLUSTER,
            "seconds of silence after which an agent counts as lost, and its hosts go to others; 0: they wait for it",
            ge=0,
            le=86_400,
            python=True,
        ),
    ] = 300.0
