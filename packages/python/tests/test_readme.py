"""Runs the README's programs as they stand there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from real_server import Server

from sensorium import Sensorium

PROGRAMS = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[1] / "README.md").read_text(), re.S)


def _env(server: Server, key: str) -> dict[str, str]:
    return {**os.environ, "SENSORIUM_URL": server.url, "SENSORIUM_API_KEY": key}


def test_the_first_program(server: Server) -> None:
    program = PROGRAMS[0].replace("http://127.0.0.1:3000", server.url).replace("ak_live_…", server.api_key)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    assert re.search(r"^0\.\d+ Pumps start by hand$", ran.stdout, re.M)


def test_the_receiver(server: Server, client: Sensorium, receiver: tuple[str, str]) -> None:
    key, type_ = receiver
    client.publish(type_, {"total": 7})
    program = subprocess.Popen(
        [sys.executable, "-u", "-c", PROGRAMS[1]], env=_env(server, key), stdout=subprocess.PIPE, text=True
    )
    assert program.stdout
    assert program.stdout.readline() == f"{type_} {{'total': 7}}\n"
    program.send_signal(signal.SIGINT)
    assert program.wait(10) == 0
