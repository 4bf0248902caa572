from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from langgraph.graph import START, StateGraph
from langgraph.store.base import GetOp, PutOp
from pages import blocks, output_of, run_blocks
from real_server import Server
from sensorium import AsyncSensorium, Sensorium
from typing_extensions import TypedDict

from langgraph_sensorium import SensoriumStore

EXAMPLE = Path(__file__).parents[1] / "examples" / "remembers.py"
README = Path(__file__).parents[1] / "README.md"


@pytest.fixture
def store(server: Server, new_key: Callable[[], str]) -> Iterator[SensoriumStore]:
    """Of an agent without memories."""
    with Sensorium(server.url, new_key()) as own:
        yield SensoriumStore(own)


def test_puts_gets_and_deletes(store: SensoriumStore) -> None:
    value = {"text": "green tea", "n": 1, "nested": {"list": [1, None, {"a": "b"}]}}
    store.put(("people", "ada"), "drink", value)
    item = store.get(("people", "ada"), "drink")
    assert item and (item.value, item.key, item.namespace) == (value, "drink", ("people", "ada"))
    store.put(("people", "ada"), "drink", {"text": "coffee"})
    again = store.get(("people", "ada"), "drink")
    assert again and again.value == {"text": "coffee"}
    assert again.created_at == item.created_at and again.updated_at >= item.updated_at
    store.delete(("people", "ada"), "drink")
    store.delete(("people", "ada"), "drink")
    assert store.get(("people", "ada"), "drink") is None


def test_keeps_long_integers(store: SensoriumStore) -> None:
    value = {"ids": [2**53 + 1, -(2**63)], "name": "ann", "text": "12345678901234567890"}
    store.put(("orders",), "long", value)
    found = store.get(("orders",), "long")
    assert found is not None
    assert found.value == value
    assert [each.value for each in store.search(("orders",), filter={"name": "ann"})] == [value]


def test_keeps_odd_names(store: SensoriumStore) -> None:
    store.put(("a/b", "50% ü"), "key/with %2F", {"n": 1})
    assert store.get(("a/b", "50% ü"), "key/with %2F")
    assert store.list_namespaces() == [("a/b", "50% ü")]


def test_searches_by_meaning_filter_and_page(store: SensoriumStore) -> None:
    for n in range(12):
        store.put(("docs", "even" if n % 2 == 0 else "odd"), f"doc-{n}", {"text": f"Page {n}", "n": n, "kind": "page"})
    store.put(("docs", "odd"), "tea", {"text": "Green tea is brewed at seventy degrees", "n": 50, "kind": "recipe"})
    assert {item.key for item in store.search(("docs",), limit=50)} == {f"doc-{n}" for n in range(12)} | {"tea"}
    assert [item.value["n"] for item in store.search(("docs", "odd"), filter={"n": {"$gte": 5, "$lt": 10}})] in (
        [9, 7, 5],
        [5, 7, 9],
    )
    assert [item.key for item in store.search(("docs",), filter={"kind": "recipe"})] == ["tea"]
    pages = [item.key for offset in (0, 5, 10) for item in store.search(("docs",), limit=5, offset=offset)]
    assert len(pages) == len(set(pages)) == 13
    best = store.search(("docs",), query="How hot is the water for tea?", limit=3)
    assert best[0].key == "tea" and best[0].score
    assert store.search(("docs", "even"), query="seventy degrees", filter={"kind": "recipe"}) == []
    with pytest.raises(ValueError, match="no operator"):
        store.search(("docs",), filter={"n": {"$near": 1}})


def test_finds_what_a_filter_names_among_many_that_match_better(store: SensoriumStore) -> None:
    for n in range(60):
        store.put(("many",), f"n{n}", {"text": "Green tea, green tea", "n": n, "kind": "tea"})
    store.put(("many",), "rare", {"text": "A note, with tea", "n": 60, "kind": "note", "labels": ["old"], "on": True})

    def found(conditions: dict[str, object]) -> list[str]:
        ranked = [item.key for item in store.search(("many",), query="green tea", filter=conditions)]
        assert [item.key for item in store.search(("many",), filter=conditions)] == ranked
        return ranked

    assert found({"kind": "note"}) == ["rare"]
    assert found({"kind": {"$eq": "note"}, "n": {"$gte": 60, "$lt": 61}}) == ["rare"]
    # A list is no text, and conditions that the service does not know still count.
    assert found({"n": 60, "labels": "old"}) == []
    assert found({"n": {"$gte": 59}, "kind": {"$ne": "tea"}, "on": 1}) == ["rare"]
    assert found({"n": {"$gte": 59}, "kind": {"$lt": "o"}, "odd.name": None}) == ["rare"]


