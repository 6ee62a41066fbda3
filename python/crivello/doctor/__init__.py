"""Private: checks a collection from end to end, and rebuilds what can be rebuilt.

The archive and the journal of the table are the truth: the table's runs, the index, the graph and the ranks
follow from them. The public entries are ``collection.check`` and ``collection.repair``.
"""

from crivello.doctor.finding import Finding, Severity
from crivello.doctor.repair import Repaired

__all__ = ["Finding", "Repaired", "Severity"]
