"""What the checkpointer does, as steps for either client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from sensorium import Conflict, NotFound, models

from .calls import Steps
from .entries import (
    FORMAT,
    Write,
    checkpoint_value,
    config_of,
    numbered,
    to_checkpoint,
    to_pending,
    writes_in,
    writes_value,
)
from .keys import checkpoint_key, checkpoints_of, namespace_of, writes_key, writes_of


@dataclass(frozen=True)
class Place:
    """What a configuration names."""

    thread_id: str
    checkpoint_ns: str
    checkpoint_id: str | None
    subject: str | None

    @property
    def namespace(self) -> str:
        return namespace_of(self.thread_id)

    def metadata(self, **more: Any) -> dict[str, Any]:
        return {"format": FORMAT, **more, **({"subject": self.subject} if self.subject else {})}


def place_of(config: RunnableConfig) -> Place:
    given = config["configurable"]
    subject = given.get("subject")
    return Place(
        thread_id=str(given["thread_id"]),
        checkpoint_ns=given.get("checkpoint_ns") or "",
        checkpoint_id=get_checkpoint_id(config),
        subject=subject if isinstance(subject, str) else None,
    )


def put(
    serde: SerializerProtocol, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
) -> Steps[RunnableConfig]:
    place = place_of(config)
    known = get_checkpoint_metadata(config, metadata)
    run = {"run_id": str(known["run_id"])} if known.get("run_id") else {}
    yield (
        "put",
        {
            "namespace": place.namespace,
            "key": checkpoint_key(place.checkpoint_ns, checkpoint["id"]),
            "value": checkpoint_value(serde, checkpoint, known, place.checkpoint_id),
            "metadata": place.metadata(checkpoint_ns=place.checkpoint_ns, **run),
        },
    )
    return config_of(place.thread_id, place.checkpoint_ns, checkpoint["id"])


def put_writes(
    serde: SerializerProtocol, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
) -> Steps[None]:
    place = place_of(config)
    metadata = place.metadata(task_id=task_id, task_path=task_path)
    key = writes_key(place.checkpoint_ns, place.checkpoint_id or "", task_id)
    all_writes = numbered(serde, writes)
    # Errors, interrupts and such replace what was there; they have entries of their own.
    for write in (write for write in all_writes if write[0] < 0):
        address = {"namespace": place.namespace, "key": f"{key}/{write[0]}"}
        yield "put", {**address, "value": writes_value([write]), "metadata": metadata}
    regular = [write for write in all_writes if write[0] >= 0]
    if regular:
        yield from _put_regular({"namespace": place.namespace, "key": key}, regular, metadata)


def _put_regular(address: dict[str, Any], writes: list[Write], metadata: dict[str, Any]) -> Steps[None]:
    """Saves what is not there yet: writes that are there stay, so that a task that is repeated changes nothing."""
    version, there = 0, list[Write]()
    while True:
        known = {number for number, *_ in there}
        missing = [write for write in writes if write[0] not in known]
        if not missing:
            return
        value = writes_value(there + missing)
        try:
            yield "put", {**address, "value": value, "metadata": metadata, "if_version": version}
            return
        except Conflict:
            entry = yield from entry_at(address)
        version, there = (entry.version, writes_in(entry)) if entry else (0, [])


def get_tuple(serde: SerializerProtocol, config: RunnableConfig) -> Steps[CheckpointTuple | None]:
    place = place_of(config)
    if place.checkpoint_id:
        key = checkpoint_key(place.checkpoint_ns, place.checkpoint_id)
        entry = yield from entry_at({"namespace": place.namespace, "key": key})
    else:
        latest = {"prefix": checkpoints_of(place.checkpoint_ns), "order": "desc", "limit": 1}
        page = yield "list", {"namespace": place.namespace, **latest}
        entry = (yield from whole(page.entries[0])) if page.entries else None
    if entry is None:
        return None
    saved = to_checkpoint(serde, entry)
    writes = yield from entries_of(place.namespace, prefix=writes_of(place.checkpoint_ns, saved.checkpoint["id"]))
    return saved.to_tuple(place.thread_id, to_pending(serde, writes))


def entries_of(namespace: str, **query: Any) -> Steps[list[models.StateEntry]]:
    """Returns all entries that a list finds, with their values."""
    found: list[models.StateEntry] = []
    while True:
        page = yield "list", {"namespace": namespace, **query}
        for entry in page.entries:
            known = yield from whole(entry)
            found += [known] if known else []
        if page.next is None:
            return found
        query = {**query, "after": page.next}


def whole(entry: models.StateEntry) -> Steps[models.StateEntry | None]:
    """Returns an entry of a list with its value, which lists leave out if it is long; None if it is gone."""
    if entry.value is not None:
        return entry
    return (yield from entry_at({"namespace": entry.namespace, "key": entry.key}))


def entry_at(address: dict[str, Any]) -> Steps[models.StateEntry | None]:
    try:
        entry: models.StateEntry = yield "get", address
        return entry
    except NotFound:
        return None
