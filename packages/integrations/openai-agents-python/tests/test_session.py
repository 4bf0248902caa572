from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, Session, SessionSettings, TResponseInputItem
from agents.testing import ScriptedModel, assistant_message, function_call
from pages import blocks, output_of, run_blocks
from real_server import Server
from sensorium import AsyncSensorium, Sensorium

from openai_agents_sensorium import SensoriumSession, sensorium_tools

HOME = Path(__file__).parents[1]
README = HOME / "README.md"


def said(*texts: str) -> list[TResponseInputItem]:
    return [{"role": "user", "content": text} for text in texts]


def with_session(server: Server, name: str, use: Callable[[SensoriumSession], Awaitable[None]]) -> None:
    async def run() -> None:
        async with AsyncSensorium(server.url, server.api_key) as client:
            await use(SensoriumSession(name, client=client))

    asyncio.run(run())


def test_is_a_session(server: Server) -> None:
    async def use(session: SensoriumSession) -> None:
        assert isinstance(session, Session)
        assert await session.get_items() == [] and await session.pop_item() is None
        await session.add_items([])
        await session.add_items(said("one", "two"))
        await session.add_items(said("three"))
        assert await session.get_items() == said("one", "two", "three")
        assert await session.get_items(limit=2) == said("two", "three")
        assert await session.get_items(limit=0) == []
        assert await session.pop_item() == said("three")[0]
        assert await session.pop_item() == said("two")[0]
        assert await session.get_items(limit=5) == said("one")
        await session.add_items(said("four"))
        assert await session.get_items() == said("one", "four")
        await session.clear_session()
        assert await session.get_items() == []

    with_session(server, "basics", use)


def test_keeps_odd_names_and_texts_apart(server: Server) -> None:
    names = ["a", "a.b", "a%2Eb", ".a..b.", "a/b", "a%2Fb", "50% ü\n"]
    text = 'quote " \\ \u0000 \ud800 ü 🎉'

    async def use(first: SensoriumSession) -> None:
        async with AsyncSensorium(server.url, server.api_key) as client:
            sessions = [SensoriumSession(name, client=client) for name in names]
            for session in sessions:
                await session.add_items(said(session.session_id, text))
            for session in sessions:
                assert await session.get_items() == said(session.session_id, text)

    with_session(server, "odd", use)
    with pytest.raises(ValueError, match="empty"):
        SensoriumSession("")


def test_keeps_long_conversations_and_long_items(server: Server) -> None:
    async def use(session: SensoriumSession) -> None:
        for n in range(205):
            await session.add_items(said(f"{n}"))
        await session.add_items(said("x" * 3_000_000, "last"))
        items = await session.get_items()
        assert items[:205] == said(*(f"{n}" for n in range(205)))
        assert items[205:] == said("x" * 3_000_000, "last")
        assert (await session.get_items(limit=150))[:-2] == said(*(f"{n}" for n in range(57, 205)))
        assert await session.pop_item() == said("last")[0]
        assert await session.get_items(limit=1) == said("x" * 3_000_000)

    with_session(server, "long", use)


def test_writers_at_once_lose_nothing(server: Server) -> None:
    async def use(session: SensoriumSession) -> None:
        async def write(writer: int) -> None:
            for n in range(5):
                await session.add_items(said(f"{writer}:{n}:a", f"{writer}:{n}:b"))

        await asyncio.gather(*(write(writer) for writer in range(8)))
        texts = [str(dict(item)["content"]) for item in await session.get_items()]
        assert sorted(texts) == sorted(f"{w}:{n}:{half}" for w in range(8) for n in range(5) for half in "ab")
        for writer in range(8):
            assert [each for each in texts if each.startswith(f"{writer}:")] == [
                f"{writer}:{n}:{half}" for n in range(5) for half in "ab"
            ]
        popped = await asyncio.gather(*(session.pop_item() for _ in range(20)))
        assert sorted(str(dict(item)["content"]) for item in popped if item) == sorted(texts[-20:])
        assert len(await session.get_items()) == 60

    with_session(server, "crowd", use)


