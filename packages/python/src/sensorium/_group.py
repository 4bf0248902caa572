"""What the generated groups of operations stand on."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import cache
from typing import Any, Protocol

from pydantic import TypeAdapter

from ._operation import Operation


class Unset:
    """The default of optional parameters: None is a value, which clears a field."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


def given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if not isinstance(value, Unset)}


class Caller(Protocol):
    def request(
        self,
        operation: Operation,
        params: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any: ...


class AsyncCaller(Protocol):
    async def request(
        self,
        operation: Operation,
        params: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any: ...


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def parsed(kind: Any, answer: Any) -> Any:
    return answer if kind in (str, bytes, None, Any) else _adapter(kind).validate_python(answer)


class Group:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def _call(
        self, operation: Operation, params: dict[str, Any], kind: Any, key: str | None, timeout: float | None
    ) -> Any:
        answer = self._caller.request(operation, params, idempotency_key=key, timeout=timeout)
        return parsed(kind, answer)

    def _all(self, operation: Operation, params: dict[str, Any], kind: Any, timeout: float | None) -> Iterator[Any]:
        while True:
            answer = self._call(operation, params, kind, None, timeout)
            items = items_of(operation, answer)
            yield from items
            following = next_page(operation, params, answer, len(items))
            if following is None:
                return
            params = following


class AsyncGroup:
    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def _call(
        self, operation: Operation, params: dict[str, Any], kind: Any, key: str | None, timeout: float | None
    ) -> Any:
        answer = await self._caller.request(operation, params, idempotency_key=key, timeout=timeout)
        return parsed(kind, answer)

    async def _all(
        self, operation: Operation, params: dict[str, Any], kind: Any, timeout: float | None
    ) -> AsyncIterator[Any]:
        while True:
            answer = await self._call(operation, params, kind, None, timeout)
            items = items_of(operation, answer)
            for item in items:
                yield item
            following = next_page(operation, params, answer, len(items))
            if following is None:
                return
            params = following


def items_of(operation: Operation, answer: Any) -> builtins.list[Any]:
    pages = operation.pages
    found = getattr(answer, pages.items) if pages and pages.items else answer
    return builtins.list(found)


def next_page(operation: Operation, params: Mapping[str, Any], answer: Any, count: int) -> dict[str, Any] | None:
    """Returns the parameters of the page after an answer; None if it was the last one."""
    if operation.pages and operation.pages.by == "cursor":
        cursor = getattr(answer, "next_cursor", None)
        return None if cursor is None else {**params, "cursor": cursor}
    passed = int(params.get("offset") or 0) + count
    total = getattr(answer, "total", None)
    if count == 0 or (isinstance(total, int) and passed >= total):
        return None
    return {**params, "offset": passed}
