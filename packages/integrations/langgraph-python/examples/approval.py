"""A graph that waits for a person: the next process goes on with the answer."""

from __future__ import annotations

import sys

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from langgraph_sensorium import SensoriumSaver


class State(TypedDict, total=False):
    amount: int
    result: str


def approve(state: State) -> State:
    answer = interrupt(f"Refund {state['amount']} EUR?")
    return {"result": f"{answer}: {state['amount']} EUR"}


builder = StateGraph(State)
builder.add_node("approve", approve)
builder.add_edge(START, "approve")
builder.add_edge("approve", END)
graph = builder.compile(checkpointer=SensoriumSaver())

config: RunnableConfig = {"configurable": {"thread_id": "refund-1"}}
if sys.argv[1:]:
    print(graph.invoke(Command(resume=sys.argv[1]), config)["result"])
else:
    print(graph.invoke({"amount": 120}, config)["__interrupt__"][0].value)
