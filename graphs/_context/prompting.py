"""Filling prompts: a text file, strictly filled, with the facts as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from importlib.resources.abc import Traversable
from string import Template

from harbor._core.money import as_number
from harbor._core.prompts import BLANK, sent
from harbor._models.prompt import Prompt, version_of
from harbor.graphs._context.node import NOTHING_MORE, SYSTEM, Facts


def fill(
    body: Traversable,
    who: Facts,
    facts: Facts,
    system: Traversable = SYSTEM,
    task: str = "",
    tells: Sequence[str] = (),
    shared: Facts = NOTHING_MORE,
) -> Prompt:
    """Fill a prompt: all that its files say before their facts, then who asks, then the facts of this call.

    So what changes least comes first, and the text is the same for every seat and game that sends the same facts.

    Args:
        body: the file of the prompt.
        who: facts that stay the same all through the sale.
        facts: facts of this call.
        system: the file of the system prompt, which comes first.
        task: what the prompt is named, if it is not named after its file.
        tells: sentences that explain facts which the prompt does not know of.
        shared: facts that are the same for all seats and games of a design.
    """
    task = task or body.name.removesuffix(".md")
    opening, wanted = _text(system), _text(body)
    known = as_json({"task": task} | dict(facts) | {"task": task})  # first, and no fact of that name takes its place
    names = as_json({**shared, **who})
    told = "".join(f"{sentence}\n" for sentence in tells) + "\n" if tells else ""
    rules, after_names = _around(opening, names + known)
    asked, after_known = _around(wanted, names + known)
    text = f"{rules}{asked}{told}<facts>\n"
    return Prompt(
        name=task,
        system=f"{text}{names}\n</facts>{after_names}",
        human=f"<facts>\n{known}\n</facts>{after_known}",
        version=version_of(opening + told + wanted),
        stable=len(text) + (len(as_json(shared)) - 1 if shared else 0),
    )


def _around(text: str, facts: str) -> tuple[str, str]:
    """Give what a text says before and after its facts, without the parts about facts that are not sent."""
    before, after = (Template(side).substitute() for side in sent(text, facts).split(BLANK))
    return before, after


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


_READ: dict[Traversable, str] = {}
"""The files that were read: a prompt stays as it was when a run began."""


def _text(file: Traversable) -> str:
    if file not in _READ:
        _READ[file] = file.read_text(encoding="utf-8")
    return _READ[file]
