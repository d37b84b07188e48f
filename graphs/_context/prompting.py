"""Filling prompts: a text file, strictly filled, with the facts as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from harbor._core.money import as_number
from harbor._models.client import Prompt, version_of

Facts = Mapping[str, Any]


PROMPTS = "harbor.graphs._prompts"


def fill(name: str, who: Facts, facts: Facts, system: str = "system", package: str = PROMPTS) -> Prompt:
    """Fill a prompt.

    Args:
        name: the prompt's file without its ending.
        who: facts that stay the same all through the sale.
        facts: facts of this call.
        system: the file of the system prompt, which comes first.
        package: where the files are.
    """
    opening, body = _text(package, system), _text(package, name)
    return Prompt(
        name=name,
        system=opening.substitute(facts=as_json(who)),
        human=body.substitute(facts=as_json({"task": name, **facts})),
        version=version_of(opening.template + body.template),
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


@cache
def _text(package: str, name: str) -> Template:
    return Template((files(package) / f"{name}.md").read_text(encoding="utf-8"))
