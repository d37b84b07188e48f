"""The page of extension points: the fields of each kind's value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from harbor._core.plugins.extensions import KINDS, Kind, class_of
from harbor._core.plugins.finding import everything
from support.references.markdown import MADE, code, prose, table

HEAD = f"""# Extension points

What a package of yours can bring. Each is one value, found by its entry point once the package is installed, or named
as `"package.module:NAME"`. [Extensions](../using/extensions.md) shows how to begin.

{MADE}"""
NAMED: dict[Kind, str] = {
    "game": '`rules.game = "dutch"`',
    "node": '`nodes = ["reflect"]` of a bidder',
    "metric": "`metrics` of a design, and `harbor score`",
    "figure": "`figures` of a design",
    "policy": '`rule = "half-value"` of a bidder',
    "agent": '`agent = "mine"` of a bidder',
    "model": '`use = "mine"` in `[models.NAME]`',
    "catalogue": '`catalogue = "flowers@1"`',
}
"""The way in which settings name a value of each kind."""


def page() -> str:
    """Return the page as it should be."""
    return "\n".join([HEAD, *(line for kind in KINDS for line in _section(kind))]).rstrip() + "\n"


def _section(kind: Kind) -> Iterator[str]:
    group, cls = KINDS[kind][0], class_of(kind)
    yield f"## {kind.capitalize()}: `{cls.__name__}`\n"
    yield f"{prose(cls)}\n"
    yield f"- entry point: `{group}`; conformance suite: `harbor.testing.check_{kind}`; named as {NAMED[kind]}"
    own = [code(found.name) for found in everything(kind)]
    yield f"- Harbor's own: {', '.join(own) if own else 'none'}\n"
    yield from table(("part", "type", "has to be given"), [_part(one) for one in fields(cls)])


def _part(one: Field[Any]) -> tuple[str, str, str]:
    says = one.metadata.get("part", "")
    given = f"yes: {says}" if says else "" if one.default is MISSING or callable(one.default) else _default(one.default)
    return code(one.name), code(str(one.type)), given


def _default(value: Any) -> str:
    if value in (None, "", ()) or is_dataclass(value):  # a dataclass may hold functions without a stable name
        return "no"
    return f"no: `{value.__name__ if isinstance(value, type) else value!r}`"
