"""Runs the steps of an operation with either client: generators that yield calls, and are sent the answers."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from sensorium import ApiError, AsyncSensorium, Sensorium

Call = tuple[str, dict[str, Any]]
"""The name of an operation, and its arguments."""
T = TypeVar("T")
Steps = Generator[Call, Any, T]
"""ApiErrors are raised where the call was yielded."""
Client = TypeVar("Client", Sensorium, AsyncSensorium)


class Clients:
    """
    A synchronous and an asynchronous client, for one group of operations. What is missing is made like the other, or
    from the environment.
    """

    def __init__(self, group: str, client: Sensorium | None, async_client: AsyncSensorium | None) -> None:
        self._group = group
        self._client = client
        self._async_client = async_client

    def run(self, steps: Steps[T]) -> T:
        self._client = self._client or _like(self._async_client, Sensorium)
        operations = getattr(self._client, self._group)
        try:
            name, given = next(steps)
            while True:
                try:
                    answer = getattr(operations, name)(**given)
                except ApiError as error:
                    name, given = steps.throw(error)
                else:
                    name, given = steps.send(answer)
        except StopIteration as done:
            result: T = done.value
            return result

    async def arun(self, steps: Steps[T]) -> T:
        self._async_client = self._async_client or _like(self._client, AsyncSensorium)
        operations = getattr(self._async_client, self._group)
        try:
            name, given = next(steps)
            while True:
                try:
                    answer = await getattr(operations, name)(**given)
                except ApiError as error:
                    name, given = steps.throw(error)
                else:
                    name, given = steps.send(answer)
        except StopIteration as done:
            result: T = done.value
            return result


def _like(other: Sensorium | AsyncSensorium | None, kind: type[Client]) -> Client:
    if other is None:
        return kind()
    of = other._connection
    return kind(of.origin, of.api_key, token=of.token, retries=of.retries, timeout=of.timeout)
