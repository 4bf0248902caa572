"""Orders: one event starts the thread of its order, the next one resumes it."""

from __future__ import annotations

import asyncio

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from sensorium import AsyncSensorium
from typing_extensions import TypedDict

from langgraph_sensorium import SensoriumSaver, resume_on_events


class Order(TypedDict, total=False):
    subject: str


def pay(state: Order) -> Order:
    event = interrupt("Waiting for the payment")
    print(f"{state['subject']}: {event['data']['amount']} EUR")
    return {}


def ship(state: Order) -> Order:
    print(f"{state['subject']} is shipped")
    return {}


builder = StateGraph(Order)
builder.add_node("pay", pay)
builder.add_node("ship", ship)
builder.add_edge(START, "pay")
builder.add_edge("pay", "ship")
builder.add_edge("ship", END)


async def main() -> None:
    async with AsyncSensorium() as client:
        graph = builder.compile(checkpointer=SensoriumSaver(async_client=client))
        # The events of an order come one at a time.
        await client.ensure_interest("com.example.order.*", ordering_key="subject")
        await client.publish("com.example.order.placed", {}, subject="order-1")
        await client.publish("com.example.order.paid", {"amount": 120}, subject="order-1")
        await resume_on_events(client, graph, count=2)  # without a count, as long as the program runs


asyncio.run(main())
