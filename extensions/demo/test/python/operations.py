"""What packages/python/tests/test_operations.py calls of this extension."""

from __future__ import annotations

from typing import Any

ROWS: list[tuple[str, dict[str, Any], Any]] = [
    ("P demo.get", {}, {"tenant": None, "own": False}),
    ("P demo.create", {}, {"tenant": {"name": "Northwind (demonstration)"}}),
    ("P demo.delete", {}, {}),
]
