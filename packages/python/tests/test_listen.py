from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

from real_server import Server

from sensorium import AsyncSensorium, Delivery, RetryLater, Sensorium


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


def test_returns_what_fails_with_the_reason(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    event_id = client.publish(type_, {}).event_id
    attempts: list[int] = []

    async def handle(delivery: Delivery) -> None:
        attempts.append(delivery.attempt)
        if delivery.attempt == 1:
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


def test_extends_the_lease_of_slow_handlers(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    client.publish(type_, {})
    attempts: list[int] = []

    def handle(delivery: Delivery) -> None:
        attempts.append(delivery.attempt)
        # Leases of this server end after two seconds.
        time.sleep(4)

    with Sensorium(server.url, key) as agent:
        thread = threading.Thread(target=lambda: agent.listen(handle, count=1))
        thread.start()
        thread.join(30)
        assert agent.deliveries.stats().pending == 0
    assert attempts == [1]


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
    assert program.wait(10) == 0
    with Sensorium(server.url, key) as agent:
        assert agent.deliveries.stats().pending == 0
