"""A program that handles an event, and ends before the acknowledgement."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import httpx

from sensorium import AsyncSensorium


class _Losing(httpx.AsyncHTTPTransport):
    def __init__(self) -> None:
        super().__init__()
        self.lost: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        """The deliveries that are not acknowledged."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith(("/delivery/ack", "/delivery/next")):
            body = json.loads(await request.aread())
            if ids := body.get("ack", body).get("delivery_ids"):
                self.lost.set_result(ids)
                await asyncio.Event().wait()
        return await super().handle_async_request(request)


async def handle_twice(url: str, key: str, receive: Callable[[AsyncSensorium, int | None], Awaitable[None]]) -> None:
    """
    Runs ``receive(client, count)`` until an acknowledgement is lost, ends it, and runs it again for the same event, as
    if its lease had ended.
    """
    transport = _Losing()
    async with httpx.AsyncClient(transport=transport, timeout=60) as http:
        client = AsyncSensorium(url, key, http_client=http)
        crashed = asyncio.ensure_future(receive(client, None))
        lost = await transport.lost
        crashed.cancel()
        await asyncio.gather(crashed, return_exceptions=True)
    async with AsyncSensorium(url, key) as client:
        await client.deliveries.nack(delivery_ids=lost, delay_seconds=0)
        await receive(client, 1)
        assert (await client.deliveries.stats()).pending == 0
