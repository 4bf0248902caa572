"""A graph that remembers what a person likes, in one run, and knows it in the next."""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from langgraph_sensorium import SensoriumStore


class State(TypedDict, total=False):
    said: str
    known: list[str]


def remember(state: State, runtime: Runtime[None]) -> State:
    if runtime.store and state.get("said"):
        runtime.store.put(("people", "ada"), state["said"], {"text": state["said"]})
    return {}


def recall(state: State, runtime: Runtime[None]) -> State:
    found = runtime.store.search(("people", "ada"), query="What does Ada drink?", limit=3) if runtime.store else []
    return {"known": [item.value["text"] for item in found]}


builder = StateGraph(State)
builder.add_node("remember", remember)
builder.add_node("recall", recall)
builder.add_edge(START, "remember")
builder.add_edge("remember", "recall")
builder.add_edge("recall", END)
graph = builder.compile(store=SensoriumStore())

graph.invoke({"said": "Ada drinks green tea in the morning"})
print(graph.invoke({})["known"])
