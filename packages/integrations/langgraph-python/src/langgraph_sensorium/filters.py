"""The conditions of searches and of lists of namespaces, as LangGraph defines them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from langgraph.store.base import MatchCondition

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def matches_all(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    """Whether a value has these fields: each equal to what is given, or as its operators say."""
    return all(_matches(value.get(name), wanted) for name, wanted in (conditions or {}).items())


def _matches(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    if not any(name.startswith("$") for name in wanted):
        return isinstance(value, dict) and matches_all(value, wanted)
    return all(_compare(value, name, limit) for name, limit in wanted.items())


def _compare(value: Any, name: str, limit: Any) -> bool:
    if name not in _OPERATORS:
        raise ValueError(f"{name} is no operator: expected one of {', '.join(_OPERATORS)}.")
    try:
        return _OPERATORS[name](value, limit)
    except TypeError:
        # A missing value, or one of another kind, is neither more nor less.
        return False


def matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Whether a namespace begins, or ends, with a path, in which ``*`` is any label."""
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
