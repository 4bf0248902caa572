from __future__ import annotations

import asyncio
import operator
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.report import ProgressCallbacks
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from pages import blocks, output_of
from real_server import Server
from sensorium import AsyncSensorium, Sensorium
from typing_extensions import TypedDict

from langgraph_sensorium import SensoriumSaver

HOME = Path(__file__).parents[1]


class Sum(TypedDict, total=False):
    total: Annotated[int, operator.add]
    seen: Annotated[list[str], operator.add]
    blob: str


@pytest.fixture
def saver(server: Server, new_key: Callable[[], str]) -> Iterator[SensoriumSaver]:
    """Of an agent without state."""
    with Sensorium(server.url, new_key()) as own:
        yield SensoriumSaver(own)


def of(thread_id: str, **more: Any) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **more}}


def adder(saver: SensoriumSaver) -> Any:
    """A graph of two nodes, the second of which waits for an answer."""
    builder = StateGraph(Sum)
    builder.add_node("one", lambda state: {"total": 1, "seen": ["one"]})
    builder.add_node("ask", lambda state: {"total": interrupt("how many?"), "seen": ["ask"]})
    builder.add_edge(START, "one")
    builder.add_edge("one", "ask")
    builder.add_edge("ask", END)
    return builder.compile(checkpointer=saver)


def test_is_a_checkpointer_as_langgraph_defines_it(server: Server) -> None:
    """LangGraph's own suite, with all capabilities."""
    failed: list[str] = []

    async def saver() -> AsyncIterator[SensoriumSaver]:
        async with AsyncSensorium(server.url, server.api_key) as client:
            yield SensoriumSaver(async_client=client)

    def result(capability: str, test: str, passed: bool, error: str | None) -> None:
        if not passed:
            failed.append(f"{capability} {test}: {error}")

    progress = ProgressCallbacks(on_test_result=result)
    report = asyncio.run(validate(checkpointer_test(name="SensoriumSaver")(saver), progress=progress))
    assert failed == []
    assert len(report.results) == 8 and all(each.passed for each in report.results.values())


def test_a_graph_waits_goes_on_and_goes_back(saver: SensoriumSaver) -> None:
    graph, config = adder(saver), of("waits")
    assert graph.invoke({"total": 10}, config)["__interrupt__"][0].value == "how many?"
    assert graph.get_state(config).next == ("ask",)
    assert graph.invoke(Command(resume=5), config) == {"total": 16, "seen": ["one", "ask"]}
    history = list(graph.get_state_history(config))
    assert [state.values.get("total") for state in history] == [16, 11, 10, 0]
    assert [state.metadata["step"] for state in history] == [2, 1, 0, -1]
    assert [state.metadata["step"] for state in graph.get_state_history(config, filter={"source": "input"})] == [-1]
    fork = graph.update_state(history[1].config, {"total": 100})
    assert graph.invoke(Command(resume=7), fork)["total"] == 118
    assert len(list(graph.get_state_history(config, limit=3))) == 3
    assert len(list(saver.list(None))) == len(list(saver.list(config))) == 6


def test_subgraphs_have_checkpoints_of_their_own(saver: SensoriumSaver) -> None:
    inner = StateGraph(Sum)
    inner.add_node("ask", lambda state: {"total": interrupt("inner")})
    inner.add_edge(START, "ask")
    outer = StateGraph(Sum)
    outer.add_node("inner", inner.compile())
    outer.add_edge(START, "inner")
    graph, config = outer.compile(checkpointer=saver), of("outer")
    graph.invoke({"total": 1}, config)
    state = graph.get_state(config, subgraphs=True)
    assert state.tasks[0].state and state.tasks[0].state.next == ("ask",)  # type: ignore[union-attr]
    spaces = {
        each.config["configurable"]["checkpoint_ns"] for each in saver.list({"configurable": {"thread_id": "outer"}})
    }
    assert len(spaces) == 2 and "" in spaces
    assert graph.invoke(Command(resume=2), config)["total"] == 4


