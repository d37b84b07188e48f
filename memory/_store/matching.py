"""Which values a filter matches and which namespaces a condition matches, as in LangGraph's own stores.

Filters are evaluated on the values themselves, exactly, and not by Chroma.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from langgraph.store.base import MatchCondition

from harbor._core.errors import MemoryStoreError, unknown

Namespace = tuple[str, ...]


def _as_numbers(compare: Callable[[float, float], bool]) -> Callable[[Any, Any], bool]:
    def compared(value: Any, wanted: Any) -> bool:
        try:
            return compare(float(value), float(wanted))
        except (TypeError, ValueError):  # what is not a number is neither more nor less than one
            return False

    return compared


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": _as_numbers(operator.gt),
    "$gte": _as_numbers(operator.ge),
    "$lt": _as_numbers(operator.lt),
    "$lte": _as_numbers(operator.le),
}


def check_filter(wanted: object) -> None:
    """Refuse an unknown operator anywhere in a filter."""
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            for key in wanted:
                if key not in OPERATORS:
                    raise MemoryStoreError(unknown("filter operator", key, OPERATORS))
            return
        for inner in wanted.values():
            check_filter(inner)
    elif isinstance(wanted, list | tuple):
        for inner in wanted:
            check_filter(inner)


def fits(value: Any, wanted: Any) -> bool:
    """Say whether a value matches a filter: by equality, by operators, or field by field."""
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted):
            return all(OPERATORS[key](value, operand) for key, operand in wanted.items())
        return isinstance(value, Mapping) and all(fits(value.get(key), inner) for key, inner in wanted.items())
    if isinstance(wanted, list | tuple):
        same_length = isinstance(value, list | tuple) and len(value) == len(wanted)
        return same_length and all(fits(one, inner) for one, inner in zip(value, wanted, strict=True))
    return bool(value == wanted)


def has(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Say whether the fields of a memory match a search's filter."""
    return all(fits(value.get(field), one) for field, one in wanted.items())


def named_by(condition: MatchCondition, namespace: Namespace) -> bool:
    """Say whether a namespace has the condition's prefix or suffix; `*` matches any one label."""
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
