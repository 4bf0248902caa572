from __future__ import annotations

import asyncio
import inspect
import json
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from real_server import Server

from sensorium import (
    ApiError,
    AsyncSensorium,
    ConnectionFailed,
    Invalid,
    NotFound,
    Refused,
    Sensorium,
    Wait,
    mcp_endpoint,
    models,
)
from sensorium._api import Channels
from sensorium._group import at_once
from sensorium._operation import Operation


def test_publishes_and_reads(client: Sensorium) -> None:
    made = client.publish("com.example.read", {"n": 1}, subject="s", id="read-1")
    assert made.status == "accepted"
    assert client.publish("com.example.read", {"n": 1}, id="read-1").status == "duplicate"
    event = client.events.get(event_id=made.event_id)
    assert event.payload.model_dump()["subject"] == "s"
    batch = [{"type": "com.example.read", "id": "read-1"}, {"type": ""}]
    assert [each.status for each in client.publish_all(batch)] == ["duplicate", "rejected"]


def test_remembers_and_finds(client: Sensorium) -> None:
    memory = client.memories.create(
        title="Pumps",
        content="The red lever starts the pump.",
        type="procedural",
        scope="agent",
        tags=["hall 7"],
    )
    assert isinstance(memory, models.Memory)
    assert memory.tags == ["hall-7"]
    found = client.memories.search(query="red lever", limit=5)
    assert memory.id in [each.memory.id for each in found.results]
    changed = client.memories.update(id=memory.id, tags=None, title="Pumps of hall 7")
    assert (changed.tags, changed.title) == ([], "Pumps of hall 7")


def test_remembers_a_text_as_its_caller_may(client: Sensorium, server: Server) -> None:
    text = "The red lever stops the pump.\nPull it twice."
    own = client.remember(text, subject="pump-1")
    assert (own.title, own.content, own.type) == ("The red lever stops the pump.", text, "semantic")
    assert (own.scope, own.subject) == ("agent", "pump-1")
    assert client.remember(text, supersedes_id=own.id, scope="institutional").supersedes_id == own.id

    login = client.auth.login(email=server.person["email"], password=server.person["password"])

    async def as_person() -> models.Memory:
        async with AsyncSensorium(server.url, token=login.access_token) as person:
            return await person.remember(f"# {'word ' * 30}")

    shared = asyncio.run(as_person())
    assert (shared.scope, shared.title) == ("institutional", f"{'word ' * 22}word…")


def test_says_once_what_it_waits_for(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    limited = {"error": {"code": "rate_limited", "message": "More than 9 requests in 60 s.", "details": {}}}
    answers = [httpx.Response(429, json=limited, headers={"retry-after": "0.01"}), httpx.Response(200, json=[])] * 4
    queue = iter(answers)

    def client_of(**how: Any) -> Sensorium:
        http = httpx.Client(transport=httpx.MockTransport(lambda _: next(queue)))
        return Sensorium(server.url, token="t", http_client=http, **how)

    waits: list[Wait] = []
    for client in (client_of(), client_of(on_wait=waits.append)):
        for _ in range(2):
            client.request(Operation("GET", "/things"), {})
    message = "Waiting 1 s to repeat GET /things: More than 9 requests in 60 s."
    assert [record.getMessage() for record in caplog.records if record.name == "sensorium"] == [message]
    assert [(wait.message, wait.seconds, wait.error.status) for wait in waits] == [(message, 1, 429)] * 2


@pytest.mark.parametrize(
    ("status", "tries"),
    [*((status, 1) for status in (400, 404, 409, 422)), *((status, 2) for status in (429, 500, 502, 503, 504))],
)
def test_retries_only_what_may_end_well(status: int, tries: int) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(status, json={}, headers={"retry-after": "0"})

    http = httpx.Client(transport=httpx.MockTransport(answer))
    with pytest.raises(ApiError), Sensorium("http://h.test", token="t", http_client=http, retries=1) as client:
        client.request(Channels.create.operation, {"name": "x"})
    assert len(asked) == tries


def test_pauses_double_up_to_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("random.random", lambda: 0.5)
    monkeypatch.setattr("time.sleep", slept.append)
    http = httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(503)))
    with pytest.raises(ApiError), Sensorium("http://h.test", token="t", http_client=http, retries=10) as client:
        client.request(Operation("GET", "/things"), {})
    assert slept == [0.25, 0.5, 1, 2, 4, 8, 16, 32, 60, 60]