def test_indexes_the_fields_that_it_is_told(store: SensoriumStore) -> None:
    store.put(("index",), "some", {"text": "The invoice is due in May", "hidden": "walrus"}, index=["text"])
    store.put(("index",), "none", {"text": "walrus"}, index=False)
    assert [item.key for item in store.search(("index",), query="When is the invoice due?")][:1] == ["some"]
    assert "some" not in [item.key for item in store.search(("index",), query="walrus")]


def test_lists_namespaces(store: SensoriumStore) -> None:
    for namespace in [("a",), ("a", "b"), ("a", "b", "c"), ("x", "b"), ("x", "b", "v1")]:
        store.put(namespace, "k", {"n": 1})
    assert store.list_namespaces(prefix=("a",)) == [("a",), ("a", "b"), ("a", "b", "c")]
    assert store.list_namespaces(suffix=("b",)) == [("a", "b"), ("x", "b")]
    assert store.list_namespaces(prefix=("*", "b"), max_depth=2) == [("a", "b"), ("x", "b")]
    assert store.list_namespaces(limit=2, offset=1) == [("a", "b"), ("a", "b", "c")]


def test_expires(store: SensoriumStore) -> None:
    store.put(("short",), "k", {"n": 1}, ttl=0.01)
    assert store.get(("short",), "k")
    time.sleep(0.9)
    assert store.get(("short",), "k") is None
    assert store.search(("short",)) == []


def test_reading_renews(client: Sensorium, new_key: Callable[[], str]) -> None:
    now = datetime.now(timezone.utc)

    with Sensorium(client._connection.origin, new_key()) as own:
        store = SensoriumStore(own, ttl={"default_ttl": 60})

        def left(key: str) -> float:
            ends = own.memories.get_by_key(namespace="short", key=key).expires_at
            return (datetime.fromisoformat((ends or "").replace("Z", "+00:00")) - now).total_seconds() / 60

        def pass_time(minutes: int) -> None:
            for key in ("got", "found"):
                memory = own.memories.get_by_key(namespace="short", key=key)
                ends = (now + timedelta(minutes=60 - minutes)).isoformat()
                own.memories.update(id=memory.id, expires_at=ends)

        for key in ("got", "found"):
            store.put(("short",), key, {"n": key})
        pass_time(30)
        assert store.get(("short",), "got", refresh_ttl=False) and len(store.search(("short",), refresh_ttl=False)) == 2
        assert (round(left("got")), round(left("found"))) == (30, 30)
        assert store.get(("short",), "got") and left("got") >= 60
        assert len(store.search(("short",), filter={"n": "found"})) == 1 and left("found") >= 60
        # A write for each read of what was just read would be too many.
        pass_time(5)
        assert store.get(("short",), "got") and round(left("got")) == 55
        store.put(("short",), "got", {"n": "kept"}, ttl=None)
        assert own.memories.get_by_key(namespace="short", key="got").expires_at is None


def test_batches_and_asyncio(server: Server) -> None:
    async def run() -> None:
        async with AsyncSensorium(server.url, server.api_key) as client:
            store = SensoriumStore(async_client=client)
            put, got = await store.abatch([PutOp(("batch",), "k", {"n": 1}), GetOp(("batch",), "k")])
            assert put is None and got and got.value == {"n": 1}  # type: ignore[union-attr]
            assert [item.key for item in await store.asearch(("batch",))] == ["k"]
            assert ("batch",) in await store.alist_namespaces()

    asyncio.run(run())


def test_the_example(server: Server) -> None:
    assert output_of(EXAMPLE, server) == blocks(README, "text")[0]


def test_the_readme(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENSORIUM_URL", server.url)
    monkeypatch.setenv("SENSORIUM_API_KEY", server.api_key)
    builder = StateGraph(State)
    builder.add_node("count", lambda state: {"n": state["n"] + 1})
    builder.add_edge(START, "count")
    graph = run_blocks(README, builder=builder)["graph"]
    config = {"configurable": {"thread_id": "readme"}}
    assert graph.invoke({"n": 1}, config) == graph.get_state(config).values == {"n": 2}


class State(TypedDict):
    n: int
