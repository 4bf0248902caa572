"""What packages/python/tests/test_operations.py calls of this extension."""

from __future__ import annotations

from typing import Any

ROWS: list[tuple[str, dict[str, Any], Any]] = [
    ("N approvals.open_link", {"token": "none"}, "!not_found"),
    ("N approvals.answer_link", {"token": "none"}, "!not_found"),
]