def test_addresses_memories_by_key(client: Sensorium) -> None:
    client.memories.put_by_key(namespace="a.b", key="c/d e", metadata={"n": [1, None]})
    memory = client.memories.get_by_key(namespace="a.b", key="c/d e")
    assert memory.metadata == {"n": [1, None]}


def test_iterates_over_all_pages(client: Sensorium) -> None:
    for n in range(7):
        client.memories.create(title=f"page {n}", content=str(n), type="entity", scope="agent")
        client.channels.create(name=f"channel-{n}")
    by_cursor = [memory.title for memory in client.memories.list_all(type="entity", limit=3, order="asc")]
    assert by_cursor == [f"page {n}" for n in range(7)]
    by_offset = {channel.name for channel in client.channels.list_all(limit=3)}
    assert {f"channel-{n}" for n in range(7)} <= by_offset


def test_names_what_is_wrong(client: Sensorium, server: Server) -> None:
    with pytest.raises(Invalid) as invalid:
        client.memories.create(title="t", content="c", type="dream", scope="agent")  # type: ignore[arg-type]
    assert invalid.value.code == "validation_error"
    assert invalid.value.details["field"] == "type"
    assert invalid.value.request_id
    with pytest.raises(NotFound):
        client.memories.get(id="0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f")
    with pytest.raises(Refused), Sensorium(server.url, "ak_live_" + "x" * 32) as nobody:
        nobody.auth.me()
    with pytest.raises(ValueError, match="expected an id"):
        client.memories.get(id="..")
    with pytest.raises(ConnectionFailed), Sensorium("http://127.0.0.1:9", "k", retries=0) as nowhere:
        nowhere.auth.me()


def test_takes_times_with_and_without_a_zone(client: Sensorium) -> None:
    event_id = client.publish("com.example.timed").event_id
    hour = timedelta(hours=1)
    for now in (datetime.now(timezone.utc), datetime.now()):
        listed = client.events.list(type="com.example.timed", since=now - hour).events
        assert [event.event_id for event in listed] == [event_id]
        assert client.events.list(type="com.example.timed", since=now + hour).events == []


def test_reads_texts(client: Sensorium) -> None:
    client.handoffs.save(name="python", payload={"next_action": "Ship it"})
    assert "Ship it" in str(client.handoffs.resume(query="python"))
    output = client.outputs.save(body="# Notes\n\nAll well.")
    assert client.outputs.get(output_id=output.id).body == "# Notes\n\nAll well."


def test_one_token_for_many_threads(server: Server) -> None:
    with Sensorium(server.url, server.api_key) as client, ThreadPoolExecutor(8) as pool:
        ids = {me.agent.id for me in pool.map(lambda _: client.auth.me(), range(40)) if me.agent}
    assert ids == {server.agent_id}


def test_a_lost_token_is_exchanged_again(server: Server) -> None:
    with Sensorium(server.url, server.api_key) as client:
        client.auth.me()
        client._connection._granted = ("not-a-token", float("inf"))
        assert client.auth.me().agent


def test_asynchronous(server: Server) -> None:
    async def run() -> list[str]:
        async with AsyncSensorium(server.url, server.api_key) as client:
            await asyncio.gather(*(client.publish("com.example.async", n) for n in range(20)))
            return [each.payload.type async for each in client.events.list_all(limit=7, type="com.example.async")]

    assert asyncio.run(run()) == ["com.example.async"] * 20


@pytest.mark.parametrize("path", ["/v1/", "/mcp", "/mcp/?tools=all", "//V1"])
def test_a_key_comes_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setenv("SENSORIUM_URL", f" {server.url}{path}\n")
    monkeypatch.setenv("SENSORIUM_API_KEY", server.api_key)
    with Sensorium() as client:
        assert client.auth.me().agent


