"""Receiving deliveries: long polls, leases and acknowledgements."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import logging
import re
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, is_typeddict

from pydantic import TypeAdapter, ValidationError

from . import models
from ._flow import seconds_until
from ._group import UNSET
from ._redact import redact
from .errors import ApiError, SensoriumError

if TYPE_CHECKING:
    # Its default leaves `Delivery` without a parameter valid for strict checkers.
    from typing_extensions import TypeVar as TypeVarWithDefault

    from .client import AsyncSensorium

    Data = TypeVarWithDefault("Data", default=Any)
else:
    Data = TypeVar("Data")

DataTypes = type[Data] | Mapping[str, type[Data]]
"""The type of the data of events: of all, or by the events' types."""

WAIT = 20
"""Seconds that a poll waits for a first delivery."""
MOST_AT_ONCE = 100
LONGEST_REASON = 500
MOST_READ = 64_000
"""Of what secrets are looked for in, before it is cut."""
SHORTEST_LEASE = 1.0
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 30.0

_log = logging.getLogger("sensorium")


class RetryLater(Exception):
    """Raised by a handler: the delivery is retried after ``delay`` seconds, by default after the usual back-off."""

    def __init__(self, reason: str = "", delay: float | None = None) -> None:
        super().__init__(reason)
        self.delay = delay


class GiveUp(Exception):
    """Raised by a handler: no retry can handle the event. Its delivery is dead-lettered at once, with the reason."""


@dataclass(frozen=True)
class Delivery(Generic[Data]):
    """An event on its way to this agent, whose data is of type ``Data``."""

    id: str
    event: dict[str, Any]
    """The CloudEvent, with ``enrichment`` if the interest asks for it."""
    attempt_count: int
    """Delivery attempts so far, from 1."""
    read: Callable[[Any], Data] | None = field(default=None, repr=False, compare=False)
    """Checks and converts the data; by default it stays as it came."""
    event_id: str = ""
    """The service's id of the event, as ``events.get`` takes it."""

    @property
    def type(self) -> str:
        return str(self.event["type"])

    @property
    def subject(self) -> str | None:
        return self.event.get("subject")

    @functools.cached_property
    def data(self) -> Data:
        data: Any = self.event.get("data")
        return self.read(data) if self.read else data


def _readers(types: DataTypes[Any] | None) -> Callable[[str], Callable[[Any], Any] | None]:
    """Returns what finds the reader of an event type's data. A TypedDict is a promise: its data is not checked."""

    def reader(kind: type[Any]) -> Callable[[Any], Any] | None:
        return None if is_typeddict(kind) else TypeAdapter(kind).validate_python

    if isinstance(types, Mapping):
        return {name: reader(kind) for name, kind in types.items()}.get
    every = None if types is None else reader(types)
    return lambda _: every


def _require_data(delivery: Delivery[Any]) -> None:
    try:
        _ = delivery.data
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'it'}: {each['msg']}" for each in error.errors())
        raise GiveUp(f"the data is no {error.title}: {wrong}") from error


async def listen(
    client: AsyncSensorium,
    handler: Callable[[Delivery[Data]], Awaitable[object] | object],
    *,
    data: DataTypes[Data] | None,
    concurrency: int,
    count: int | None,
    stop: asyncio.Event | None,
) -> None:
    listener = _Listener(client, handler, stop or asyncio.Event(), _readers(data))
    with _stopped_by_signals(listener.stopping):
        try:
            await listener.receive(concurrency, count)
            await listener.finish()
        except SensoriumError:
            await listener.finish()
            raise
        finally:
            await listener.cancel()


