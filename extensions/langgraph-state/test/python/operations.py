"""What packages/python/tests/test_operations.py calls of this extension."""

from __future__ import annotations

from typing import Any

ROWS: list[tuple[str, dict[str, Any], Any]] = [
    ("A state.put", {"namespace": "s.a", "key": "k", "value": "v", "if_version": 0}, {"size": 1, "version": 1}),
    ("A state.put_many", {"namespace": "s.a", "entries": [{"key": "l", "value": "w"}]}, {"saved": 1}),
    ("A state.get", {"namespace": "s.a", "key": "k"}, {"value": "v"}),
    ("A state.list", {"namespace": "s.a", "prefix": "l"}, {"entries": [{"key": "l"}]}),
    ("A state.namespaces", {"prefix": "s"}, {"namespaces": ["s.a"]}),
    ("A state.delete", {"namespace": "s.a", "key": "k"}, None),
    ("A state.clear", {"namespace": "s.a"}, {"deleted": 1}),
]