class Flaky(BaseHTTPRequestHandler):
    """Answers 503 twice, then as a service would; keeps the idempotency keys."""

    keys: list[str | None] = []  # noqa: RUF012
    agents: list[str | None] = []  # noqa: RUF012

    def do_POST(self) -> None:
        self.keys.append(self.headers["idempotency-key"])
        self.agents.append(self.headers["user-agent"])
        good = len(self.keys) > 2
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"id":"ch_1"}' if good else b'{"error":{"code":"service_unavailable","message":"later"}}'
        self.send_response(201 if good else 503)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_retries_with_one_idempotency_key() -> None:
    flaky = HTTPServer(("127.0.0.1", 0), Flaky)
    threading.Thread(target=flaky.serve_forever, daemon=True).start()
    try:
        create = Channels.create.operation
        with Sensorium(f"http://127.0.0.1:{flaky.server_port}", token="t") as client:
            assert client.request(create, {"name": "x"}) == {"id": "ch_1"}
            assert len(Flaky.keys) == 3
            assert len(set(Flaky.keys)) == 1 and Flaky.keys[0]
            assert (Flaky.agents[0] or "").startswith("sensorium-python/")
        Flaky.keys.clear()
        with (
            pytest.raises(ApiError) as refused,
            Sensorium(client._connection.origin, token="t", retries=1) as once,
        ):
            once.request(create, {"name": "x"})
        assert refused.value.status == 503
    finally:
        flaky.shutdown()
        flaky.server_close()


def test_operations_are_methods_with_names_types_and_words() -> None:
    client, asynchronous = Sensorium("http://127.0.0.1:9", "k"), AsyncSensorium("http://127.0.0.1:9", "k")
    for create in (client.channels.create, asynchronous.channels.create):
        assert list(inspect.signature(create).parameters) == ["name", "description", "idempotency_key", "timeout"]
        assert "Create a channel." in (create.__doc__ or "")
    assert inspect.iscoroutinefunction(asynchronous.channels.create)
    assert not inspect.iscoroutinefunction(client.channels.create)
    signature = inspect.signature(client.channels.list_all)
    assert ("limit" in signature.parameters, signature.return_annotation) == (True, "Iterator[models.Channel]")
    assert client.channels.list_all.__name__ == "list_all"
    assert "all pages" in (client.channels.list_all.__doc__ or "")


def test_arguments_are_checked_before_a_request() -> None:
    with Sensorium("http://127.0.0.1:9", "k", retries=0) as client:
        with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'name'"):
            client.channels.create()  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
            client.channels.create(name="x", colour="red")  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
            client.channels.list_all(colour="red")  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=r"get\(\) takes its parameters by name: id, "):
            client.memories.get("mem_1")  # type: ignore[call-arg]


def test_a_synchronous_call_never_waits_for_an_event_loop() -> None:
    async def waits() -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="event loop"):
        at_once(waits())


def test_synchronous_calls_work_in_a_running_event_loop(server: Server) -> None:
    async def ask() -> list[str]:
        with Sensorium(server.url, server.api_key) as client:
            client.publish("com.example.nested")
            return [event.payload.type for event in client.events.list_all(type="com.example.nested")]

    assert asyncio.run(ask()) == ["com.example.nested"]


