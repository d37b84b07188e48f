"""Filling prompts: a text file, strictly filled, with the facts as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template
from typing import Any

from harbor._core.money import as_number
from harbor._models.client import Prompt, version_of

Facts = Mapping[str, Any]


PROMPTS = files("harbor.graphs._prompts")


def fill(
    name: str, who: Facts, facts: Facts, system: Traversable = PROMPTS / "system.md", body: Traversable | None = None
) -> Prompt:
    """Fill a prompt.

    Args:
        name: the prompt's name, which is its task.
        who: facts that stay the same all through the sale.
        facts: facts of this call.
        system: the file of the system prompt, which comes first.
        body: the file of the prompt; by default Harbor's own of that name.
    """
    opening, asked = _text(system), _text(body or PROMPTS / f"{name}.md")
    return Prompt(
        name=name,
        system=opening.substitute(facts=as_json(who)),
        human=asked.substitute(facts=as_json({"task": name, **facts})),
        version=version_of(opening.template + asked.template),
    )


def as_json(facts: Facts) -> str:
    """Write facts as one line of JSON that cannot close the block it stands in.

    Angle brackets and control characters inside texts are escaped.
    """
    text = json.dumps(facts, separators=(",", ":"), default=_number)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _number(value: object) -> int | float:
    if isinstance(value, Decimal):
        return as_number(value)
    raise TypeError(f"{value!r} is no fact: facts are texts, numbers, lists and tables")


_READ: dict[Traversable, Template] = {}
"""The files that were read: a prompt stays as it was when a run began."""


def _text(file: Traversable) -> Template:
    if file not in _READ:
        _READ[file] = Template(file.read_text(encoding="utf-8"))
    return _READ[file]
