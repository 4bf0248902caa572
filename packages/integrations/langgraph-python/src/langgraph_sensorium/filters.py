"""The conditions of searches and of lists of namespaces, as LangGraph defines them."""

from __future__ import annotations

import operator
import re
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


_KEY = re.compile(r"[^.$\x00-\x1f\x7f-\x9f]{1,64}")
_MOST_TEXT = 200
_MOST_KEYS = 10
_RANGES = {"$gt": "gte", "$gte": "gte", "$lt": "lte", "$lte": "lte"}
"""Integers that a double rounds may lie on a bound: ``matches_all`` decides."""


def metadata_filter(conditions: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """
    The part of the conditions that the service filters by inside its search. It finds all that ``matches_all``
    accepts and perhaps more, such as a list with the value.
    """
    named = {name: _condition(wanted) for name, wanted in (conditions or {}).items() if _KEY.fullmatch(name)}
    known = [(name, condition) for name, condition in named.items() if condition is not None]
    return dict(known[:_MOST_KEYS]) or None


def _condition(wanted: Any) -> Any:
    if not isinstance(wanted, dict):
        values = _equal(wanted)
        return {"in": values} if values else None
    values = _equal(wanted.get("$eq"))
    ranges = {_RANGES[name]: limit for name, limit in wanted.items() if name in _RANGES and _is_number(limit)}
    return {**({"in": values} if values else {}), **ranges} or None


def _equal(value: Any) -> list[Any]:
    """The values of JSON that equal a value of Python."""
    if isinstance(value, str):
        return [value] if len(value) <= _MOST_TEXT else []
    if isinstance(value, bool):
        return [value, int(value)]
    return ([value, bool(value)] if value in (0, 1) else [value]) if _is_number(value) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e308


def matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Whether a namespace begins, or ends, with a path, in which ``*`` is any label."""
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