def test_is_imported_without_building_models() -> None:
    built = "import sensorium; print(sensorium.models.Memory.__pydantic_complete__)"
    ran = subprocess.run([sys.executable, "-c", built], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_is_used_in_one_event_loop_after_another(server: Server) -> None:
    client = AsyncSensorium(server.url, server.api_key)

    async def ask() -> int:
        return len(await asyncio.gather(*(client.auth.me() for _ in range(3))))

    assert [asyncio.run(ask()) for _ in range(3)] == [3, 3, 3]
    assert len(client._loops) == 1


def test_without_a_key_it_says_where_it_looked_or_takes_the_saved_one(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("SENSORIUM_URL", "SENSORIUM_API_KEY", "SENSORIUM_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "sensorium" / "profiles.json"
    where = "Looked at:\n  api_key: not given\n  SENSORIUM_API_KEY: not set\n  profile {} in " + f"{file}: {{}}\n"
    said = "run `sensorium connect`, or set SENSORIUM_API_KEY. "
    for kind in (Sensorium, AsyncSensorium):
        with pytest.raises(ValueError, match=re.escape(said + where.format("default", "not there"))):
            kind()
    file.parent.mkdir()
    file.write_text(json.dumps({"mine": {"url": f"{server.url}/v1", "api_key": server.api_key, "current": True}}))
    with Sensorium() as saved, Sensorium(server.url) as same:
        assert saved.auth.me().agent == same.auth.me().agent
    assert mcp_endpoint().url == f"{server.url}/mcp"
    with pytest.raises(ValueError, match=re.escape(where.format("mine", f"for {server.url}/v1"))):
        Sensorium("https://elsewhere.test")
    monkeypatch.setenv("SENSORIUM_PROFILE", "other")
    with pytest.raises(ValueError, match=re.escape(where.format("other", "not there"))):
        Sensorium()
    with Sensorium(server.url, anonymous=True) as nobody, pytest.raises(Refused):
        nobody.auth.me()


def test_an_interest_is_ensured_as_often_as_a_program_starts(client: Sensorium) -> None:
    made = client.ensure_interest("com.example.ensured", filter_expression="data.n > 1")
    assert client.ensure_interest("com.example.ensured", filter_expression="data.n > 1") == made
    changed = client.ensure_interest("com.example.ensured", filter_expression="data.n > 1", priority=9)
    assert (changed.id, changed.priority) == (made.id, 9)
    with pytest.raises(Invalid):
        client.ensure_interest("com.example.ensured", priority=99)


def test_says_where_the_tools_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENSORIUM_URL", "https://sensorium.example.com/v1/")
    monkeypatch.delenv("SENSORIUM_API_KEY", raising=False)
    with pytest.raises(ValueError, match="SENSORIUM_API_KEY"):
        mcp_endpoint()
    endpoint = mcp_endpoint(api_key="ak_live_x", tools="work,memories")
    assert endpoint.url == "https://sensorium.example.com/mcp"
    assert endpoint.headers == {"Authorization": "Bearer ak_live_x", "X-MCP-Tools": "work,memories"}
    assert "ak_live_x" not in repr(endpoint)


def test_a_redirect_is_an_error_and_gets_no_credentials(server: Server) -> None:
    reached: list[str] = []

    class Other(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            reached.append(self.path)
            self.send_response(200)
            self.end_headers()

    other = HTTPServer(("127.0.0.1", 0), Other)
    target = f"http://127.0.0.1:{other.server_port}"

    class First(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(307)
            self.send_header("location", f"{target}{self.path}?secret")
            self.end_headers()

    first = HTTPServer(("127.0.0.1", 0), First)
    for each in (other, first):
        threading.Thread(target=each.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{first.server_port}"
    # Whatever the program's own client of httpx does.
    http = httpx.Client(follow_redirects=True)
    with Sensorium(url, server.api_key, http_client=http) as client, pytest.raises(ApiError) as raised:
        client.auth.me()
    http.close()
    for each in (other, first):
        each.shutdown()
        each.server_close()
    assert reached == []
    assert (raised.value.code, raised.value.status) == ("unexpected_answer", 307)
    assert f"redirects to {target}/v1/auth/token, and credentials are sent only to" in str(raised.value)


def test_one_asynchronous_client_works_in_several_event_loops_at_once(server: Server) -> None:
    client = AsyncSensorium(server.url, server.api_key)

    async def names() -> int:
        answers = await asyncio.gather(*(client.auth.me() for _ in range(5)))
        await client.aclose()
        return len({answer.agent.id for answer in answers if answer.agent})

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: asyncio.run(names()), range(8))) == [1] * 8


def test_an_http_client_in_a_second_event_loop_is_refused_at_once(server: Server) -> None:
    http = httpx.AsyncClient()
    client = AsyncSensorium(server.url, server.api_key, http_client=http)

    async def me() -> object:
        return await client.auth.me()

    assert asyncio.run(me())
    with pytest.raises(RuntimeError, match="make an AsyncSensorium for each loop"):
        asyncio.run(me())
