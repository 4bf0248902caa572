from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TypedDict

import httpx
import pytest
from pydantic import BaseModel
from real_server import Server

from sensorium import AsyncSensorium, Delivery, GiveUp, RetryLater, Sensorium, quote_as_data
from sensorium._redact import redact
from sensorium.listen import _shown


def test_handles_and_acknowledges_in_parallel(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    for n in range(6):
        client.publish(type_, {"n": n})
    seen: list[int] = []
    at_once, most = 0, 0

    async def handle(delivery: Delivery) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.1)
        seen.append(delivery.data["n"])
        at_once -= 1

    async def run() -> int:
        async with AsyncSensorium(server.url, key) as agent:
            await agent.listen(handle, concurrency=3, count=6)
            return (await agent.deliveries.stats()).pending

    assert asyncio.run(run()) == 0
    assert sorted(seen) == list(range(6))
    assert most == 3


class Placed(BaseModel):
    total: int


class Paid(TypedDict):
    by: str


def test_data_have_the_type_that_they_should(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    for n, data in enumerate([{"total": "120"}, {"total": "much"}, {"by": "card"}]):
        client.publish(type_, data, id=f"{type_}-{n}")
    seen: list[object] = []

    def placed(delivery: Delivery[Placed]) -> None:
        seen.append(delivery.data.total + 1)

    def either(delivery: Delivery[Placed | Paid]) -> None:
        seen.append(delivery.data.total if isinstance(delivery.data, Placed) else delivery.data["by"])

    with Sensorium(server.url, key) as agent:
        agent.listen(placed, data=Placed, count=2)
        [letter] = agent.deliveries.dead_letters().items
        assert str(letter.dlq_reason).startswith("the data is no Placed: total: Input should be a valid integer")
        agent.listen(either, data={type_: Paid, "com.example.other": Placed}, count=1)
    assert seen == [121, "card"]


def test_returns_what_fails_with_the_reason(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    event_id = client.publish(type_, {}).event_id
    attempts: list[int] = []

    async def handle(delivery: Delivery) -> None:
        attempts.append(delivery.attempt_count)
        if delivery.attempt_count == 1:
            raise RetryLater("not yet", delay=0)
        raise ValueError("the till is shut")

    async def run() -> None:
        async with AsyncSensorium(server.url, key) as agent:
            await agent.listen(handle, count=2)
            letters = (await agent.deliveries.dead_letters()).items
            assert [each.event_id for each in letters] == [event_id]
            assert "the till is shut" in letters[0].dlq_reason

    asyncio.run(run())
    assert attempts == [1, 2]


def test_gives_up_at_once(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    event_id = client.publish(type_, {}).event_id

    async def handle(_: Delivery) -> None:
        raise GiveUp("it has no lines")

    async def run() -> None:
        async with AsyncSensorium(server.url, key) as agent:
            await agent.listen(handle, count=1)
            letters = (await agent.deliveries.dead_letters()).items
            assert [(each.event_id, each.dlq_reason) for each in letters] == [(event_id, "it has no lines")]

    asyncio.run(run())


def test_extends_the_lease_of_slow_handlers(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    attempts: list[int] = []

    def handle(delivery: Delivery) -> None:
        attempts.append(delivery.attempt_count)
        time.sleep(8)

    with Sensorium(server.url, key) as agent:
        me = agent.auth.me().agent
        assert me
        client.agents.update(agent_id=me.id, visibility_timeout_seconds=6)
        client.publish(type_, {})
        thread = threading.Thread(target=lambda: agent.listen(handle, count=1))
        thread.start()
        thread.join(90)
        assert agent.deliveries.stats().pending == 0
    assert attempts == [1]


def test_returns_what_fails_at_the_service(
    server: Server, client: Sensorium, receiver: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    key, type_ = receiver
    client.publish(type_, {})

    async def run() -> str:
        async with AsyncSensorium(server.url, key) as agent:

            async def handle(_: Delivery) -> None:
                await agent.memories.get(id="019a0000-0000-7000-8000-000000000000")

            await agent.listen(handle, count=2)
            return (await agent.deliveries.dead_letters()).items[0].dlq_reason

    assert "There is no memory" in asyncio.run(run())
    assert [record.name for record in caplog.records] == ["sensorium", "sensorium"]
    assert all("There is no memory" in record.getMessage() for record in caplog.records)


class Flaky(httpx.AsyncHTTPTransport):
    """Fails to send the first acknowledgements."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.left = failures

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/ack") and self.left > 0:
            self.left -= 1
            raise httpx.ConnectError("cut off")
        return await super().handle_async_request(request)


def test_acknowledges_after_an_outage(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    client.publish(type_, {})
    attempts: list[int] = []

    async def handle(delivery: Delivery) -> None:
        attempts.append(delivery.attempt_count)

    async def run() -> int:
        async with httpx.AsyncClient(transport=Flaky(2)) as http:
            agent = AsyncSensorium(server.url, key, retries=0, http_client=http)
            await agent.listen(handle, count=1)
            return (await agent.deliveries.stats()).pending

    assert asyncio.run(run()) == 0
    assert attempts == [1]


class Noting(httpx.AsyncHTTPTransport):
    """Notes each request about deliveries, with the number of those that it acknowledges."""

    def __init__(self, lost: int = 0) -> None:
        super().__init__()
        self.lost = lost
        """So many answers to acknowledgements along with another request are lost."""
        self.requests: list[tuple[str, int]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        _, found, name = request.url.path.partition("/delivery/")
        body = json.loads(request.content or b"{}")
        ids = body.get("ack", body).get("delivery_ids", [])
        if found:
            self.requests.append((name, len(ids)))
        if name != "next" or not ids or not self.lost:
            return await super().handle_async_request(request)
        self.lost -= 1
        raise httpx.ReadError("cut off")


@pytest.mark.parametrize("lost", [0, 1])
def test_acknowledges_by_the_request_for_the_next(
    server: Server, client: Sensorium, receiver: tuple[str, str], lost: int
) -> None:
    key, type_ = receiver
    for n in range(4):
        client.publish(type_, {"n": n})
    seen: list[int] = []
    noting = Noting(lost)

    async def handle(delivery: Delivery) -> None:
        seen.append(delivery.data["n"])

    async def run() -> int:
        async with httpx.AsyncClient(transport=noting) as http:
            agent = AsyncSensorium(server.url, key, retries=0, http_client=http)
            await agent.listen(handle, count=4)
            return (await agent.deliveries.stats()).pending

    assert asyncio.run(run()) == 0
    assert sorted(seen) == list(range(4))
    names = [each for each in noting.requests if each != ("stats", 0)]
    if lost:
        # The first one's answer was lost: it is acknowledged by a request of its own.
        assert names[:3] == [("next", 0), ("next", 1), ("ack", 1)]
    else:
        # The last of them has no next.
        assert names == [("next", 0), ("next", 1), ("next", 1), ("next", 1), ("ack", 1)]


def test_cancels_its_handlers_with_itself(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    client.publish(type_, {})
    ended: list[str] = []

    async def run() -> None:
        begun = asyncio.Event()

        async def handle(_: Delivery) -> None:
            begun.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        async with AsyncSensorium(server.url, key) as agent:
            listening = asyncio.create_task(agent.listen(handle))
            await begun.wait()
            listening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await listening

    asyncio.run(run())
    assert ended == ["cancelled"]


def test_runs_as_many_threads_as_asked_until_stopped(
    server: Server, client: Sensorium, receiver: tuple[str, str]
) -> None:
    key, type_ = receiver
    for n in range(12):
        client.publish(type_, {"n": n})
    together = threading.Barrier(12)
    stop = threading.Event()

    def handle(_: Delivery) -> None:
        together.wait(30)
        stop.set()

    with Sensorium(server.url, key) as agent:
        agent.listen(handle, concurrency=12, stop=stop)
        assert agent.deliveries.stats().pending == 0


def test_refuses_a_coroutine_that_nobody_would_await(client: Sensorium) -> None:
    async def handle(_: Delivery) -> None: ...

    with pytest.raises(TypeError, match="AsyncSensorium"):
        client.listen(handle)


PROGRAM = """
import sys, time
from sensorium import Delivery, Sensorium

def handle(delivery: Delivery) -> None:
    print("begun", flush=True)
    time.sleep(1)
    print("done", flush=True)

with Sensorium() as agent:
    agent.listen(handle)
print("ended", flush=True)
"""


def test_ends_with_its_work_at_a_signal(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    client.publish(type_, {})
    env = {**os.environ, "SENSORIUM_URL": server.url, "SENSORIUM_API_KEY": key}
    program = subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, stdout=subprocess.PIPE, text=True)
    assert program.stdout
    assert program.stdout.readline() == "begun\n"
    program.send_signal(signal.SIGTERM)
    assert program.stdout.read() == "done\nended\n"
    assert program.wait(60) == 0
    with Sensorium(server.url, key) as agent:
        assert agent.deliveries.stats().pending == 0


def test_ends_at_once_at_a_second_interrupt(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    client.publish(type_, {})
    env = {**os.environ, "SENSORIUM_URL": server.url, "SENSORIUM_API_KEY": key}
    program = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout
    assert program.stdout.readline() == "begun\n"
    program.send_signal(signal.SIGINT)
    assert program.stdout.readline() == "stopping\n"
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors


ENDLESS = """
import asyncio
from sensorium import AsyncSensorium, Delivery

async def main() -> None:
    stop = asyncio.Event()

    async def handle(delivery: Delivery) -> None:
        print("begun", flush=True)
        await stop.wait()
        print("stopping", flush=True)
        await asyncio.sleep(60)

    async with AsyncSensorium() as agent:
        await agent.listen(handle, stop=stop)

asyncio.run(main())
"""


def test_a_log_shows_no_controls_of_others() -> None:
    assert _shown(ValueError("\x1b]52;c;eA==\x07 \u202eexe é")) == "\\u001b]52;c;eA==\\u0007 \\u202eexe é"


def test_a_reason_is_told_without_secrets_and_a_quoted_text_cannot_end_its_fence() -> None:
    reason = 'Digest a="b": {\\"token\\":\\"abc\\"} Set-Cookie: sid=a; Path=/'
    assert redact(reason) == 'Digest [redacted]: {\\"token\\":[redacted]} Set-Cookie: [redacted]'
    assert quote_as_data("a\r````\nb\u202e\U000e0041") == "`````text\na\n````\nb\ufffd\ufffd\n`````"
