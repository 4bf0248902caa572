"""What is done with whole threads, as steps for either client."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from sensorium import NotFound, models

from .calls import Steps
from .checkpoints import entry_at, whole
from .entries import to_checkpoint
from .keys import CHECKPOINTS, checkpoint_key, checkpoint_part, namespace_of, writes_of
from .listing import all_threads

MOST_AT_ONCE = 100
MOST_BYTES = 500_000
"""Of a batch: the server takes up to 1 MB."""


def delete_thread(thread_id: str) -> Steps[None]:
    yield "clear", {"namespace": namespace_of(thread_id)}


def copy_thread(source: str, target: str) -> Steps[None]:
    """Copies entries as they are: checkpoints do not say of which thread they are."""
    namespace = namespace_of(target)
    query: dict[str, Any] = {}
    while True:
        page = yield "list", {"namespace": namespace_of(source), **query}
        for batch in _batches([entry for entry in page.entries if entry.value is not None]):
            yield "put_many", {"namespace": namespace, "entries": batch}
        for long in (entry for entry in page.entries if entry.value is None):
            entry = yield from whole(long)
            if entry is not None:
                yield "put", {"namespace": namespace, **_copied(entry)}
        if page.next is None:
            return
        query = {"after": page.next}


def _copied(entry: models.StateEntry) -> dict[str, Any]:
    return {"key": entry.key, "value": entry.value, "metadata": entry.metadata}


def _batches(entries: Sequence[models.StateEntry]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for entry in map(_copied, entries):
        own = len(json.dumps(entry))
        if batch and (len(batch) >= MOST_AT_ONCE or size + own > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += own
    if batch:
        yield batch


def delete_for_runs(run_ids: Sequence[str]) -> Steps[None]:
    """Reads all threads: the state has no index of runs."""
    wanted = set(run_ids)
    if not wanted:
        return
    for thread_id in (yield from all_threads()):
        entries = yield from _checkpoints_of(thread_id)
        yield from _delete(thread_id, [entry for entry in entries if entry.metadata.get("run_id") in wanted])


def prune(serde: SerializerProtocol, thread_id: str, strategy: str) -> Steps[None]:
    if strategy == "delete":
        yield from delete_thread(thread_id)
        return
    if strategy != "keep_latest":
        raise ValueError(f"{strategy!r} is no strategy: expected 'keep_latest' or 'delete'.")
    entries = yield from _checkpoints_of(thread_id)
    for _, group in groupby(entries, lambda entry: str(entry.metadata["checkpoint_ns"])):
        *older, latest = group
        kept = yield from _needed_by(serde, latest)
        yield from _delete(thread_id, [entry for entry in older if entry.key not in kept])


def _needed_by(serde: SerializerProtocol, latest: models.StateEntry) -> Steps[set[str]]:
    """
    Returns the keys of the ancestors that a checkpoint needs: DeltaChannels have their values at some checkpoints, and
    are made from the writes since. The metadata counts the steps since then.
    """
    kept: set[str] = set()
    entry = yield from whole(latest)
    missing: set[str] | None = None
    while entry is not None:
        saved = to_checkpoint(serde, entry)
        if missing is None:
            missing = set(saved.metadata.get("counters_since_delta_snapshot") or {})
        missing -= saved.checkpoint["channel_values"].keys()
        if not missing or saved.parent is None:
            break
        key = checkpoint_key(saved.checkpoint_ns, saved.parent)
        kept.add(key)
        entry = yield from entry_at({"namespace": entry.namespace, "key": key})
    return kept


def _checkpoints_of(thread_id: str) -> Steps[list[models.StateEntry]]:
    """The checkpoints of a thread, the oldest of each namespace first; long ones without their value."""
    found: list[models.StateEntry] = []
    query: dict[str, Any] = {"prefix": CHECKPOINTS}
    while True:
        page = yield "list", {"namespace": namespace_of(thread_id), **query}
        found += page.entries
        if page.next is None:
            return found
        query = {**query, "after": page.next}


def _delete(thread_id: str, checkpoints: Sequence[models.StateEntry]) -> Steps[None]:
    """Deletes checkpoints and then their writes, so that none is found without its writes."""
    namespace = namespace_of(thread_id)
    for entry in checkpoints:
        with suppress(NotFound):
            yield "delete", {"namespace": namespace, "key": entry.key}
        prefix = writes_of(entry.metadata["checkpoint_ns"]) + checkpoint_part(entry.key) + "/"
        yield "clear", {"namespace": namespace, "prefix": prefix}