def test_works_with_asyncio_in_one_loop_after_another(server: Server, new_key: Callable[[], str]) -> None:
    builder = StateGraph(Sum)
    builder.add_node("one", lambda state: {"total": 1})
    builder.add_node("two", lambda state: {"total": 2})
    builder.add_edge(START, "one")
    builder.add_edge("one", "two")
    saver, config = SensoriumSaver(async_client=AsyncSensorium(server.url, new_key())), of("async")
    graph: Any = builder.compile(checkpointer=saver, interrupt_before=["two"])
    assert asyncio.run(graph.ainvoke({"total": 1}, config))["total"] == 2
    assert asyncio.run(graph.ainvoke(None, config))["total"] == 4

    async def steps() -> list[int]:
        return [state.metadata["step"] async for state in graph.aget_state_history(config)]

    assert asyncio.run(steps()) == [2, 1, 0, -1]
    # The synchronous client is made like the other one.
    assert graph.get_state(config).values["total"] == 4


def test_keeps_long_values_and_odd_names(saver: SensoriumSaver) -> None:
    graph = adder(saver)
    names = ["a", "a.b", "a%2Eb", ".a..b.", "a/b", "50% ü\n~", "x" * 300]
    for name in names:
        graph.invoke({"total": 1, "blob": name}, of(name))
        assert graph.get_state(of(name)).values["blob"] == name
    assert sorted({each.config["configurable"]["thread_id"] for each in saver.list(None)}) == sorted(names)
    long = "ü\u0000🎉" * 500_000
    graph.invoke({"total": 1, "blob": long}, of("long"))
    saver.put_writes(
        of("long", checkpoint_id=graph.get_state(of("long")).config["configurable"]["checkpoint_id"]),
        [("blob", long)],
        "t",
    )
    assert graph.invoke(Command(resume=2), of("long"))["blob"] == long
    assert [state.values.get("blob") == long for state in graph.get_state_history(of("long"))] == [True] * 3 + [False]


@pytest.mark.parametrize("thread_id", ["", "t" * 500, "." * 200])
def test_refuses_an_id_of_a_thread_that_no_namespace_can_have(saver: SensoriumSaver, thread_id: str) -> None:
    graph = adder(saver)
    for act in (graph.get_state, lambda config: graph.invoke({"total": 1}, config)):
        with pytest.raises(ValueError, match=r"^thread_id: expected 1 to 483 characters"):
            act(of(thread_id))
    with pytest.raises(ValueError, match=r"^thread_id: "):
        saver.delete_thread(thread_id)
    longest = "t" * 483
    graph.invoke({"total": 1}, of(longest))
    assert [each.config["configurable"]["thread_id"] for each in saver.list(of(longest))][:1] == [longest]


def test_writers_at_once_lose_nothing(saver: SensoriumSaver) -> None:
    config = saver.put(of("crowd"), empty_checkpoint(), {}, {})
    values = [f"v{n}" for n in range(6)]

    def write(n: int) -> None:
        saver.put_writes(config, [("c", value) for value in values[: n + 1]], "task")
        saver.put_writes(config, [("c", n)], f"task-{n}", task_path=f"{9 - n}")

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(write, range(6)))
    found = saver.get_tuple(config)
    assert found and found.pending_writes == [
        *(("task", "c", value) for value in values),
        *((f"task-{n}", "c", n) for n in reversed(range(6))),
    ]


def test_needs_few_requests(server: Server, new_key: Callable[[], str]) -> None:
    sent: list[str] = []
    with httpx.Client(event_hooks={"request": [lambda request: sent.append(request.method)]}) as http:
        saver = SensoriumSaver(Sensorium(server.url, new_key(), http_client=http))
        config = saver.put(of("few"), {**empty_checkpoint(), "channel_values": {"blob": "x" * 3_000_000}}, {}, {})
        for n in range(30):
            saver.put_writes(config, [("c", n)], f"task-{n}")
        assert sent == ["POST", *["PUT"] * 31]  # The first is the exchange of the key.
        sent.clear()
        found = saver.get_tuple(of("few"))
        assert found and len(found.pending_writes or []) == 30
        assert sent == ["GET"] * 3
        sent.clear()
        saver.get_tuple(config)
        assert sent == ["GET"] * 2
        for n in range(15):
            saver.put(of("many"), empty_checkpoint(), {"step": n}, {})
        sent.clear()
        assert len(list(saver.list(of("many")))) == 15
        assert sent == ["GET"] * 2
        sent.clear()
        saver.delete_thread("many")
        assert sent == ["DELETE"]


