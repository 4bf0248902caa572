"""Receiving deliveries: long polls, leases and acknowledgements."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ._group import UNSET
from .errors import ApiError, SensoriumError

if TYPE_CHECKING:
    from .client import AsyncSensorium

WAIT = 20
"""Seconds that a poll waits for a first delivery."""
MOST_AT_ONCE = 100
LONGEST_REASON = 500
SHORTEST_LEASE = 1.0
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 30.0


class RetryLater(Exception):
    """Raised by a handler: the delivery is retried after ``delay`` seconds, by default after the usual back-off."""

    def __init__(self, reason: str = "", delay: float | None = None) -> None:
        super().__init__(reason)
        self.delay = delay


@dataclass(frozen=True)
class Delivery:
    """An event on its way to this agent."""

    id: str
    event: dict[str, Any]
    """The CloudEvent, with ``enrichment`` if the interest asks for it."""
    attempt: int
    """1 for the first attempt."""

    @property
    def type(self) -> str:
        return str(self.event["type"])

    @property
    def data(self) -> Any:
        return self.event.get("data")


async def listen(
    client: AsyncSensorium,
    handler: Callable[[Delivery], Awaitable[object]],
    *,
    concurrency: int,
    count: int | None,
    stop: asyncio.Event | None,
) -> None:
    stopping = stop or asyncio.Event()
    running: set[asyncio.Task[None]] = set()
    left, failures = count, 0
    with _stopped_by_signals(stopping):
        while not stopping.is_set() and left != 0:
            free = min(concurrency - len(running), MOST_AT_ONCE, *([] if left is None else [left]))
            if free <= 0:
                await _first_of(running, stopping)
                continue
            try:
                deliveries = await _unless(stopping, client.deliveries.poll(limit=free, wait=WAIT))
                failures = 0
            except SensoriumError as error:
                if isinstance(error, ApiError) and 400 <= error.status < 500 and error.status != 429:
                    stopping.set()
                    await asyncio.gather(*running)
                    raise
                failures += 1
                await _unless(stopping, asyncio.sleep(min(FIRST_PAUSE * 2**failures, LONGEST_PAUSE)))
                continue
            for each in deliveries.deliveries if deliveries else []:
                left = None if left is None else left - 1
                delivery = Delivery(each.id, dict(each.payload), each.attempt_count)
                task = asyncio.create_task(_handle(client, handler, delivery, each.lease_expires_at))
                running.add(task)
                task.add_done_callback(running.discard)
        await asyncio.gather(*running)


async def _handle(
    client: AsyncSensorium,
    handler: Callable[[Delivery], Awaitable[object]],
    delivery: Delivery,
    lease_expires_at: str,
) -> None:
    until = datetime.fromisoformat(lease_expires_at.replace("Z", "+00:00"))
    lease = max(SHORTEST_LEASE, (until - datetime.now(timezone.utc)).total_seconds())
    extending = asyncio.create_task(_extend(client, delivery.id, lease))
    try:
        try:
            await handler(delivery)
        finally:
            extending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await extending
        await client.deliveries.ack(delivery_ids=[delivery.id])
    except SensoriumError:
        # Not acknowledged: it is redelivered when its lease ends.
        return
    except Exception as error:
        delay = error.delay if isinstance(error, RetryLater) else None
        reason = (str(error) or type(error).__name__)[:LONGEST_REASON]
        with contextlib.suppress(SensoriumError):
            await client.deliveries.nack(
                delivery_ids=[delivery.id],
                reason=reason,
                delay_seconds=UNSET if delay is None else delay,
            )


async def _extend(client: AsyncSensorium, delivery_id: str, lease: float) -> None:
    while True:
        await asyncio.sleep(lease / 2)
        with contextlib.suppress(SensoriumError):
            await client.deliveries.extend(delivery_ids=[delivery_id], seconds=max(1, round(lease)))


async def _unless(stopping: asyncio.Event, work: Awaitable[Any]) -> Any:
    """Returns the result of the work; None, and cancels it, once stopping."""
    task = asyncio.ensure_future(work)
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        return task.result()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return None


async def _first_of(running: set[asyncio.Task[None]], stopping: asyncio.Event) -> None:
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait({*running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


@contextlib.contextmanager
def _stopped_by_signals(stopping: asyncio.Event) -> Iterator[None]:
    """Only the main thread gets signals, and not on every platform."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    taken = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stopping.set)
            taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
