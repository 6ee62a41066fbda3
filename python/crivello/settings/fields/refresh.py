"""The section ``[refresh]``: when pages are visited again."""

from __future__ import annotations

from typing import Annotated

import msgspec

from crivello.settings.fields.meta import CHOICES, duration, one_of, setting

_REVISITS = "Revisits"
_DAY = 86_400
_YEAR = 365 * _DAY


class Refresh(msgspec.Struct, kw_only=True, frozen=True):
    """When pages are visited again."""

    policy: Annotated[
        str, one_of(_REVISITS, "which pages are visited again, and how often", CHOICES["refresh"])
    ] = "optimal"
    budget: Annotated[
        float,
        setting(
            _REVISITS,
            "requests per day for revisits; 0: as many as a visit of every page per interval takes",
            flag="--daily-budget",
            ge=0,
            le=1e12,
        ),
    ] = 0
    interval: Annotated[
        float,
        duration(
            _REVISITS,
            "seconds between visits of a page, on average, if there is no budget; the first interval of adaptive",
            ge=60,
            le=_YEAR,
        ),
    ] = 7 * _DAY
    min_interval: Annotated[
        float, duration(_REVISITS, "minimum seconds between visits of a page", ge=1, le=_YEAR)
    ] = 3600
    max_interval: Annotated[
        float,
        duration(
            _REVISITS,
            "maximum seconds between visits of a page, also of one that is not worth its visits",
            ge=60,
            le=_YEAR,
        ),
    ] = 180 * _DAY
    grace: Annotated[
        float,
        duration(_REVISITS, "seconds for which visits must have failed until a page is gone", ge=0, le=_YEAR),
    ] = 14 * _DAY
    increase: Annotated[
        float,
        setting(
            _REVISITS, "adaptive: an interval grows by this share after a visit without a change", ge=0, le=10
        ),
    ] = 0.4
    decrease: Annotated[
        float,
        setting(
            _REVISITS, "adaptive: an interval shrinks by this share after a visit with a change", ge=0, lt=1
        ),
    ] = 0.2
    prior_interval: Annotated[
        float,
        duration(
            _REVISITS, "optimal: presumed seconds between changes of an unknown page", ge=60, le=10 * _YEAR
        ),
    ] = 30 * _DAY
    prior_changes: Annotated[
        float,
        setting(
            _REVISITS, "optimal: the number of observed changes that this presumption is worth", gt=0, le=1000
        ),
    ] = 0.5
