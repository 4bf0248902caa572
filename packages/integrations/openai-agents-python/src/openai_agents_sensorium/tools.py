"""The tools: those of the server, over MCP."""

from __future__ import annotations

from typing import Any

from agents.mcp import MCPServerStreamableHttp
from sensorium import mcp_endpoint

SECONDS = 60.0
"""A tool may wait for an event; the SDK's own limit is five seconds."""


def sensorium_tools(
    tools: str = "core", *, url: str | None = None, api_key: str | None = None, **options: Any
) -> MCPServerStreamableHttp:
    """
    Returns the server's tools for ``Agent(mcp_servers=[…])``; connect it with ``async with``.

    ``tools``: a preset (``core``, ``sense``, ``remember``, ``work``, ``all``), domains and names of tools, with commas
    between. ``url`` and ``api_key`` default to the environment's SENSORIUM_URL and SENSORIUM_API_KEY. ``options`` are
    those of MCPServerStreamableHttp, such as ``require_approval``. Raises ValueError if there is no key.
    """
    endpoint = mcp_endpoint(url, api_key, tools=tools)
    return MCPServerStreamableHttp(
        {"url": endpoint.url, "headers": endpoint.headers, "timeout": SECONDS},
        **{"name": "sensorium", "cache_tools_list": True, "client_session_timeout_seconds": SECONDS, **options},
    )
