"""The official client of A2A calls an agent that answers with this package."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as a2a
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]
from real_server import Server
from sensorium import AsyncSensorium, Sensorium

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Called:
    """An agent, and a client that sends it tasks."""

    agent: AsyncSensorium
    client: Client
    card: a2a.AgentCard

    async def next_task(self) -> str:
        polled = await self.agent.deliveries.poll(wait=30, limit=1)
        delivery = polled.deliveries[0]
        await self.agent.deliveries.ack(delivery_ids=[delivery.id])
        return str(delivery.payload["subject"])


@pytest.fixture
async def called(server: Server, client: Sensorium) -> AsyncIterator[Called]:
    made = client.agents.create(name="Adder", delivery_mode="poll", a2a=True, description="Adds numbers.")
    key = client.keys.create(agent_id=made.id, scopes=["receive"]).key
    headers = {"Authorization": f"Bearer {server.api_key}"}
    async with httpx.AsyncClient(headers=headers) as http, AsyncSensorium(server.url, key) as agent:
        card = await A2ACardResolver(http, f"{server.url}/a2a/{made.id}/rpc").get_agent_card()
        config = ClientConfig(httpx_client=http)
        yield Called(agent, ClientFactory(config).create(card), card)


def message(message_id: str, wait: bool = True, task_id: str = "") -> a2a.SendMessageRequest:
    parts = [a2a.Part(text="2 + 3")]
    return a2a.SendMessageRequest(
        message=a2a.Message(message_id=message_id, role=a2a.ROLE_USER, parts=parts, task_id=task_id),
        configuration=a2a.SendMessageConfiguration(return_immediately=not wait),
    )


async def begin(called: Called, message_id: str) -> str:
    """Sends a message; leaves its stream once the task exists."""
    stream = called.client.send_message(message(message_id, wait=False))
    first = await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    assert await called.next_task() == first.task.id
    return str(first.task.id)


async def test_the_card_is_found(called: Called) -> None:
    assert (called.card.name, called.card.description) == ("Adder", "Adds numbers.")
    assert called.card.capabilities.push_notifications


async def test_a_message_streams_until_it_is_answered(called: Called) -> None:
    seen: list[str] = []
    async for update in called.client.send_message(message("streamed")):
        seen.append(str(update.WhichOneof("payload")))
        if update.HasField("task"):
            task_id = await called.next_task()
            assert task_id == update.task.id
            artifacts = [{"artifact_id": "sum", "data": {"sum": 5}}]
            await called.agent.a2a_tasks.update(task_id=task_id, state="completed", artifacts=artifacts)
    assert seen == ["task", "artifact_update", "status_update"]
    task = await called.client.get_task(a2a.GetTaskRequest(id=task_id))
    assert task.status.state == a2a.TASK_STATE_COMPLETED
    assert MessageToDict(task.artifacts[0].parts[0].data) == {"sum": 5}


async def test_a_task_is_followed_continued_and_canceled(called: Called) -> None:
    task_id = await begin(called, "followed")
    states: list[int] = []
    async for update in called.client.subscribe(a2a.SubscribeToTaskRequest(id=task_id)):
        if update.HasField("task"):
            await called.agent.a2a_tasks.update(task_id=task_id, state="input_required", message="Which?")
            continue
        states.append(update.status_update.status.state)
        if len(states) == 1:
            canceled = await called.client.cancel_task(a2a.CancelTaskRequest(id=task_id))
            assert canceled.status.state == a2a.TASK_STATE_CANCELED
    assert states == [a2a.TASK_STATE_INPUT_REQUIRED, a2a.TASK_STATE_CANCELED]
    with pytest.raises(TaskNotCancelableError):
        await called.client.cancel_task(a2a.CancelTaskRequest(id=task_id))


async def test_a_webhook_is_configured(called: Called) -> None:
    task_id = await begin(called, "webhook")
    config = a2a.TaskPushNotificationConfig(task_id=task_id, id="mine", url="https://a2a.example/hook", token="t")
    created = await called.client.create_task_push_notification_config(config)
    assert (created.id, created.url) == ("mine", "https://a2a.example/hook")
    listed = await called.client.list_task_push_notification_configs(
        a2a.ListTaskPushNotificationConfigsRequest(task_id=task_id)
    )
    assert [each.id for each in listed.configs] == ["mine"]
    await called.client.delete_task_push_notification_config(
        a2a.DeleteTaskPushNotificationConfigRequest(task_id=task_id, id="mine")
    )
    with pytest.raises(TaskNotFoundError):
        await called.client.get_task_push_notification_config(
            a2a.GetTaskPushNotificationConfigRequest(task_id=task_id, id="mine")
        )


async def test_a_task_that_does_not_exist_is_not_found(called: Called) -> None:
    with pytest.raises(TaskNotFoundError):
        await called.client.get_task(a2a.GetTaskRequest(id="absent"))
