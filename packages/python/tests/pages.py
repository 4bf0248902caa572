"""Runs what a page shows."""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any

from real_server import Server


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.S)


def run_blocks(page: Path, *, replace: Mapping[str, str] | None = None, **names: Any) -> dict[str, Any]:
    """
    Runs a page's Python one block after another, as a notebook would, with ``names`` given; returns all names.
    ``replace`` are texts of the page that a test replaces, such as a model's name.
    """
    text = "\n".join(blocks(page, "python"))
    for old, new in (replace or {}).items():
        assert old in text
        text = text.replace(old, new)
    asyncio.run(_run(compile(text, str(page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names))
    return names


async def _run(program: CodeType, names: dict[str, Any]) -> None:
    result = eval(program, names)
    if inspect.isawaitable(result):
        await result


def output_of(example: Path, server: Server, *args: str) -> str:
    """Runs an example as a person would; returns what it prints."""
    env = {**os.environ, "SENSORIUM_URL": server.url, "SENSORIUM_API_KEY": server.api_key}
    ran = subprocess.run([sys.executable, example, *args], env=env, capture_output=True, text=True, check=False)
    assert (ran.stderr, ran.returncode) == ("", 0)
    return ran.stdout
