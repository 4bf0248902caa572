"""
Calls every operation of the client on the real server: whatever one sends, the service has to understand, and whatever
it answers, the client. The rows depend on those before them.
"""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from real_server import OPERATOR_TOKEN, Server

from sensorium import ApiError, Sensorium
from sensorium._group import Group, Method

Row = tuple[str, dict[str, Any], Any]

# What extensions add: `ROWS`, and if these need something `prepare(made, agent, agent_id, key)`, which makes it.
EXTENSIONS = Path(__file__).parents[3] / "extensions"
KITS = [runpy.run_path(str(file)) for file in sorted(EXTENSIONS.glob("*/test/python/operations.py"))]


def parsed(line: str) -> Row:
    call, params, expected = json.loads(line, object_hook=spelled)
    return call, params, expected


def spelled(given: dict[str, Any]) -> Any:
    """What JSON has no word for: bytes, and any value but none."""
    if set(given) == {"bytes"}:
        return given["bytes"].encode()
    return {name: ... if value == "..." else value for name, value in given.items()}


LINES = (Path(__file__).parent / "operations.txt").read_text(encoding="utf-8").splitlines()
ROWS: list[Row] = [
    *(parsed(line) for line in LINES if line.startswith("[")),
    *(row for kit in KITS for row in kit["ROWS"]),
]


@pytest.fixture(scope="module")
def made(server: Server) -> Iterator[dict[str, Any]]:
    """The answers by name, and the clients that call."""
    operator = Sensorium(server.url, token=OPERATOR_TOKEN)
    tenant = operator.tenants.create(slug="called", name="Called", admin_email="admin@called.example")
    agent, key = Sensorium(server.url, tenant.agent.api_key), tenant.agent.api_key
    login = agent.auth.login(email=tenant.admin.email, password=tenant.admin.password)
    person = Sensorium(server.url, token=login.access_token)
    nobody = Sensorium(server.url, anonymous=True)
    made: dict[str, Any] = {"A": agent, "P": person, "O": operator, "N": nobody, "url": server.url}
    made["times"] = {"tomorrow": (datetime.now(timezone.utc) + timedelta(days=1)).isoformat()}
    made |= {"me": agent.auth.me().agent, "person": person.auth.me().user, "key": {"own": key}}
    for kit in KITS:
        kit.get("prepare", nothing)(made, agent, tenant.agent.id, key)
    announced = agent.deliveries.poll(wait=20).deliveries
    agent.deliveries.ack(delivery_ids=[each.id for each in announced])
    yield made
    for each in made.values():
        if isinstance(each, Sensorium):
            each.close()


def nothing(*_: object) -> None:
    """What an extension prepares that needs nothing."""


def filled(value: Any, made: dict[str, Any]) -> Any:
    """The value with what answers have."""
    if isinstance(value, dict):
        return {name: filled(each, made) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, made) for each in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    name = next(name for name in sorted(made, key=len, reverse=True) if value[1:].startswith(f"{name}."))
    found = made[name]
    for key in value[len(name) + 2 :].split("."):
        found = found[int(key)] if key.isdigit() else found[key] if isinstance(found, dict) else getattr(found, key)
    return found


def has(answer: Any, part: Any) -> bool:
    if part is ...:
        return answer is not None
    if isinstance(part, dict):
        return isinstance(answer, dict) and all(name in answer and has(answer[name], part[name]) for name in part)
    if isinstance(part, list) and part:
        return isinstance(answer, list) and all(any(has(each, item) for each in answer) for item in part)
    if isinstance(part, (str, bytes)) and isinstance(answer, type(part)):
        return part in answer  # type: ignore[operator]
    return bool(answer == part)


def plain(answer: Any) -> Any:
    if isinstance(answer, list):
        return [plain(each) for each in answer]
    return answer.model_dump(mode="json", by_alias=True) if hasattr(answer, "model_dump") else answer


def caller(who: str, made: dict[str, Any]) -> Sensorium:
    if who not in made:
        source = {"U": "auth.login", "D": "session"}[who]
        made[who] = Sensorium(made["url"], token=made[source].access_token)
    client: Sensorium = made[who]
    return client


@pytest.mark.parametrize(("call", "params", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_calls(made: dict[str, Any], call: str, params: dict[str, Any], expected: Any) -> None:
    who, operation, *names = call.split(" ")
    group, name = operation.split(".")
    method = getattr(getattr(caller(who, made), group), name)
    expected = filled(expected, made)
    if isinstance(expected, str) and expected.startswith("!"):
        with pytest.raises(ApiError) as refused:
            method(**filled(params, made))
        assert refused.value.code == expected[1:]
        return
    answer = method(**filled(params, made))
    made[names[0] if names else operation] = answer
    assert has(plain(answer), expected), plain(answer)


def test_nothing_is_left_out() -> None:
    client = Sensorium("http://127.0.0.1", "k")
    groups = {name: type(group) for name, group in vars(client).items() if isinstance(group, Group)}
    declared = {
        f"{name}.{each}" for name, group in groups.items() for each, m in vars(group).items() if isinstance(m, Method)
    }
    assert declared - {call.split(" ")[1] for call, _, _ in ROWS} == set()
