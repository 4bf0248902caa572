"""Runs the README's programs as they stand there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from real_server import ROOT, Server

from sensorium import Sensorium


def _programs_of(readme: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", readme.read_text(), re.S)


PROGRAMS = _programs_of(Path(__file__).parents[1] / "README.md")


def _env(server: Server, key: str) -> dict[str, str]:
    return {**os.environ, "SENSORIUM_URL": server.url, "SENSORIUM_API_KEY": key}


def _run(program: str, env: dict[str, str]) -> str:
    ran = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    return ran.stdout


def test_the_first_event(server: Server) -> None:
    printed = _run(PROGRAMS[0], _env(server, server.api_key))
    assert printed == "com.example.order.placed order-1 {'total': 120}\n"


def test_the_program_of_the_projects_readme(server: Server, receiver: tuple[str, str]) -> None:
    key, _ = receiver
    with Sensorium(server.url, key) as agent:
        me = agent.auth.me().agent
        assert me
        agent.interests.create(agent_id=me.id, event_type="com.example.order.*", filter_expression="data.total == 190")
    [program] = _programs_of(ROOT / "README.md")
    assert _run(program, _env(server, key)) == "{'total': 190}\n"


def test_the_first_memory(server: Server) -> None:
    printed = _run(PROGRAMS[1], _env(server, server.api_key))
    assert re.search(r"^0\.\d+ Pumps start by hand\.$", printed, re.M)


def test_the_receiver(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    client.publish(type_, {"total": 7})
    program = subprocess.Popen(
        [sys.executable, "-u", "-c", PROGRAMS[2]], env=_env(server, key), stdout=subprocess.PIPE, text=True
    )
    assert program.stdout
    assert program.stdout.readline() == f"{type_} {{'total': 7}}\n"
    program.send_signal(signal.SIGINT)
    assert program.wait(60) == 0