def test_an_agent_goes_on_in_the_next_run(server: Server, client: Sensorium) -> None:
    """The second sees the tool call of the first."""

    async def run(model: ScriptedModel, told: str, stream: bool = False) -> None:
        async with (
            AsyncSensorium(server.url, server.api_key) as own,
            sensorium_tools(url=server.url, api_key=server.api_key) as tools,
        ):
            agent = Agent(name="keeper", model=model, mcp_servers=[tools])
            session = SensoriumSession("two-runs", client=own)
            if not stream:
                await Runner.run(agent, told, session=session)
                return
            streamed = Runner.run_streamed(agent, told, session=session)
            assert [event async for event in streamed.stream_events()]

    call = function_call("memories_create", {"content": "Ada drinks green tea."}, call_id="call-1")
    asyncio.run(run(ScriptedModel([[call], [assistant_message("Noted.")]]), "I am Ada. I drink green tea."))
    second = ScriptedModel([[assistant_message("Green tea.")]])
    asyncio.run(run(second, "What do I drink?", stream=True))
    assert second.last_call
    seen: list[dict[str, Any]] = list(second.last_call.input)
    assert [item.get("type", "message") for item in seen] == [
        *("message", "function_call", "function_call_output", "message", "message")
    ]
    assert seen[1]["name"] == "memories_create" and "Ada drinks green tea." in str(seen[2]["output"])
    assert seen[-1]["content"] == "What do I drink?"


def test_the_limit_of_the_settings_holds(server: Server) -> None:
    async def use(session: SensoriumSession) -> None:
        await session.add_items(said("one", "two", "three"))
        session.session_settings = SessionSettings(limit=1)
        assert await session.get_items() == said("three")
        model = ScriptedModel([[assistant_message("Yes.")]])
        config = RunConfig(session_settings=SessionSettings(limit=2))
        await Runner.run(Agent(name="brief", model=model), "four", session=session, run_config=config)
        assert model.last_call and list(model.last_call.input) == said("two", "three", "four")

    with_session(server, "settings", use)


def test_is_private_and_refuses_other_formats(server: Server, client: Sensorium) -> None:
    other = client.agents.create(name="other", delivery_mode="poll")
    key = client.keys.create(agent_id=other.id, scopes=["memory:read", "memory:write"]).key

    async def use(session: SensoriumSession) -> None:
        await session.add_items(said("secret"))
        async with AsyncSensorium(server.url, key) as stranger:
            assert await SensoriumSession("private", client=stranger).get_items() == []
        client.state.put(namespace="openai-agents.python.private", key="000000000002", value="[]")
        with pytest.raises(ValueError, match="expected 'openai-agents-python/1'"):
            await session.get_items()

    with_session(server, "private", use)


def test_says_whom_it_is_about(server: Server, client: Sensorium) -> None:
    async def use(_: SensoriumSession) -> None:
        async with AsyncSensorium(server.url, server.api_key) as own:
            session = SensoriumSession("of-ada", client=own, subject="ada@example.com")
            await session.add_items(said("I am Ada."))
            [entry] = (await own.state.list(namespace="openai-agents.python.of-ada")).entries
            assert entry.metadata["subject"] == "ada@example.com"

    with_session(server, "subject", use)


def test_the_example(server: Server) -> None:
    example = HOME / "examples" / "conversation.py"
    shown = [output_of(example, server, text) for text in ("My name is Ada.", "What is my name?")]
    assert "".join(shown) == blocks(README, "text")[0]


def test_the_readme(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENSORIUM_URL", server.url)
    monkeypatch.setenv("SENSORIUM_API_KEY", server.api_key)
    model = ScriptedModel([[assistant_message("I will.")], [assistant_message("It is packed.")]])
    names = run_blocks(README, replace={'"gpt-5"': "model"}, model=model)
    assert names["result"].final_output == "I will."

    async def use(session: SensoriumSession) -> None:
        assert "It is packed." in str(await session.get_items())

    with_session(server, "order-1", use)
