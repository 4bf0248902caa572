from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from real_server import Server
from sensorium import Sensorium

from langchain_sensorium import sensorium_connection


async def _tools(server: Server, tools: str = "core") -> dict[str, BaseTool]:
    connection = sensorium_connection(tools, url=server.url, api_key=server.api_key)
    return {tool.name: tool for tool in await MultiServerMCPClient({"sensorium": connection}).get_tools()}


def test_lists_what_is_chosen(server: Server) -> None:
    core = asyncio.run(_tools(server))
    assert {"memories_create", "memories_search", "events_publish"} <= core.keys()
    assert set(asyncio.run(_tools(server, "memories_search"))) == {"memories_search"}
    assert len(asyncio.run(_tools(server, "all"))) > len(core)


def test_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SENSORIUM_API_KEY", raising=False)
    with pytest.raises(ValueError, match="SENSORIUM_API_KEY"):
        sensorium_connection()


def test_a_model_calls_a_tool(server: Server, client: Sensorium) -> None:
    call = {"name": "memories_create", "args": {"content": "The boiler is in the cellar."}, "id": "call-1"}
    messages = asyncio.run(_run_agent(server, call, "Noted."))
    [answer] = [message for message in messages if isinstance(message, ToolMessage)]
    assert (answer.status, messages[-1].content) == ("success", "Noted.")
    found = client.memories.search(query="Where is the boiler?", limit=1).results
    assert found[0].memory.content == "The boiler is in the cellar."


def test_a_refusal_is_an_answer_to_the_model(server: Server) -> None:
    call = {"name": "memories_search", "args": {"query": "x", "limit": 1000}, "id": "call-1"}
    messages = asyncio.run(_run_agent(server, call, "Sorry."))
    [answer] = [message for message in messages if isinstance(message, ToolMessage)]
    assert answer.status == "error" and "limit" in str(answer.content)


async def _run_agent(server: Server, call: dict[str, Any], last: str) -> list[BaseMessage]:
    """Runs LangGraph's loop of a model, which says what it is told, and of the tools that it calls."""
    tools = await _tools(server)
    script = iter([AIMessage("", tool_calls=[call]), AIMessage(last)])
    model = GenericFakeChatModel(messages=script)

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("model", think)
    builder.add_node("tools", ToolNode(list(tools.values())))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    answer = await builder.compile().ainvoke({"messages": [HumanMessage("Remember where the boiler is.")]})
    messages: list[BaseMessage] = answer["messages"]
    return messages
