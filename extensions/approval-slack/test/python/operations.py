"""What packages/python/tests/test_operations.py calls of this extension."""

from __future__ import annotations

from typing import Any

ROWS: list[tuple[str, dict[str, Any], Any]] = [
    (
        "P approvals.set_slack",
        {"webhook_url": "https://hooks.example/a", "signing_secret": "s" * 32},
        {"host": "hooks.example"},
    ),
    ("P approvals.get_slack", {}, {"host": "hooks.example", "assignees": ["admins"]}),
    ("P approvals.delete_slack", {}, None),
    ("N approvals.answer_slack", {"tenant_slug": "none", "raw": b"x", "headers": {}}, "!authentication_failed"),
]
