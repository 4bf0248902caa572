from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from crash import handle_twice
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pages import blocks, output_of
from real_server import Server
from sensorium import AsyncSensorium, RetryLater, Sensorium
from typing_extensions import TypedDict

from langgraph_sensorium import SensoriumSaver, resume_on_events

HOME = Path(__file__).parents[1]


class Log(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


def union(known: list[str], more: list[str]) -> list[str]:
    return [*known, *(each for each in more if each not in known)]


class Once(TypedDict, total=False):
    """Lines once: a subgraph returns those of its parent, too."""

    log: Annotated[list[str], union]


def answer(question: str) -> str:
    name: str = interrupt(question)["data"]["name"]
    return name


def started(event: dict[str, Any]) -> Log:
    return {"log": [event["data"]["name"]]}


def asking(saver: Any) -> Any:
    """Two questions in one node, then a third one."""
    builder = StateGraph(Log)
    builder.add_node("ask", lambda state: {"log": [answer("one"), answer("two")]})
    builder.add_node("more", lambda state: {"log": [answer("three")]})
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "more")
    builder.add_edge("more", END)
    return builder.compile(checkpointer=saver)


def nested(saver: Any) -> Any:
    inner = StateGraph(Once)
    inner.add_node("deep", lambda state: {"log": [answer("one"), answer("two")]})
    inner.add_edge(START, "deep")
    builder = StateGraph(Once)
    builder.add_node("inner", inner.compile())
    builder.add_edge(START, "inner")
    return builder.compile(checkpointer=saver)


def parallel(saver: Any) -> Any:
    builder = StateGraph(Log)
    for name in ("left", "right"):
        builder.add_node(name, lambda state: {"log": [answer("which?")]})
        builder.add_edge(START, name)
    return builder.compile(checkpointer=saver)


async def values_of(graph: Any, thread_id: str = "order-1") -> list[str]:
    log: list[str] = (await graph.aget_state({"configurable": {"thread_id": thread_id}})).values["log"]
    return log


def test_events_start_threads_and_answer_their_interrupts(
    server: Server, client: Sensorium, receiver: tuple[str, str]
) -> None:
    key, type_ = receiver
    for name in ("start", "a", "b", "c"):
        for subject in ("order-1", "order-2"):
            client.publish(type_, {"name": name}, subject=subject)
    for name in ("start", "a"):
        client.publish(type_, {"name": name}, correlationid="order-3")
    client.publish(type_, {"name": "lost"})
    client.publish(type_, {"name": "long"}, subject="o" * 600)

    async def run() -> None:
        async with AsyncSensorium(server.url, key) as agent:
            graph = asking(SensoriumSaver(async_client=agent))
            await resume_on_events(agent, graph, input_of=started, count=12)
            for thread_id in ("order-1", "order-2"):
                assert await values_of(graph, thread_id) == ["start", "a", "b", "c"]
            state = await graph.aget_state({"configurable": {"thread_id": "order-3"}})
            assert [each.value for each in state.interrupts] == ["two"]
            letters = (await agent.deliveries.dead_letters()).items
            assert {("no thread" in each.dlq_reason, "(got 600)" in each.dlq_reason) for each in letters} == {
                (True, False),
                (False, True),
            }

    asyncio.run(run())


@pytest.mark.parametrize(("graph_of", "kind"), [(asking, "own"), (nested, "own"), (parallel, "own"), (asking, "other")])
def test_a_lost_acknowledgement_does_not_resume_a_thread_again(
    server: Server, client: Sensorium, receiver: tuple[str, str], graph_of: Callable[[Any], Any], kind: str
) -> None:
    key, type_ = receiver

    async def run() -> None:
        async with AsyncSensorium(server.url, key) as agent:
            graph = graph_of(SensoriumSaver(async_client=agent) if kind == "own" else InMemorySaver())
            names = ["start", "a", "b", *(["c"] if graph_of is asking else [])]
            for name in names:
                client.publish(type_, {"name": name}, order="7")
                await handle_twice(
                    server.url,
                    key,
                    lambda own, count: resume_on_events(
                        own, graph, thread_of=lambda event: event["order"], input_of=started, count=count
                    ),
                )
            assert await values_of(graph, "7") == names

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["node", "subgraph"])
def test_a_failed_run_goes_on_where_it_failed(
    server: Server, client: Sensorium, receiver: tuple[str, str], kind: str
) -> None:
    key, type_ = receiver
    failing: set[str] = set()

    def call(name: str) -> Once:
        if name in failing:
            failing.remove(name)
            raise RetryLater(f"{name} failed", delay=0)
        return {"log": [name]}

    def ask(state: Once) -> Once:
        call("ask")
        one = answer("one")
        call("asked")
        return {"log": [one, answer("two")]}

    async def run() -> None:
        async with AsyncSensorium(server.url, key) as agent:
            inner = StateGraph(Once)
            inner.add_node("ask", ask)
            inner.add_edge(START, "ask")
            builder = StateGraph(Once)
            builder.add_node("first", lambda state: call("first"))
            builder.add_node("middle", ask if kind == "node" else inner.compile())
            builder.add_node("last", lambda state: call("last"))
            builder.add_edge(START, "first")
            builder.add_edge("first", "middle")
            builder.add_edge("middle", "last")
            graph = builder.compile(checkpointer=SensoriumSaver(async_client=agent))
            failures = {"start": "first", "a": "asked", "b": "last", "c": "first", "d": "ask"}
            for name in [*failures, "e"]:
                failing.update(each for event, each in failures.items() if event == name)
                client.publish(type_, {"name": name}, subject="order-1")
                await resume_on_events(agent, graph, input_of=started, count=2 if failing else 1)
                assert not failing and (await agent.deliveries.stats()).pending == 0
            assert (await agent.deliveries.dead_letters()).items == []
            assert await values_of(graph) == ["start", "first", "a", "b", "last", "c", "d", "e"]

    asyncio.run(run())


def test_needs_a_checkpointer(server: Server) -> None:
    async def run() -> None:
        async with AsyncSensorium(server.url, server.api_key) as agent:
            await resume_on_events(agent, asking(None))

    with pytest.raises(ValueError, match="no checkpointer"):
        asyncio.run(run())


def test_the_example(server: Server) -> None:
    assert output_of(HOME / "examples" / "resumes.py", server) == blocks(HOME / "README.md", "text")[2]
