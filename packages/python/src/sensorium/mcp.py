"""Where MCP clients, such as those of agent frameworks, find the operations as tools."""

from __future__ import annotations

from dataclasses import dataclass, field

from .client import settings


@dataclass(frozen=True)
class McpEndpoint:
    """An address of Streamable HTTP, and the headers to send to it. They contain the API key."""

    url: str
    headers: dict[str, str] = field(repr=False)


def mcp_endpoint(url: str | None = None, api_key: str | None = None, *, tools: str = "core") -> McpEndpoint:
    """
    Returns what an MCP client needs to connect. ``url`` and ``api_key`` default to the environment's ``SENSORIUM_URL``
    and ``SENSORIUM_API_KEY``. ``tools`` chooses what is listed: a preset (``core``, ``sense``, ``remember``, ``work``,
    ``all``), domains and names of tools, with commas between. Raises ValueError if there is no key.
    """
    origin, key = settings(url, api_key)
    if not key:
        raise ValueError("No API key: pass api_key, or set SENSORIUM_API_KEY.")
    return McpEndpoint(f"{origin}/mcp", {"Authorization": f"Bearer {key}", "X-MCP-Tools": tools})
