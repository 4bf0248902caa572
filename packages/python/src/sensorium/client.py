"""The clients: one function per operation of the service, and shortcuts for an agent's most frequent work."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

import httpx

from . import _flow as flow
from . import models
from ._access import find_access
from ._api import Api
from ._group import Async, Mode, Sync, at_once
from ._operation import Operation
from .errors import ApiError
from .listen import Data, DataTypes, Delivery, listen

Handler = Callable[[Delivery[Data]], object]
AsyncHandler = Callable[[Delivery[Data]], Awaitable[object]]

STOP_CHECKED_EVERY = 0.1
"""Seconds."""


def _connection(
    url: str | None,
    api_key: str | None,
    token: str | Callable[[], str] | None,
    anonymous: bool,
    retries: int,
    timeout: float,
    on_wait: Callable[[flow.Wait], object] | None,
) -> flow.Connection:
    if api_key is not None and token is not None:
        raise TypeError("Give api_key or token, not both.")
    origin, key = find_access(url, api_key, needs_key=not (token or anonymous))
    return flow.Connection(
        origin=origin,
        api_key=None if token or anonymous else key,
        token=token,
        retries=retries,
        timeout=timeout,
        on_wait=on_wait,
    )


class _Lock:
    """A lock of threads, for coroutines that block."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    async def __aenter__(self) -> None:
        self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()


