"""Checkpoints and writes as entries of the agent's state, and back."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, Checkpoint, CheckpointMetadata, CheckpointTuple, PendingWrite
from langgraph.checkpoint.serde.base import SerializerProtocol
from sensorium import models

FORMAT = "langgraph-python/1"

Write = list[Any]
"""Its number in its task, the channel, and what the serializer makes of the value: a type and a text."""


def config_of(thread_id: str, checkpoint_ns: str, checkpoint_id: str) -> RunnableConfig:
    configurable = {"thread_id": thread_id, "checkpoint_ns": checkpoint_ns, "checkpoint_id": checkpoint_id}
    return {"configurable": configurable}


def checkpoint_value(
    serde: SerializerProtocol, checkpoint: Checkpoint, metadata: CheckpointMetadata, parent: str | None
) -> str:
    return json.dumps(
        {"checkpoint": _dumps(serde, checkpoint), "metadata": _dumps(serde, metadata), "parent": parent},
        separators=(",", ":"),
    )


@dataclass(frozen=True)
class Saved:
    """A saved checkpoint, read."""

    checkpoint: Checkpoint
    metadata: CheckpointMetadata
    parent: str | None
    checkpoint_ns: str

    def to_tuple(self, thread_id: str, writes: list[PendingWrite]) -> CheckpointTuple:
        place = (thread_id, self.checkpoint_ns)
        return CheckpointTuple(
            config=config_of(*place, self.checkpoint["id"]),
            checkpoint=self.checkpoint,
            metadata=self.metadata,
            parent_config=None if self.parent is None else config_of(*place, self.parent),
            pending_writes=writes,
        )


def to_checkpoint(serde: SerializerProtocol, entry: models.StateEntry) -> Saved:
    value = json.loads(_value(entry))
    return Saved(
        checkpoint=_loads(serde, value["checkpoint"]),
        metadata=_loads(serde, value["metadata"]),
        parent=value["parent"],
        checkpoint_ns=entry.metadata["checkpoint_ns"],
    )


def numbered(serde: SerializerProtocol, writes: Sequence[tuple[str, Any]]) -> list[Write]:
    """Returns the writes of a task with their numbers, which are negative for the special channels of LangGraph."""
    return [
        [WRITES_IDX_MAP.get(channel, at), channel, *_dumps(serde, value)] for at, (channel, value) in enumerate(writes)
    ]


def writes_value(writes: list[Write]) -> str:
    return json.dumps(writes, separators=(",", ":"))


def writes_in(entry: models.StateEntry) -> list[Write]:
    writes: list[Write] = json.loads(_value(entry))
    return writes


def to_pending(serde: SerializerProtocol, entries: Iterable[models.StateEntry]) -> list[PendingWrite]:
    """In the order in which a graph applies them."""
    found = [
        (entry.metadata["task_path"], entry.metadata["task_id"], *write)
        for entry in entries
        for write in writes_in(entry)
    ]
    return [
        (task_id, channel, _loads(serde, (kind, text)))
        for _, task_id, _, channel, kind, text in sorted(found, key=lambda each: each[:3])
    ]


def _value(entry: models.StateEntry) -> str:
    if (kind := entry.metadata.get("format")) != FORMAT:
        raise ValueError(f"{entry.namespace}/{entry.key} has the format {kind!r}: expected {FORMAT!r}.")
    return entry.value or ""


def _dumps(serde: SerializerProtocol, value: Any) -> tuple[str, str]:
    kind, data = serde.dumps_typed(value)
    return kind, data.decode() if kind == "json" else base64.b64encode(data).decode()


def _loads(serde: SerializerProtocol, typed: Sequence[str]) -> Any:
    kind, text = typed
    return serde.loads_typed((kind, text.encode() if kind == "json" else base64.b64decode(text)))
