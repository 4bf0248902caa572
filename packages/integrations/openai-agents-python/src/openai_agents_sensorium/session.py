"""The session: the items of a conversation, as entries of the agent's state."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from agents import SessionSettings
from sensorium import AsyncSensorium, Conflict, NotFound, models

if TYPE_CHECKING:
    from agents import TResponseInputItem

FORMAT = "openai-agents-python/1"
PAGE = 100
LATEST = 20
"""How many entries are searched for those of an event."""
LONGEST_NAMESPACE = 500
_ODD = re.compile(r"[%./\x00-\x1f\x7f]")


class SensoriumSession:
    """
    A conversation that lasts: kept by the server, private to the agent whose key the client has, and shared by all
    processes that use the same ``session_id``.

    ``client`` is best one for all sessions of a program; by default each makes its own from the environment's
    SENSORIUM_URL and SENSORIUM_API_KEY. ``subject`` names the person it is about, for erasure; ``event_id`` is the
    event that a run handles, kept with the items that it adds. The methods raise ApiError and ConnectionFailed, of
    ``sensorium``.
    """

    def __init__(
        self,
        session_id: str,
        *,
        client: AsyncSensorium | None = None,
        subject: str | None = None,
        session_settings: SessionSettings | None = None,
        event_id: str | None = None,
    ) -> None:
        if not session_id:
            raise ValueError("session_id is empty.")
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings
        self._state = (client or AsyncSensorium()).state
        self._namespace = "openai-agents.python." + _ODD.sub(lambda odd: f"%{ord(odd[0]):02X}", session_id)
        if len(self._namespace) > LONGEST_NAMESPACE:
            raise ValueError(
                f"session_id: expected at most {LONGEST_NAMESPACE - len('openai-agents.python.')} characters; "
                "each of . / % counts as three."
            )
        self._metadata = {
            "format": FORMAT,
            **({"subject": subject} if subject else {}),
            **({"event_id": event_id} if event_id else {}),
        }

    async def has_event(self) -> bool:
        """Whether the latest entries have one with the items of this session's event."""
        event_id = self._metadata.get("event_id")
        page = await self._state.list(namespace=self._namespace, order="desc", limit=LATEST)
        return event_id is not None and any(entry.metadata.get("event_id") == event_id for entry in page.entries)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the items, or the last ``limit`` of them, in the order in which they were added."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is None:
            return await self._all_items()
        if limit <= 0:
            return []
        found: list[TResponseInputItem] = []
        before: dict[str, Any] = {}
        while True:
            size = min(limit - len(found), PAGE)
            page = await self._state.list(namespace=self._namespace, order="desc", limit=size, **before)
            for entry in page.entries:
                found[:0] = await self._items_of(entry)
            if len(found) >= limit or page.next is None:
                return found[-limit:]
            before = {"before": page.next}

    async def _all_items(self) -> list[TResponseInputItem]:
        found: list[TResponseInputItem] = []
        after: dict[str, Any] = {}
        while True:
            page = await self._state.list(namespace=self._namespace, limit=PAGE, **after)
            for entry in page.entries:
                found += await self._items_of(entry)
            if page.next is None:
                return found
            after = {"after": page.next}

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items after those that are there, all or none, even if others add at the same time."""
        if not items:
            return
        value = json.dumps(items, separators=(",", ":"))
        while True:
            last = await self._state.list(namespace=self._namespace, order="desc", limit=1)
            number = int(last.entries[0].key) + 1 if last.entries else 1
            try:
                await self._put(f"{number:012d}", value, if_version=0)
                return
            except Conflict:
                continue

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the last item, and returns it."""
        before: dict[str, Any] = {}
        while True:
            page = await self._state.list(namespace=self._namespace, order="desc", limit=10, **before)
            for entry in page.entries:
                items = await self._items_of(entry)
                if not items:
                    continue
                try:
                    # Also when none is left: a number is never used twice.
                    await self._put(entry.key, json.dumps(items[:-1], separators=(",", ":")), if_version=entry.version)
                    return items[-1]
                except Conflict:
                    return await self.pop_item()
            if page.next is None:
                return None
            before = {"before": page.next}

    async def clear_session(self) -> None:
        """Removes all items."""
        await self._state.clear(namespace=self._namespace)

    async def _put(self, key: str, value: str, *, if_version: int) -> None:
        await self._state.put(
            namespace=self._namespace, key=key, value=value, metadata=self._metadata, if_version=if_version
        )

    async def _items_of(self, entry: models.StateEntry) -> list[TResponseInputItem]:
        if (kind := entry.metadata.get("format")) != FORMAT:
            raise ValueError(f"{self._namespace}/{entry.key} has the format {kind!r}: expected {FORMAT!r}.")
        if entry.value is None:
            # Long values are not listed.
            try:
                entry = await self._state.get(namespace=self._namespace, key=entry.key)
            except NotFound:
                return []
        items: list[TResponseInputItem] = json.loads(entry.value or "[]")
        return items
