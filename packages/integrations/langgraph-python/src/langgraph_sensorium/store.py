"""The store: each item is a memory under a key of the agent."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
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
    TTLConfig,
    get_text_at_path,
    tokenize_path,
)
from sensorium import AsyncSensorium, Conflict, NotFound, Sensorium, models

from .calls import Clients, Steps
from .filters import matches, matches_all, metadata_filter
from .namespaces import from_text, to_text

MOST_CONTENT = 32_000
TTL = re.compile(r"ttl-(\d+(?:\.\d+)?(?:e-\d+)?)")
"""The tag with an item's ttl in minutes: a memory itself only knows when it ends."""
LONG_INTEGER = re.compile(r"(?<![\w.])-?\d{16,}(?![\w.])")
AS_TEXT = "__json__"
"""The field of metadata that has a whole value as JSON text; others are there to be filtered by."""
MOST_FOUND = 50
"""The most that one search gives."""


class SensoriumStore(BaseStore):
    """
    A store for LangGraph on a Sensorium server. Items belong to the agent whose key the client has, are searched by
    words and by meaning, and appear in the console as memories.

    ``client`` is for ``get``, ``put``, ``search`` …, ``async_client`` for ``aget``, ``aput`` …. One that is not given
    is made like the other, or from the environment's SENSORIUM_URL and SENSORIUM_API_KEY. ``ttl`` has the default of
    items, in minutes, and whether reading an item renews it.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Sensorium | None = None,
        async_client: AsyncSensorium | None = None,
        *,
        ttl: TTLConfig | None = None,
    ) -> None:
        self.ttl_config = ttl
        self._clients = Clients("memories", client, async_client)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._clients.run(_steps(op)) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return [await self._clients.arun(_steps(op)) for op in ops]


def _steps(op: Op) -> Steps[Any]:
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


def _get(op: GetOp) -> Steps[Any]:
    try:
        memory = yield "get_by_key", {"namespace": to_text(op.namespace), "key": op.key}
    except NotFound:
        return None
    if op.refresh_ttl:
        yield from _renew(memory)
    return Item(**_fields(memory))


def _put(op: PutOp) -> Steps[Any]:
    address = {"namespace": to_text(op.namespace), "key": op.key}
    if op.value is None:
        with contextlib.suppress(NotFound):
            yield "delete_by_key", address
        return None
    yield (
        "put_by_key",
        {
            **address,
            "title": op.key,
            "content": _text(op),
            "metadata": _kept(op.value),
            **({"expires_at": None} if op.ttl is None else {"expires_at": _end_of(op.ttl), "tags": [f"ttl-{op.ttl}"]}),
        },
    )
    return None


def _kept(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The value as JSON text if it has integers that a double would round: the service keeps no others exactly."""
    text = json.dumps(value, ensure_ascii=False)
    long = any(float(digits) != int(digits) for digits in LONG_INTEGER.findall(text))
    if not long:
        return value
    return {AS_TEXT: text, **{name: each for name, each in value.items() if isinstance(each, (str, int, float))}}


def _value(metadata: dict[str, Any]) -> dict[str, Any]:
    return json.loads(metadata[AS_TEXT]) if AS_TEXT in metadata else metadata


def _renew(memory: models.Memory) -> Steps[None]:
    """Counts the ttl of an item from now, if a tenth of it has passed: what is read often costs few writes."""
    tag = next((found for tag in memory.tags if (found := TTL.fullmatch(tag))), None)
    if tag is None or memory.expires_at is None:
        return
    ttl = float(tag[1])
    if _time(memory.expires_at) - datetime.now(timezone.utc) < timedelta(minutes=ttl * 0.9):
        with contextlib.suppress(NotFound, Conflict):
            yield "update", {"id": memory.id, "expires_at": _end_of(ttl)}


def _end_of(ttl: float) -> str:
    return (datetime.now(timezone.utc) + timedelta(minutes=ttl)).isoformat()


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


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


def _search(op: SearchOp) -> Steps[Any]:
    where = {"scope": "agent", **({"namespace": to_text(op.namespace_prefix)} if op.namespace_prefix else {})}
    known = metadata_filter(op.filter)
    found: list[tuple[models.Memory, float | None]] = []
    if op.query:
        # What conditions that the service does not know leave out is not known before.
        limit = MOST_FOUND if op.filter else min(MOST_FOUND, op.offset + op.limit)
        answer = yield "search", {**where, **({"metadata": known} if known else {}), "query": op.query, "limit": limit}
        found = [(each.memory, each.score) for each in answer.results if _is_item(each.memory, op)]
    else:
        cursor: dict[str, Any] = {"metadata": json.dumps(known)} if known else {}
        while len(found) < op.offset + op.limit:
            page = yield "list", {**where, "limit": 200, **cursor}
            found += [(memory, None) for memory in page.memories if _is_item(memory, op)]
            if page.next_cursor is None:
                break
            cursor["cursor"] = page.next_cursor
    found = found[op.offset : op.offset + op.limit]
    for memory, _ in found if op.refresh_ttl else ():
        yield from _renew(memory)
    return [SearchItem(**_fields(memory), score=score) for memory, score in found]


def _is_item(memory: models.Memory, op: SearchOp) -> bool:
    return memory.key is not None and matches_all(_value(memory.metadata), op.filter)


def _namespaces(op: ListNamespacesOp) -> Steps[Any]:
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
        "value": _value(memory.metadata),
        "created_at": _time(memory.created_at),
        "updated_at": _time(memory.updated_at),
    }
