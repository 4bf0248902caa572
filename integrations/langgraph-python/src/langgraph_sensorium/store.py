"""The store: each item is a memory under a key of the agent."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator, Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
)
from sensorium import AsyncSensorium, NotFound, Sensorium, models

from .filters import matches, matches_all
from .namespaces import from_text, to_text

MOST_CONTENT = 32_000
MOST_FOUND = 50
"""The most that one search gives."""

Call = tuple[str, dict[str, Any]]
"""An operation on memories, and its arguments."""
Steps = Generator[Call, Any, Any]


class SensoriumStore(BaseStore):
    """
    A store for LangGraph on a Sensorium server. Items belong to the agent whose key the client has, are searched by
    words and by meaning, and appear in the console as memories.

    ``client`` is for ``get``, ``put``, ``search`` …, ``async_client`` for ``aget``, ``aput`` …; by default both are
    made from the environment's SENSORIUM_URL and SENSORIUM_API_KEY.
    """

    supports_ttl = True

    def __init__(self, client: Sensorium | None = None, async_client: AsyncSensorium | None = None) -> None:
        self._client = client
        self._async_client = async_client

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        client = self._client = self._client or Sensorium()
        return [_run(client, _steps(op)) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        client = self._async_client = self._async_client or AsyncSensorium()
        return [await _arun(client, _steps(op)) for op in ops]


def _run(client: Sensorium, steps: Steps) -> Any:
    """Does the calls that the steps ask for; like _arun."""
    try:
        name, given = next(steps)
        while True:
            try:
                answer = getattr(client.memories, name)(**given)
            except NotFound as missing:
                name, given = steps.throw(missing)
            else:
                name, given = steps.send(answer)
    except StopIteration as done:
        return done.value


async def _arun(client: AsyncSensorium, steps: Steps) -> Any:
    try:
        name, given = next(steps)
        while True:
            try:
                answer = await getattr(client.memories, name)(**given)
            except NotFound as missing:
                name, given = steps.throw(missing)
            else:
                name, given = steps.send(answer)
    except StopIteration as done:
        return done.value


def _steps(op: Op) -> Steps:
    match op:
        case GetOp():
            return _get(op)
        case PutOp():
            return _put(op)
        case SearchOp():
            return _search(op)
        case ListNamespacesOp():
            return _namespaces(op)
    raise TypeError(f"{type(op).__name__} is no operation of a store")


def _get(op: GetOp) -> Steps:
    try:
        memory = yield "get_by_key", {"namespace": to_text(op.namespace), "key": op.key}
    except NotFound:
        return None
    return Item(**_fields(memory))


def _put(op: PutOp) -> Steps:
    address = {"namespace": to_text(op.namespace), "key": op.key}
    if op.value is None:
        with contextlib.suppress(NotFound):
            yield "delete_by_key", address
        return None
    expires = None if op.ttl is None else datetime.now(timezone.utc) + timedelta(minutes=op.ttl)
    yield (
        "put_by_key",
        {
            **address,
            "title": op.key,
            "content": _text(op),
            "metadata": op.value,
            "expires_at": None if expires is None else expires.isoformat(),
        },
    )
    return None


def _text(op: PutOp) -> str:
    """What search finds an item by: the fields of ``index``, by default all; the key alone if it is False."""
    if op.index is False:
        return op.key
    if op.index is None:
        text = json.dumps(op.value, ensure_ascii=False)
    else:
        paths = [tokenize_path(path) for path in op.index]
        text = "\n".join(part for path in paths for part in get_text_at_path(op.value, path))
    return text[:MOST_CONTENT] or op.key


def _search(op: SearchOp) -> Steps:
    where = {"scope": "agent", **({"namespace": to_text(op.namespace_prefix)} if op.namespace_prefix else {})}
    found: list[SearchItem] = []
    if op.query:
        # What a filter leaves out is not known before.
        limit = MOST_FOUND if op.filter else min(MOST_FOUND, op.offset + op.limit)
        answer = yield "search", {**where, "query": op.query, "limit": limit}
        found = [SearchItem(**_fields(each.memory), score=each.score) for each in answer.results if each.memory.key]
        found = [item for item in found if matches_all(item.value, op.filter)]
    else:
        cursor: dict[str, Any] = {}
        while len(found) < op.offset + op.limit:
            page = yield "list", {**where, "limit": 200, **cursor}
            items = [SearchItem(**_fields(memory)) for memory in page.memories if memory.key]
            found += [item for item in items if matches_all(item.value, op.filter)]
            if page.next_cursor is None:
                break
            cursor = {"cursor": page.next_cursor}
    return found[op.offset : op.offset + op.limit]


def _namespaces(op: ListNamespacesOp) -> Steps:
    found: dict[tuple[str, ...], None] = {}
    after: dict[str, Any] = {}
    while True:
        page = yield "namespaces", {"limit": 200, **after}
        for text in page.namespaces:
            namespace = from_text(text)
            if all(matches(namespace, condition) for condition in op.match_conditions or ()):
                found[namespace[: op.max_depth]] = None
        if page.next is None:
            return list(found)[op.offset : op.offset + op.limit]
        after = {"after": page.next}


def _fields(memory: models.Memory) -> dict[str, Any]:
    return {
        "namespace": from_text(memory.namespace or ""),
        "key": memory.key,
        "value": memory.metadata,
        "created_at": datetime.fromisoformat(memory.created_at.replace("Z", "+00:00")),
        "updated_at": datetime.fromisoformat(memory.updated_at.replace("Z", "+00:00")),
    }
