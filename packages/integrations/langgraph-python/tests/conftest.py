from __future__ import annotations

from collections.abc import Callable

import pytest
from real_server import client, receiver, server
from sensorium import Sensorium

__all__ = ["client", "new_key", "receiver", "server"]


@pytest.fixture
def new_key(client: Sensorium) -> Callable[[], str]:
    """Makes an agent without memories and state, and returns its key."""

    def make() -> str:
        agent = client.agents.create(name="graph", delivery_mode="poll")
        return client.keys.create(agent_id=agent.id, scopes=["memory:read", "memory:write"]).key

    return make
