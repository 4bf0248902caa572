"""What packages/python/tests/test_operations.py calls of this extension."""

from __future__ import annotations

from typing import Any

import httpx
from sensorium import Sensorium

ROWS: list[tuple[str, dict[str, Any], Any]] = [
    ("A a2a.catalog", {}, {"entries": ...}),
    ("N a2a.card", {"agent_id": "$own.id"}, {"name": "Adder"}),
    ("A a2a_tasks.get", {"task_id": "$task.id"}, {"id": "$task.id"}),
    ("A a2a_tasks.update", {"task_id": "$task.id", "state": "working"}, {"state": "TASK_STATE_WORKING"}),
]


def prepare(made: dict[str, Any], agent: Sensorium, agent_id: str, key: str) -> None:
    """Has the agent send itself a task."""
    agent.agents.update(agent_id=agent_id, a2a=True)
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Add"}]}
    params = {"message": message, "configuration": {"returnImmediately": True}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
    headers = {"Authorization": f"Bearer {key}", "A2A-Version": "1.0"}
    answer = httpx.post(f"{made['url']}/a2a/{agent_id}", json=request, headers=headers).json()
    made["task"] = answer["result"]["task"]
