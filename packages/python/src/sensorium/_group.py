"""What the generated groups of operations are made of. Each operation is declared once, for both clients."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, get_type_hints, overload

from pydantic import TypeAdapter

from ._operation import Operation


class Unset:
    """The default of optional parameters: None is a value, which clears a field."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


class Sync:
    """Marks the groups of the client whose methods return answers."""


class Async:
    """Marks the groups of the client whose methods are awaited."""


class Caller(Protocol):
    _blocks: bool
    """Its coroutines never suspend."""

    async def _request(
        self, operation: Operation, params: Mapping[str, Any], idempotency_key: str | None, timeout: float | None
    ) -> Any: ...


P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Mode = TypeVar("Mode")
Params = dict[str, Any]


class Group(Generic[Mode]):
    def __init__(self, caller: Caller) -> None:
        self._caller = caller


class Method(Generic[P, R]):
    """An operation, declared as a function without a body. A client's method of it returns the answer, or awaits it."""

    def __init__(self, function: Callable[Concatenate[Any, P], R], operation: Operation) -> None:
        self.declared = function
        self.operation = operation
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, group: None, owner: object) -> Method[P, R]: ...
    @overload
    def __get__(self, group: Group[Sync], owner: object) -> Callable[P, R]: ...
    @overload
    def __get__(self, group: Group[Async], owner: object) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(self, group: Group[Any] | None, owner: object) -> Any:
        if group is None:
            return self
        caller = group._caller

        async def awaited(*args: Any, **named: Any) -> Any:
            return await self.call(caller, *self.read(*args, **named))

        def called(*args: Any, **named: Any) -> Any:
            return at_once(awaited(*args, **named))

        return functools.wraps(self.declared.__get__(group))(called if caller._blocks else awaited)

    def read(self, *args: Any, **named: Any) -> tuple[Params, str | None, float | None]:
        """Returns the parameters, the idempotency key and the time limit of a call."""
        if args:
            names = list(inspect.signature(self.declared).parameters)[1:]
            raise TypeError(f"{self.declared.__name__}() takes its parameters by name: {', '.join(names)}")
        # For Python's own errors about arguments.
        self.declared(self, *args, **named)
        key, timeout = named.pop("idempotency_key", None), named.pop("timeout", None)
        # The names of fields that Python keeps for itself end in `_` here: `from_`.
        given = {name.removesuffix("_"): value for name, value in named.items() if not isinstance(value, Unset)}
        return given, key, timeout

    async def call(self, caller: Caller, params: Params, key: str | None, timeout: float | None) -> Any:
        answer = await caller._request(self.operation, params, key, timeout)
        return answer if self._parser is None else self._parser.validate_python(answer)

    @functools.cached_property
    def _parser(self) -> TypeAdapter[Any] | None:
        kind = get_type_hints(self.declared)["return"]
        return None if kind in (str, bytes, type(None), Any) else TypeAdapter(kind)


class AllPages(Generic[P, T]):
    """Goes on through all pages of a list and gives the items one by one."""

    def __init__(self, method: Method[P, Any], item: type[T]) -> None:
        self._method = method
        self._item = item

    @overload
    def __get__(self, group: None, owner: object) -> AllPages[P, T]: ...
    @overload
    def __get__(self, group: Group[Sync], owner: object) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, group: Group[Async], owner: object) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, group: Group[Any] | None, owner: object) -> Any:
        if group is None:
            return self
        caller, method = group._caller, self._method
        items_of, following = pages_of(method.operation)

        def each(params: Params | None, key: str | None, timeout: float | None) -> Iterator[Any]:
            while params is not None:
                answer = at_once(method.call(caller, params, key, timeout))
                yield from items_of(answer)
                params = following(params, answer)

        async def each_awaited(params: Params | None, key: str | None, timeout: float | None) -> AsyncIterator[Any]:
            while params is not None:
                answer = await method.call(caller, params, key, timeout)
                for item in items_of(answer):
                    yield item
                params = following(params, answer)

        def called(*args: Any, **named: Any) -> Any:
            return (each if caller._blocks else each_awaited)(*method.read(*args, **named))

        iterate = functools.wraps(method.declared.__get__(group))(called)
        answers = f"{'Iterator' if caller._blocks else 'AsyncIterator'}[models.{self._item.__name__}]"
        iterate.__signature__ = inspect.signature(iterate).replace(return_annotation=answers)  # type: ignore[attr-defined]
        iterate.__doc__ = f"Like `{iterate.__name__}`, but goes on through all pages and gives the items one by one."
        iterate.__name__ += "_all"
        return iterate


def operation(method: str, path: str, **how: Any) -> Callable[[Callable[Concatenate[Any, P], R]], Method[P, R]]:
    return lambda function: Method(function, Operation(method, path, **how))


def at_once(steps: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine that never suspends, because what it waits for blocks the thread."""
    try:
        steps.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    steps.close()
    raise RuntimeError("A step of the synchronous client waits for an event loop.")


def pages_of(operation: Operation) -> tuple[Callable[[Any], list[Any]], Callable[[Params, Any], Params | None]]:
    """Returns what gives the items of an answer, and the parameters of the page after it; None after the last one."""
    assert operation.pages
    field, by = operation.pages

    def items_of(answer: Any) -> list[Any]:
        return list(getattr(answer, field) if field else answer)

    def following(params: Params, answer: Any) -> Params | None:
        if by == "cursor":
            cursor = getattr(answer, "next", None) or getattr(answer, "next_cursor", None)
            return None if cursor is None else {**params, "cursor": cursor}
        count = len(items_of(answer))
        passed = int(params.get("offset") or 0) + count
        total = getattr(answer, "total", None)
        if count == 0 or (isinstance(total, int) and passed >= total):
            return None
        return {**params, "offset": passed}

    return items_of, following
