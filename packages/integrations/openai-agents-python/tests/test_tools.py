from __future__ import annotations

import asyncio

import pytest
from agents import Agent, Runner
from agents.items import ToolCallOutputItem
from agents.testing import ScriptedModel, assistant_message, function_call
from real_server import Server
from sensorium import Sensorium

from openai_agents_sensorium import sensorium_tools


def test_lists_what_is_chosen(server: Server) -> None:
    async def names(tools: str) -> set[str]:
        async with sensorium_tools(tools, url=server.url, api_key=server.api_key) as connected:
            return {tool.name for tool in await connected.list_tools()}

    core = asyncio.run(names("core"))
    assert {"memories_create", "memories_search", "events_publish"} <= core
    assert asyncio.run(names("memories_search")) == {"memories_search"}
    assert asyncio.run(names("all")) > core


def test_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SENSORIUM_API_KEY", raising=False)
    with pytest.raises(ValueError, match="SENSORIUM_API_KEY"):
        sensorium_tools()


def test_takes_options_of_the_sdk() -> None:
    assert sensorium_tools(api_key="ak_x", name="company").name == "company"


def test_an_agent_calls_tools(server: Server, client: Sensorium) -> None:
    model = ScriptedModel(
        [
            [function_call("memories_create", {"content": "The fuse box is in the hall."}, call_id="call-1")],
            [function_call("memories_search", {"query": "fuse", "limit": 1000}, call_id="call-2")],
            [assistant_message("Noted.")],
        ]
    )

    async def run() -> tuple[str, list[str]]:
        async with sensorium_tools(url=server.url, api_key=server.api_key) as tools:
            agent = Agent(name="keeper", model=model, mcp_servers=[tools])
            result = await Runner.run(agent, "Remember where the fuse box is.")
        outputs = [str(item.output) for item in result.new_items if isinstance(item, ToolCallOutputItem)]
        return str(result.final_output), outputs

    final, [created, refused] = asyncio.run(run())
    model.assert_complete()
    assert final == "Noted."
    assert "The fuse box is in the hall." in created
    assert "limit" in refused and "1000" in refused
    found = client.memories.search(query="Where is the fuse box?", limit=1).results
    assert found[0].memory.content == "The fuse box is in the hall."