class _Listener:
    def __init__(
        self,
        client: AsyncSensorium,
        handler: Callable[[Delivery[Any]], Awaitable[object] | object],
        stopping: asyncio.Event,
        reader_of: Callable[[str], Callable[[Any], Any] | None],
    ) -> None:
        self.stopping = stopping
        self._client = client
        self._handler = handler
        self._reader_of = reader_of
        self._running: set[asyncio.Future[Any]] = set()
        self._is_full = False
        self._freed = asyncio.Event()
        self._handled: list[tuple[str, asyncio.Future[bool]]] = []
        """Deliveries that the next request acknowledges, and whether it did."""

    async def receive(self, concurrency: int, count: int | None) -> None:
        left, failures = count, 0
        while not self.stopping.is_set() and left != 0:
            busy = len(self._running) - len(self._handled)
            free = min(concurrency - busy, MOST_AT_ONCE, *([] if left is None else [left]))
            if free <= 0:
                await self._wait_for_capacity()
                continue
            try:
                answer = await self._next(free)
                failures = 0
            except SensoriumError as error:
                if _is_final(error):
                    raise
                failures += 1
                _log.warning("Receiving failed, and is tried again: %s", _shown(error))
                await _unless(self.stopping, asyncio.sleep(_pause(failures)))
                continue
            for each in answer.deliveries if answer else []:
                left = None if left is None else left - 1
                event = dict(each.payload)
                reader = self._reader_of(str(event["type"]))
                delivery = Delivery(each.id, event, each.attempt_count, reader, each.event_id)
                task = asyncio.create_task(self._run(delivery, each))
                self._running.add(task)
                task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Future[Any]) -> None:
        self._running.discard(task)
        self._freed.set()

    async def _wait_for_capacity(self) -> None:
        """Waits until a handler has ended: the next request acknowledges its delivery."""
        self._freed.clear()
        self._is_full = True
        try:
            await _unless(self.stopping, self._freed.wait())
        finally:
            self._is_full = False

    async def _next(self, limit: int) -> models.DeliveriesNextResult | None:
        ids = [each for each, _ in self._handled[:MOST_AT_ONCE]]
        ack = {"delivery_ids": ids} if ids else UNSET
        asked = self._take_handled(len(ids))
        try:
            request = self._client.deliveries.next(ack=ack, limit=limit, wait=WAIT)
            answer: models.DeliveriesNextResult | None = await _unless(self.stopping, request)
            asked(answer is not None)
            return answer
        finally:
            asked(False)

    def _take_handled(self, count: int) -> Callable[[bool], None]:
        """Takes the first; the returned function says whether they were acknowledged. The others do so themselves."""
        taken, others = self._handled[:count], self._handled[count:]
        self._handled = []

        def say(these: list[tuple[str, asyncio.Future[bool]]], acknowledged: bool) -> None:
            for _, settled in these:
                if not settled.done():
                    settled.set_result(acknowledged)

        say(others, False)
        return lambda acknowledged: say(taken, acknowledged)

    async def _acknowledge(self, delivery_id: str) -> None:
        if self._is_full and not self.stopping.is_set():
            settled = asyncio.get_running_loop().create_future()
            self._handled.append((delivery_id, settled))
            self._freed.set()
            if await settled:
                return
        await self._settle(lambda: self._client.deliveries.ack(delivery_ids=[delivery_id]))

    async def finish(self) -> None:
        self._take_handled(0)
        await asyncio.gather(*self._running, return_exceptions=True)

    async def cancel(self) -> None:
        """Ends handlers that are still at work: their deliveries are retried when the leases end."""
        for each in self._running:
            each.cancel()
        await self.finish()

    async def _run(self, delivery: Delivery[Any], leased: models.DeliveryEvent) -> None:
        length = max(SHORTEST_LEASE, seconds_until(self._client._connection, leased.lease_expires_at))
        extending = asyncio.create_task(self._extend(delivery.id, leased.lease, length))
        try:
            _require_data(delivery)
            result = self._handler(delivery)
            if inspect.isawaitable(result):
                await result
        except Exception as error:
            delay = error.delay if isinstance(error, RetryLater) else None
            dead_letter = True if isinstance(error, GiveUp) else UNSET
            reason = redact((str(error) or type(error).__name__)[:MOST_READ])[:LONGEST_REASON]
            _log.warning(
                "The handler failed on %s (attempt %d): %s",
                _shown(delivery.type),
                delivery.attempt_count,
                _shown(reason),
                exc_info=None if isinstance(error, (RetryLater, GiveUp)) else error,
            )
            await self._settle(
                lambda: self._client.deliveries.nack(
                    delivery_ids=[delivery.id],
                    lease=leased.lease,
                    reason=reason,
                    delay_seconds=UNSET if delay is None else delay,
                    dead_letter=dead_letter,
                )
            )
        else:
            await self._acknowledge(delivery.id)
        finally:
            extending.cancel()
            await asyncio.gather(extending, return_exceptions=True)

    async def _settle(self, request: Callable[[], Awaitable[object]]) -> None:
        """Repeats it through any outage: the event would otherwise be handled again. Gives up when stopping."""
        failures = 0
        while True:
            try:
                await request()
                return
            except SensoriumError as error:
                failures += 1
                is_over = _is_final(error) or self.stopping.is_set()
                _log.warning("A delivery was not settled%s: %s", "" if is_over else " yet", _shown(error))
                if is_over:
                    return
            await _unless(self.stopping, asyncio.sleep(_pause(failures)))

    async def _extend(self, delivery_id: str, lease: str, length: float) -> None:
        while True:
            await asyncio.sleep(length / 2)
            try:
                await self._client.deliveries.extend(
                    delivery_ids=[delivery_id], lease=lease, seconds=max(1, round(length))
                )
            except SensoriumError as error:
                _log.warning("A lease was not extended: %s", _shown(error))


_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def _shown(text: object) -> str:
    """Escapes what could control the terminal that shows the log: errors and types quote others."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", str(text))


def _is_final(error: SensoriumError) -> bool:
    """Whether trying again is useless."""
    return isinstance(error, ApiError) and 300 <= error.status < 500 and error.status != 429


def _pause(failures: int) -> float:
    return min(FIRST_PAUSE * 2.0**failures, LONGEST_PAUSE)


async def _unless(stopping: asyncio.Event, work: Awaitable[Any]) -> Any:
    """Returns the result of the work; None, and cancels it, once stopping."""
    task = asyncio.ensure_future(work)
    await _first_of({task}, stopping)
    if task.done():
        return task.result()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return None


async def _first_of(running: set[asyncio.Future[Any]], stopping: asyncio.Event) -> None:
    """Waits until one is done or it is stopping; cancels all if it is itself cancelled."""
    waiting = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait({*running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        for each in running:
            each.cancel()
        raise
    finally:
        waiting.cancel()


@contextlib.contextmanager
def _stopped_by_signals(stopping: asyncio.Event) -> Iterator[None]:
    """The first signal stops it, a second one ends the program. Only the main thread gets signals, not everywhere."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    taken: list[int] = []

    def give_back() -> None:
        while taken:
            loop.remove_signal_handler(taken.pop())

    def stop() -> None:
        stopping.set()
        give_back()

    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stop)
            taken.append(number)
    try:
        yield
    finally:
        give_back()
