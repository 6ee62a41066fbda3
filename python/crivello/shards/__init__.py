"""Private: the shards of an index, each in a process of its own, behind a broker that answers as one index.

A shard is a :class:`ShardServer`, or a :class:`TermServer` if the index is divided by terms: bytes in, bytes out. It may
be called in any way: here in processes of this machine (:class:`ShardProcesses`), over Unix sockets, each message
preceded by its length. The broker of the core (``_core.Broker``, ``_core.TermBroker``) takes any function that exchanges
messages with all shards at once.
"""

from crivello.shards.processes import ShardProcesses
from crivello.shards.server import ShardServer, TermServer, by_shard, by_terms

__all__ = ["ShardProcesses", "ShardServer", "TermServer", "by_shard", "by_terms"]
