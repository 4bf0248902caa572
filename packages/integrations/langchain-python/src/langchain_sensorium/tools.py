"""The tools: those of the server, over MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sensorium import mcp_endpoint

if TYPE_CHECKING:
    from langchain_mcp_adapters.sessions import StreamableHttpConnection


def sensorium_connection(
    tools: str = "core", *, url: str | None = None, api_key: str | None = None
) -> StreamableHttpConnection:
    """
    Returns the connection for ``MultiServerMCPClient({"sensorium": …})`` of ``langchain-mcp-adapters``, whose
    ``get_tools()`` gives the server's tools.

    ``tools``: a preset (``core``, ``sense``, ``remember``, ``work``, ``all``), domains and names of tools, with commas
    between. ``url`` and ``api_key`` default to the environment's SENSORIUM_URL and SENSORIUM_API_KEY. Raises ValueError
    if there is no key.
    """
    endpoint = mcp_endpoint(url, api_key, tools=tools)
    return {"transport": "streamable_http", "url": endpoint.url, "headers": dict(endpoint.headers)}