def extend(state: list[str], writes: Sequence[list[str]]) -> list[str]:
    return [*(state or []), *(each for write in writes for each in write)]


class Log(TypedDict, total=False):
    lines: Annotated[list[str], DeltaChannel(extend, snapshot_frequency=10)]


@pytest.mark.parametrize("rounds", [4, 12])
def test_delta_channels_survive_pruning_and_copies(saver: SensoriumSaver, rounds: int) -> None:
    builder = StateGraph(Log)
    builder.add_node("say", lambda state: {"lines": [f"heard {len(state['lines'])}"]})
    builder.add_edge(START, "say")
    graph = builder.compile(checkpointer=saver)
    for n in range(rounds):
        graph.invoke({"lines": [f"{n}"]}, of("delta"))
    lines = graph.get_state(of("delta")).values["lines"]
    assert len(lines) == 2 * rounds
    before = len(list(saver.list(of("delta"))))
    saver.copy_thread("delta", "copy")
    saver.prune(["delta"])
    assert graph.get_state(of("delta")).values["lines"] == lines
    assert graph.get_state(of("copy")).values["lines"] == lines
    assert len(list(saver.list(of("copy")))) == before
    if rounds > 10:
        assert len(list(saver.list(of("delta")))) < before
    assert graph.invoke({"lines": ["more"]}, of("delta"))["lines"][: len(lines)] == lines


def test_prunes_and_deletes_runs(saver: SensoriumSaver) -> None:
    for n in range(3):
        config = saver.put(of("runs"), empty_checkpoint(), {"step": n, "run_id": f"run-{n}"}, {})
        saver.put_writes(config, [("c", "x" * 100_000)], "task")
    saver.delete_for_runs(["run-1", "unknown"])
    assert [each.metadata["step"] for each in saver.list(of("runs"))] == [2, 0]
    saver.prune(["runs", "unknown"])
    [kept] = saver.list({"configurable": {"thread_id": "runs"}})
    assert kept.metadata["step"] == 2 and len(kept.pending_writes or []) == 1
    with pytest.raises(ValueError, match="keep_latest"):
        saver.prune(["runs"], strategy="some")
    saver.prune(["runs"], strategy="delete")
    assert list(saver.list(None)) == []


def test_is_private_names_its_subject_and_refuses_other_formats(
    server: Server, saver: SensoriumSaver, new_key: Callable[[], str]
) -> None:
    config = of("ada/1", subject="ada@example.com")
    adder(saver).invoke({"total": 1}, config)
    with Sensorium(server.url, new_key()) as stranger:
        assert SensoriumSaver(stranger).get_tuple(config) is None
        assert list(SensoriumSaver(stranger).list(None)) == []
        namespace = "langgraph.python.ada%2F1"
        stranger.state.put(namespace=namespace, key="c//0", value="{}", metadata={"format": "langgraph-js/1"})
        with pytest.raises(ValueError, match="'langgraph-js/1': expected 'langgraph-python/1'"):
            SensoriumSaver(stranger).get_tuple(config)
    state = saver._clients._client.state  # type: ignore[union-attr]
    entries = state.list(namespace=namespace).entries
    assert len(entries) > 3 and {entry.metadata["subject"] for entry in entries} == {"ada@example.com"}


def test_the_example_waits_for_a_person(server: Server) -> None:
    example = HOME / "examples" / "approval.py"
    shown = [output_of(example, server), output_of(example, server, "approved")]
    assert "".join(shown) == blocks(HOME / "README.md", "text")[1]
