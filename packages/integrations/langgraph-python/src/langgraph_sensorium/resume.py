"""Resuming threads by events: each is the answer of the interrupt that its thread waits at, or an input."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME
from sensorium import AsyncSensorium, Delivery, GiveUp

from .keys import namespace_of
from .saver import SensoriumSaver

if TYPE_CHECKING:
    from langgraph.pregel import Pregel
    from langgraph.types import Interrupt, StateSnapshot

EVENT_ID = "sensorium_event_id"
"""In ``configurable``, and so in the metadata of checkpoints: the event that a run handles."""
CONTROL = {ERROR, INTERRUPT, RESUME, "__error_source_node__"}
"""LangGraph's writes that are no output of a task."""
NULL_TASK_ID = "00000000-0000-0000-0000-000000000000"


def _thread_of(event: dict[str, Any]) -> str | None:
    return event.get("subject") or event.get("correlationid")


async def resume_on_events(
    client: AsyncSensorium,
    graph: Pregel[Any, Any, Any, Any],
    *,
    thread_of: Callable[[dict[str, Any]], str | None] = _thread_of,
    input_of: Callable[[dict[str, Any]], Any] = lambda event: event,
    concurrency: int = 1,
    count: int | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """
    For each event of the client's agent, resumes the thread that the event belongs to with the event as the answer of
    its ``interrupt()``, or invokes the graph in it. Acknowledges the delivery when the graph has returned, and rejects
    it when the graph raises. An event without a thread, or whose thread cannot have its id, becomes a dead letter at
    once.

    ``thread_of`` names the thread, by default by the event's ``subject`` or else its ``correlationid``. ``input_of``
    makes the input of a graph that waits for nothing, by default the event. ``concurrency``, ``count`` and ``stop`` are
    those of ``client.listen``.

    A redelivered event does not resume its thread again, as checkpoints have the id of their event. This takes a
    thread's events one at a time: give the interest an ``ordering_key``. Raises ValueError if the graph has no
    checkpointer, and ApiError if the agent is refused.
    """
    from langgraph.types import Command

    saver = graph.checkpointer
    if not isinstance(saver, BaseCheckpointSaver):
        raise ValueError("The graph has no checkpointer: it keeps the threads.")

    async def handle(delivery: Delivery) -> None:
        event = delivery.event
        thread_id, event_id = thread_of(event), event["id"]
        if not thread_id:
            raise GiveUp("The event has no subject and no correlationid: it belongs to no thread.")
        if isinstance(saver, SensoriumSaver):
            try:
                namespace_of(thread_id)
            except ValueError as error:  # No retry would help.
                raise GiveUp(str(error)) from error
        thread = await _read(graph, saver, thread_id)
        if thread.state == "unfinished":
            # A node failed, or the process ended: finish that run first. What its other nodes did is not repeated.
            owner = event_id if event_id in thread.taken else next(iter(thread.taken), None)
            await graph.ainvoke(None, _config(thread_id, owner))
            thread = await _read(graph, saver, thread_id)
        if event_id in thread.taken:
            return
        # By its id: otherwise a node that fails before its second ``interrupt()`` gets the same answer there, too.
        interrupt = thread.interrupts[0] if thread.interrupts else None
        given = Command(resume={interrupt.id: event}) if interrupt else input_of(event)
        await graph.ainvoke(given, _config(thread_id, event_id))

    await client.listen(handle, concurrency=concurrency, count=count, stop=stop)


@dataclass
class _Thread:
    """What a thread has done, as its checkpoints tell."""

    taken: set[str]
    """The events that its last step took, as an input or as an answer."""
    state: str = "finished"
    """``waiting``, ``finished`` or new, or ``unfinished``: tasks are left that wait for no answer."""
    interrupts: list[Interrupt] = field(default_factory=list)


def _config(thread_id: str, event_id: str | None = None) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, **({EVENT_ID: event_id} if event_id else {})}}


async def _read(graph: Pregel[Any, Any, Any, Any], saver: BaseCheckpointSaver[Any], thread_id: str) -> _Thread:
    return await _inspect(await graph.aget_state(_config(thread_id), subgraphs=True), saver)


async def _inspect(snapshot: StateSnapshot, saver: BaseCheckpointSaver[Any]) -> _Thread:
    found = await saver.aget_tuple(snapshot.config)
    thread = _Thread(set(_taken_in(found)) if found else set())
    unfinished = False
    for task in snapshot.tasks:
        channels = {channel for task_id, channel, _ in (found and found.pending_writes) or [] if task_id == task.id}
        # Its output waits for the other tasks of the step.
        if channels - CONTROL:
            continue
        subgraph = await _inspect(task.state, saver) if isinstance(task.state, type(snapshot)) else None
        if subgraph:
            thread.taken |= subgraph.taken
        waits = INTERRUPT in channels and (subgraph is None or subgraph.state != "finished")
        if waits:
            thread.interrupts += subgraph.interrupts if subgraph else task.interrupts
        # LangGraph keeps the error of a task that waits again after a retry: then it runs once more, up to there.
        unfinished = unfinished or not waits or ERROR in channels or bool(subgraph and subgraph.state != "waiting")
    if thread.interrupts and not unfinished:
        thread.state = "waiting"
    elif snapshot.tasks:
        thread.state = "unfinished"
    return thread


def _taken_in(found: CheckpointTuple) -> Iterator[str]:
    """Yields the ids of the events that the run of a checkpoint handled, or that its tasks took as an answer."""
    if EVENT_ID in found.metadata:
        yield found.metadata[EVENT_ID]  # type: ignore[literal-required]
    for task_id, channel, answers in found.pending_writes or []:
        if channel == RESUME and task_id != NULL_TASK_ID and isinstance(answers, Iterable):
            yield from (each["id"] for each in answers if isinstance(each, dict) and "id" in each)
