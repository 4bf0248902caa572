"""Where MCP clients, such as those of agent frameworks, find the operations as tools."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._access import find_access


@dataclass(frozen=True)
class McpEndpoint:
    """An address of Streamable HTTP, and the headers to send to it. They contain the API key."""

    url: str
    headers: dict[str, str] = field(repr=False)


def mcp_endpoint(url: str | None = None, api_key: str | None = None, *, tools: str = "core") -> McpEndpoint:
    """
    Returns what an MCP client needs to connect. ``url`` and ``api_key`` default as for ``Sensorium``. ``tools`` chooses
    what is listed: a preset (``core``, ``sense``, ``remember``, ``work``, ``all``), domains and names of tools, with
    commas between. Raises ValueError if there is no key.
    """
    origin, key = find_access(url, api_key, needs_key=True)
    return McpEndpoint(f"{origin}/mcp", {"Authorization": f"Bearer {key}", "X-MCP-Tools": tools})
