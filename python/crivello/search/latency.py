"""How long the searches of this process took, for ``/metrics``."""

from crivello._histogram import Histogram

SEARCHES: Histogram = Histogram()
"""Every answered search, whoever asked: the page, the API, Python."""
