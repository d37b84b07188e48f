"""Filling prompts: a text file, strictly filled, with the facts as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from importlib.resources.abc import Traversable
from string import Template

from harbor._core.money import as_number
from harbor._models.prompt import Prompt, version_of
from harbor.graphs._context.node import SYSTEM, Facts


def fill(
    body: Traversable, who: Facts, facts: Facts, system: Traversable = SYSTEM, task: str = "", tells: Sequence[str] = ()
) -> Prompt:
    """Fill a prompt.

    Args:
        body: the file of the prompt.
        who: facts that stay the same all through the sale.
        facts: facts of this call.
        system: the file of the system prompt, which comes first.
        task: what the prompt is named, if it is not named after its file.
        tells: sentences that explain facts which the prompt does not know of.
    """
    task = task or body.name.removesuffix(".md")
    opening, wanted = _text(system), _text(body)
    known = {"task": task} | dict(facts) | {"task": task}  # it comes first, and no fact of that name takes its place
    told = "".join(f"{sentence}\n" for sentence in tells) + "\n" if tells else ""
    return Prompt(
        name=task,
        system=opening.substitute(facts=as_json(who)),
        human=told + wanted.substitute(facts=as_json(known)),
        version=version_of(opening.template + told + wanted.template),
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
