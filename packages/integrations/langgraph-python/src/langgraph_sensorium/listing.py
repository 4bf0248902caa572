"""Lists of checkpoints, the newest first."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, get_checkpoint_id
from langgraph.checkpoint.serde.base import SerializerProtocol
from sensorium import models

from .calls import Steps
from .checkpoints import entries_of, get_tuple, place_of, whole
from .entries import Saved, to_checkpoint, to_pending
from .keys import (
    CHECKPOINTS,
    THREADS,
    checkpoint_key,
    checkpoint_part,
    checkpoints_of,
    namespace_of,
    thread_of,
    writes_of,
)

PAGE = 20
"""Checkpoints may be long."""


class Listing:
    """One list, page by page: ``more`` gives the next one, and None after the last."""

    def __init__(
        self,
        serde: SerializerProtocol,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> None:
        self._serde = serde
        self._config = config
        self._filter = filter or {}
        self._before = get_checkpoint_id(before) if before else None
        self._left = limit
        self._checkpoint_ns = config["configurable"].get("checkpoint_ns") if config else None
        self._threads: list[str] | None = [place_of(config).thread_id] if config else None
        self._bound = self._first_bound()

    def more(self) -> Steps[list[CheckpointTuple] | None]:
        if self._left is not None and self._left <= 0:
            return None
        if self._threads is None:
            self._threads = yield from all_threads()
        if not self._threads:
            return None
        if self._config and get_checkpoint_id(self._config):
            found = yield from self._one(self._config)
        else:
            found = yield from self._page(self._threads)
        if self._left is not None:
            found = found[: self._left]
            self._left -= len(found)
        return found

    def _first_bound(self) -> dict[str, Any]:
        known = self._before is not None and self._checkpoint_ns is not None
        return {"before": checkpoint_key(self._checkpoint_ns or "", self._before or "")} if known else {}

    def _one(self, config: RunnableConfig) -> Steps[list[CheckpointTuple]]:
        self._threads = []
        found = yield from get_tuple(self._serde, config)
        return [found] if found and self._matches(found.checkpoint["id"], found.metadata) else []

    def _page(self, threads: list[str]) -> Steps[list[CheckpointTuple]]:
        thread_id = threads[0]
        namespace = namespace_of(thread_id)
        prefix = CHECKPOINTS if self._checkpoint_ns is None else checkpoints_of(self._checkpoint_ns)
        size = PAGE if self._filter or self._left is None else min(PAGE, self._left)
        page = yield "list", {"namespace": namespace, "prefix": prefix, "order": "desc", "limit": size, **self._bound}
        if page.next is None:
            threads.pop(0)
            self._bound = self._first_bound()
        else:
            self._bound = {"before": page.next}
        found: list[Saved] = []
        for entry in page.entries:
            known = yield from whole(entry)
            saved = to_checkpoint(self._serde, known) if known else None
            if saved and self._matches(saved.checkpoint["id"], saved.metadata):
                found.append(saved)
        return (yield from self._with_writes(thread_id, found))

    def _matches(self, checkpoint_id: str, metadata: Any) -> bool:
        if self._before is not None and checkpoint_id >= self._before:
            return False
        return all(metadata.get(name) == wanted for name, wanted in self._filter.items())

    def _with_writes(self, thread_id: str, found: list[Saved]) -> Steps[list[CheckpointTuple]]:
        """Reads the writes of all of them by one list for each checkpoint namespace."""
        tuples: list[CheckpointTuple] = []
        for checkpoint_ns, group in groupby(found, lambda saved: saved.checkpoint_ns):
            these = list(group)
            first, last = (writes_of(checkpoint_ns, saved.checkpoint["id"]) for saved in (these[-1], these[0]))
            query = {"prefix": writes_of(checkpoint_ns), "after": first, "before": last[:-1] + AFTER_SLASH}
            writes = defaultdict[str, list[models.StateEntry]](list)
            for entry in (yield from entries_of(namespace_of(thread_id), **query)):
                writes[checkpoint_part(entry.key)].append(entry)
            for saved in these:
                part = checkpoint_part(checkpoint_key(checkpoint_ns, saved.checkpoint["id"]))
                tuples.append(saved.to_tuple(thread_id, to_pending(self._serde, writes[part])))
        return tuples


AFTER_SLASH = chr(ord("/") + 1)


def all_threads() -> Steps[list[str]]:
    found: list[str] = []
    after: dict[str, Any] = {}
    while True:
        page = yield "namespaces", {"prefix": THREADS, "limit": 200, **after}
        found += [thread_of(namespace) for namespace in page.namespaces]
        if page.next is None:
            return found
        after = {"after": page.next}
