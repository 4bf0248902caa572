"""How the client calls an operation of the service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    root: bool = False
    query: tuple[str, ...] = ()
    whole: str | None = None
    """The parameter that is the whole body."""
    sends: str | None = None
    """Media type of the body; default: JSON."""
    open: bool = False
    """Needs no authentication."""
    repeatable: bool = False
    """Changes something, but is safe to repeat without an idempotency key."""
    document: bool = False
    """Answers a text or a file."""
    file: bool = False
    """Answers a file as it is, even one of JSON."""
    pages: tuple[str, Literal["cursor", "offset"]] | None = None
    """The field of the answer that has the items, `""` if the answer is the list itself, and how to go on."""

    @property
    def has_body(self) -> bool:
        return self.method not in ("GET", "DELETE")
