"""How the client calls an operation of the service."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pages:
    """How a list is paged: `items` is the field of the answer, `""` if the answer is the list itself."""

    items: str
    by: str


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
    pages: Pages | None = None

    @property
    def has_body(self) -> bool:
        return self.method not in ("GET", "DELETE")