class _Blocking:
    """The transport of the synchronous client: its coroutines block the thread and never suspend."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.lock = _Lock()

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None, timeout: float | None
    ) -> httpx.Response:
        return self.http.request(
            method, url, headers=dict(headers), content=content, timeout=timeout, follow_redirects=False
        )

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class _Loop:
    """The transport of one event loop."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.lock = asyncio.Lock()

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None, timeout: float | None
    ) -> httpx.Response:
        return await self.http.request(
            method, url, headers=dict(headers), content=content, timeout=timeout, follow_redirects=False
        )

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _event(type_: str, data: Any, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The id is made here, so that retries publish the event once."""
    event: dict[str, Any] = {"specversion": "1.0", "id": str(uuid.uuid4()), "source": "urn:sensorium:python"}
    event.update({"type": type_, **attributes})
    return event if data is None else {**event, "data": data}


def _events(events: Iterable[Mapping[str, Any]]) -> Any:
    """A batch: the type of operations is that of one event."""
    return [{**_event(each["type"], None, {}), **each} for each in events]


def _results(answer: Any) -> list[models.PublishResult | models.RejectedEvent]:
    return [
        (models.RejectedEvent if each["status"] == "rejected" else models.PublishResult).model_validate(each)
        for each in answer
    ]


TITLE_LENGTH = 120
IDENTITY = {"agent_id", "event_type", "filter_expression"}
"""What makes an interest the same as another one."""


def _title(text: str) -> str:
    """The first line, cut at a word if it is long."""
    line = text.strip().split("\n", 1)[0]
    title = re.sub(r"^#+\s*", "", line).strip() or "Untitled"
    if len(title) <= TITLE_LENGTH:
        return title
    cut = title[: TITLE_LENGTH - 1]
    return f"{(cut[: cut.rfind(' ') + 1] or cut).rstrip()}…"


async def _set_with(stopping: asyncio.Event, stop: threading.Event) -> None:
    while not stop.is_set():
        await asyncio.sleep(STOP_CHECKED_EVERY)
    stopping.set()


class _Client(Api[Mode]):
    """What both clients are: they differ in the transport."""

    _blocks: bool
    _connection: flow.Connection

    def _transport(self) -> flow.Transport:
        raise NotImplementedError

    async def _request(
        self,
        operation: Operation,
        params: Mapping[str, Any],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        steps = flow.request(self._connection, self._transport(), operation, params, idempotency_key, timeout)
        return flow.answer_of(operation, await steps)

    async def _remember(self, content: str, fields: Mapping[str, Any]) -> models.Memory:
        """Without a scope: that of the superseded memory, or the caller's own. Keys are agents'."""
        params = {"title": _title(content), "type": "semantic", **fields, "content": content}
        memories = type(self.memories)
        if "scope" in fields:
            pass
        elif fields.get("team_id"):
            params["scope"] = "team"
        elif fields.get("supersedes_id"):
            old = await memories.get.call(self, {"id": fields["supersedes_id"]}, None, None)
            params |= {"scope": old.scope, "team_id": old.team_id}
        else:
            is_agent = self._connection.api_key or (await type(self.auth).me.call(self, {}, None, None)).kind == "agent"
            params["scope"] = "agent" if is_agent else "institutional"
        made: models.Memory = await memories.create.call(self, *memories.create.read(**params))
        return made

    async def _ensure_interest(self, fields: Mapping[str, Any]) -> models.Interest:
        interests = type(self.interests)
        found: models.Interest
        if "agent_id" not in fields:
            agent = (await type(self.auth).me.call(self, {}, None, None)).agent
            if agent is None:
                raise TypeError("agent_id is missing: the client is no agent's.")
            fields = {**fields, "agent_id": agent.id}
        try:
            found = await interests.create.call(self, *interests.create.read(**fields))
            return found
        except ApiError as error:
            existing = error.details.get("existing_resource_id")
            if error.details.get("rule") != "interest_conflict" or not existing:
                raise
        path = {"agent_id": fields["agent_id"], "id": existing}
        found = await interests.get.call(self, path, None, None)
        known = found.model_dump(mode="json")
        settings = {name: value for name, value in fields.items() if name not in IDENTITY and known[name] != value}
        if settings:
            found = await interests.update.call(self, *interests.update.read(**path, **settings))
        return found


class Sensorium(_Client[Sync]):
    """
    A client for synchronous programs; may be used by several threads.

    ``url`` and ``api_key`` default to the environment's ``SENSORIUM_URL`` and ``SENSORIUM_API_KEY``, or to what
    ``sensorium connect`` saved; ValueError is raised if there is no key. The key is exchanged for tokens, which are
    renewed before they end. ``token`` is for access tokens that the program obtains itself, ``anonymous`` for
    operations that need neither. Times in seconds; requests that are safe to repeat are retried ``retries`` times.
    ``on_wait`` is called before a wait that the service asks for, because it limits the caller or is busy; default: a
    warning of the logger ``sensorium``, the first time. ``http_client`` replaces the client of httpx, for example for a
    proxy, and is then closed by its owner.
    """

    _blocks = True

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        token: str | Callable[[], str] | None = None,
        anonymous: bool = False,
        retries: int = 3,
        timeout: float = 60.0,
        on_wait: Callable[[flow.Wait], object] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        super().__init__(self)
        self._connection = _connection(url, api_key, token, anonymous, retries, timeout, on_wait)
        self._blocking = _Blocking(http_client or httpx.Client(timeout=timeout))
        self._owns_http = http_client is None

    def _transport(self) -> flow.Transport:
        return self._blocking

    def request(
        self,
        operation: Operation,
        params: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Calls an operation; returns JSON, a text or bytes. Raises ApiError, ConnectionFailed."""
        return at_once(self._request(operation, params, idempotency_key, timeout))

    def publish(self, type: str, data: Any = None, **attributes: Any) -> models.PublishResult:
        """Publishes a CloudEvent; ``attributes`` are ``source``, ``subject``, ``id``, ``time`` and extensions."""
        answer = self.events.publish(event=_event(type, data, attributes))
        return models.PublishResult.model_validate(answer)

    def publish_all(self, events: Iterable[Mapping[str, Any]]) -> list[models.PublishResult | models.RejectedEvent]:
        """
        Publishes up to 100 events in one request; each has a ``type``, and ``data`` and attributes as for ``publish``.
        Returns the result of each: a refused one does not affect the others.
        """
        return _results(self.events.publish(event=_events(events)))

    def remember(self, content: str, **fields: Any) -> models.Memory:
        """
        Creates a memory. Without these ``fields`` its title is the first line, its type ``semantic``, and its scope the
        caller's own: ``agent`` for an agent, ``institutional`` for a person, or that of the superseded memory.
        """
        return at_once(self._remember(content, fields))

    def ensure_interest(self, event_type: str, **fields: Any) -> models.Interest:
        """
        Subscribes the client's agent, as often as it is called: creates the interest, or gives the one with this event
        type and filter the other ``fields`` of ``interests.create`` that are named.
        """
        return at_once(self._ensure_interest({"event_type": event_type, **fields}))

    def listen(
        self,
        handler: Handler[Data],
        *,
        data: DataTypes[Data] | None = None,
        concurrency: int = 1,
        count: int | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        """
        Receives the agent's deliveries until ``stop`` is set, the process gets SIGINT or SIGTERM, or ``count`` were
        handled: calls ``handler`` in threads, ``concurrency`` at a time. See AsyncSensorium.listen.
        """
        if inspect.iscoroutinefunction(handler):
            raise TypeError("Sensorium.listen calls functions in threads: use AsyncSensorium for one with async def.")
        with ThreadPoolExecutor(concurrency, "sensorium-listen") as threads:

            async def in_thread(delivery: Delivery[Data]) -> None:
                await asyncio.get_running_loop().run_in_executor(threads, handler, delivery)

            async def run() -> None:
                stopping = asyncio.Event()
                watching = asyncio.create_task(_set_with(stopping, stop)) if stop else None
                async with self._asynchronous() as client:
                    await client.listen(in_thread, data=data, concurrency=concurrency, count=count, stop=stopping)
                if watching:
                    watching.cancel()

            asyncio.run(run())

    def _asynchronous(self) -> AsyncSensorium:
        of = self._connection
        return AsyncSensorium(
            of.origin,
            of.api_key,
            token=of.token,
            anonymous=not (of.api_key or of.token),
            retries=of.retries,
            timeout=of.timeout,
            on_wait=of.on_wait,
        )

    def close(self) -> None:
        if self._owns_http:
            self._blocking.http.close()

    def __enter__(self) -> Sensorium:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncSensorium(_Client[Async]):
    """
    A client for asyncio; like Sensorium, with ``await``. It may be used in several event loops, such as those of
    ``asyncio.run`` one after another: each has separate connections, which ``aclose`` closes in the one it runs in.
    With ``http_client`` it works in one event loop only, until ``aclose``, and raises RuntimeError in another.
    """

    _blocks = False

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        token: str | Callable[[], str] | None = None,
        anonymous: bool = False,
        retries: int = 3,
        timeout: float = 60.0,
        on_wait: Callable[[flow.Wait], object] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(self)
        self._connection = _connection(url, api_key, token, anonymous, retries, timeout, on_wait)
        self._http_client = http_client
        self._loops: dict[asyncio.AbstractEventLoop, _Loop] = {}

    async def request(
        self,
        operation: Operation,
        params: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Calls an operation; returns JSON, a text or bytes. Raises ApiError, ConnectionFailed."""
        return await self._request(operation, params, idempotency_key, timeout)

    async def publish(self, type: str, data: Any = None, **attributes: Any) -> models.PublishResult:
        """Publishes a CloudEvent; ``attributes`` are ``source``, ``subject``, ``id``, ``time`` and extensions."""
        answer = await self.events.publish(event=_event(type, data, attributes))
        return models.PublishResult.model_validate(answer)

    async def publish_all(
        self, events: Iterable[Mapping[str, Any]]
    ) -> list[models.PublishResult | models.RejectedEvent]:
        """Publishes up to 100 events in one request; see Sensorium.publish_all."""
        return _results(await self.events.publish(event=_events(events)))

    async def remember(self, content: str, **fields: Any) -> models.Memory:
        """Creates a memory; see Sensorium.remember."""
        return await self._remember(content, fields)

    async def ensure_interest(self, event_type: str, **fields: Any) -> models.Interest:
        """Subscribes the client's agent; see Sensorium.ensure_interest."""
        return await self._ensure_interest({"event_type": event_type, **fields})

    async def listen(
        self,
        handler: AsyncHandler[Data],
        *,
        data: DataTypes[Data] | None = None,
        concurrency: int = 1,
        count: int | None = None,
        stop: asyncio.Event | None = None,
    ) -> None:
        """
        Receives the agent's deliveries by long polls and passes each to ``handler``, ``concurrency`` at a time. What
        the handler completes is acknowledged; an exception returns the delivery to be retried later, with its text as
        the reason, and ``RetryLater`` says when; ``GiveUp`` makes it a dead letter. Leases are extended while a handler
        runs. Failures of handlers and outages are logged as warnings of the logger ``sensorium``; outages end by
        themselves.

        ``data`` is the type of the events' data, or a mapping from their types to it: a pydantic model or another type
        that pydantic checks and converts to, and what does not fit is a dead letter; or a TypedDict, which is for type
        checkers alone.

        Ends when ``stop`` is set, the process gets SIGINT or SIGTERM (in the main thread), or ``count`` deliveries were
        handled: it then waits for the handlers at work. Raises ApiError if the agent itself is refused.
        """
        await listen(self, handler, data=data, concurrency=concurrency, count=count, stop=stop)

    async def aclose(self) -> None:
        own = self._loops.pop(asyncio.get_running_loop(), None)
        if own and own.http is not self._http_client:
            await own.http.aclose()

    async def __aenter__(self) -> AsyncSensorium:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _transport(self) -> _Loop:
        loop = asyncio.get_running_loop()
        own = self._loops.get(loop)
        if own is None:
            if self._http_client and self._loops:
                raise RuntimeError(
                    "http_client is used in another event loop already, and its connections belong to that one: "
                    "make an AsyncSensorium for each loop, or leave http_client out."
                )
            for ended in [each for each in list(self._loops) if each.is_closed()]:
                self._loops.pop(ended, None)
            http = self._http_client or httpx.AsyncClient(timeout=self._connection.timeout)
            own = self._loops[loop] = _Loop(http)
        return own
