"""A real server on a free port, with an empty store."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest

from sensorium import Sensorium

ROOT = Path(__file__).parents[3]
NODE = ROOT / "node_modules" / ".bin" / "node"
OPERATOR_TOKEN = "the-long-operator-token-of-the-tests"


@dataclass
class Server:
    url: str
    api_key: str
    agent_id: str
    person: dict[str, str]
    """The e-mail address and the password of an org admin."""


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if running := os.environ.get("SENSORIUM_TEST_SERVER"):
        yield Server(**json.loads(running))
        return
    folder = tempfile.mkdtemp(prefix="sensorium-python-")
    url = f"http://127.0.0.1:{_free_port()}"
    env = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        **{"HOST": "127.0.0.1", "PORT": url.rsplit(":", 1)[1], "DATA_DIR": folder},
        **{"RATE_LIMIT_PER_MINUTE": "0", "LOG_LEVEL": "warn"},
        "OPERATOR_TOKEN": OPERATOR_TOKEN,
    }
    process = subprocess.Popen([NODE, "bin/start.js"], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    try:
        _wait_until_ready(url, process)
        credentials = json.loads((Path(folder) / "credentials.json").read_text())
        agent = credentials["agent"]
        yield Server(url, agent["api_key"], agent["id"], credentials["admin"])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        shutil.rmtree(folder)


def _wait_until_ready(url: str, process: subprocess.Popen[str]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            with urlopen(f"{url}/readyz", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the server is not ready after a minute")


@pytest.fixture
def client(server: Server) -> Iterator[Sensorium]:
    with Sensorium(server.url, server.api_key) as client:
        yield client


@pytest.fixture
def receiver(server: Server, client: Sensorium, request: pytest.FixtureRequest) -> tuple[str, str]:
    """An agent that receives a type of its own: its key, and the type."""
    name: str = request.node.name
    type_ = f"com.example.{abs(hash(name))}"
    agent = client.agents.create(name=name[:100], delivery_mode="poll", retry_budget=2)
    key = client.keys.create(agent_id=agent.id, scopes=["send", "receive", "memory:read", "memory:write"])
    with Sensorium(server.url, key.key) as own:
        own.interests.create(agent_id=agent.id, event_type=type_)
    return key.key, type_
