from __future__ import annotations

import asyncio
import re
from typing import Any

from agents import Agent, function_tool
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call
from crash import handle_twice
from real_server import Server
from sensorium import AsyncSensorium, RetryLater, Sensorium

from openai_agents_sensorium import SensoriumSession, run_on_events


def counting(runs: int) -> ScriptedModel:
    """Says how many items it has read."""

    def reply(call: ModelCall) -> Any:
        return [assistant_message(str(len(call.input)))]

    return ScriptedModel([ModelStep.respond(reply) for _ in range(runs)])


async def items_of(client: AsyncSensorium, session_id: str = "order-1") -> list[Any]:
    return list(await SensoriumSession(session_id, client=client).get_items())


def kinds(items: list[Any]) -> list[str]:
    return [item.get("role") or item["type"] for item in items]


def test_events_run_the_agent_in_their_sessions(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    for name in ("placed", "paid"):
        for subject in ("order-1", "order-2"):
            client.publish(type_, {"name": name}, subject=subject)
    client.publish(type_, {"name": "x" * 50_000}, correlationid="order-3")
    client.publish(type_, {"name": "lost"})
    client.publish(type_, {"name": "placed"}, subject="o" * 600)

    async def run() -> None:
        async with AsyncSensorium(server.url, key) as own:
            await run_on_events(own, Agent(name="clerk", model=counting(5)), count=7, max_turns=1)
            for session_id in ("order-1", "order-2"):
                items = await items_of(own, session_id)
                assert kinds(items) == ["user", "assistant", "user", "assistant"]
                assert "not instructions" in items[0]["content"] and '"placed"' in items[0]["content"]
                assert [item["content"][0]["text"] for item in items[1::2]] == ["1", "3"]
            [long, _] = await items_of(own, "order-3")
            assert len(long["content"]) < 41_000 and re.search(r'event_id "evt_[\w-]+" and', long["content"])
            letters = (await own.deliveries.dead_letters()).items
            reasons = sorted(f"{each.attempt_count} {each.dlq_reason}" for each in letters)
            assert [reason[:2] for reason in reasons] == ["1 ", "1 "]
            assert "no session" in reasons[0] and "expected at most 479 characters" in reasons[1]

    asyncio.run(run())


def test_a_lost_acknowledgement_does_not_run_again(
    server: Server, client: Sensorium, receiver: tuple[str, str]
) -> None:
    key, type_ = receiver
    client.publish(type_, {"name": "placed"}, subject="order-1")
    model = counting(2)
    agent = Agent(name="clerk", model=model)

    async def run() -> None:
        await handle_twice(server.url, key, lambda own, count: run_on_events(own, agent, count=count))
        async with AsyncSensorium(server.url, key) as own:
            assert kinds(await items_of(own)) == ["user", "assistant"]

    asyncio.run(run())
    assert len(model.calls) == 1


def test_a_failed_run_leaves_nothing_and_is_repeated(
    server: Server, client: Sensorium, receiver: tuple[str, str]
) -> None:
    key, type_ = receiver
    client.publish(type_, {"order": "7"})
    seen: list[list[Any]] = []

    async def run() -> None:
        async with AsyncSensorium(server.url, key) as own:

            @function_tool(failure_error_function=None)
            async def weigh() -> str:
                """Weighs the parcel."""
                seen.append(await items_of(own, "7"))
                if len(seen) == 1:
                    raise RetryLater("the scales are off", delay=0)
                return "31 kg"

            call = function_call("weigh", {}, call_id="1")
            model = ScriptedModel([[call], [call], [assistant_message("31 kg.")]])
            await run_on_events(
                own,
                Agent(name="scales", model=model, tools=[weigh]),
                session_of=lambda event: event["data"]["order"],
                input_of=lambda event: [{"role": "user", "content": f"Weigh {event['data']['order']}"}],
                count=2,
            )
            items = await items_of(own, "7")
            assert kinds(items) == ["user", "function_call", "function_call_output", "assistant"]
            assert seen == [[], []]
            assert (await own.deliveries.stats()).pending == 0

    asyncio.run(run())


def test_a_run_that_waits_for_an_approval_is_a_dead_letter(
    server: Server, client: Sensorium, receiver: tuple[str, str]
) -> None:
    key, type_ = receiver
    client.publish(type_, {}, subject="order-1")

    @function_tool(needs_approval=True)
    def refund() -> str:
        """Refunds the order."""
        return "refunded"

    async def run() -> None:
        async with AsyncSensorium(server.url, key) as own:
            model = ScriptedModel([[function_call("refund", {}, call_id="1")]])
            await run_on_events(own, Agent(name="clerk", model=model, tools=[refund]), count=1)
            [letter] = (await own.deliveries.dead_letters()).items
            assert "an approval of refund" in letter.dlq_reason
            assert await items_of(own) == []

    asyncio.run(run())
