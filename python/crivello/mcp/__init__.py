"""Private, behind ``crivello mcp`` and the path ``/mcp`` of a server: a server of the Model Context Protocol, by which
assistants search a collection.

``protocol`` answers messages, ``tools`` has what an assistant may call, ``stdio`` and ``http`` are the two ways in. The
protocol is small enough to be here: nothing has to be installed for it. See docs/doors.md.
"""

from crivello.mcp.http import McpHttp
from crivello.mcp.protocol import Server
from crivello.mcp.stdio import run

__all__ = ["McpHttp", "Server", "run"]
