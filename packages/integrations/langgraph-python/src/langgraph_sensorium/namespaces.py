"""LangGraph's namespaces are tuples of labels, Sensorium's are texts with dots between them."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

_ODD = re.compile(r"[%/\x00-\x1f\x7f]")


def to_text(namespace: tuple[str, ...]) -> str:
    return ".".join(_ODD.sub(lambda found: quote(found[0], safe=""), label) for label in namespace)


def from_text(text: str) -> tuple[str, ...]:
    return tuple(unquote(label) for label in text.split("."))
