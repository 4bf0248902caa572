"""Where checkpoints and writes are in the agent's state: a namespace for each thread, in it a key for each entry."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import unquote

THREADS = "langgraph.python"
"""The namespace above those of the threads."""
LONGEST_THREAD = 500 - len(f"{THREADS}.")
"""Namespaces have at most 500 characters."""
CHECKPOINTS = "c/"
LONGEST_PART = 200

_IN_LABEL = re.compile(r"[%./\x00-\x1f\x7f]")
_IN_PART = re.compile(r"[%/~\x00-\x1f\x7f]")


def namespace_of(thread_id: str) -> str:
    """Returns the namespace of a thread, which has the whole id, so that threads can be listed."""
    label = _IN_LABEL.sub(_encoded, thread_id)
    if not 0 < len(label) <= LONGEST_THREAD:
        raise ValueError(
            f"thread_id: expected 1 to {LONGEST_THREAD} characters; each of . / % counts as three (got {len(label)})."
        )
    return f"{THREADS}.{label}"


def thread_of(namespace: str) -> str:
    return unquote(namespace.removeprefix(f"{THREADS}."))


def checkpoints_of(checkpoint_ns: str) -> str:
    """What the keys of a checkpoint namespace's checkpoints begin with; their ids follow, in the order of time."""
    return f"{CHECKPOINTS}{_part(checkpoint_ns)}/"


def checkpoint_key(checkpoint_ns: str, checkpoint_id: str) -> str:
    return checkpoints_of(checkpoint_ns) + _part(checkpoint_id)


def writes_of(checkpoint_ns: str, checkpoint_id: str | None = None) -> str:
    """What the keys of the writes begin with, of all checkpoints of a namespace or of one."""
    every = f"w/{_part(checkpoint_ns)}/"
    return every if checkpoint_id is None else f"{every}{_part(checkpoint_id)}/"


def writes_key(checkpoint_ns: str, checkpoint_id: str, task_id: str) -> str:
    return writes_of(checkpoint_ns, checkpoint_id) + _part(task_id)


def checkpoint_part(key: str) -> str:
    """Returns the part for the checkpoint in the key of a checkpoint or of writes."""
    return key.split("/")[2]


def _part(text: str) -> str:
    """A part has no slash, so that no key begins with another one's parts by chance."""
    part = _IN_PART.sub(_encoded, text)
    return part if len(part) <= LONGEST_PART else "~" + hashlib.sha256(text.encode()).hexdigest()


def _encoded(odd: re.Match[str]) -> str:
    return f"%{ord(odd[0]):02X}"
