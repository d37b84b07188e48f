"""Filling prompts: a text, strictly filled, with the facts as JSON or in prose."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources.abc import Traversable
from string import Template
from typing import Any

from harbor._core.dialogue import EXPLAINED, Turn, news
from harbor._core.prompts import BLANK, TEXTS_KEPT, chosen, sent
from harbor._core.telling import as_json, block
from harbor._models.calls.prompt import Prompt, version_of
from harbor.graphs._context.node import NOTHING_MORE, Facts
from harbor.graphs._context.wording import OPENING, USUAL, Wording

ALWAYS = ("task", "game", "in_words")
"""What every prompt tells, whichever facts its text chooses."""
ADVICE = "true_per_estimate"
"""A fact that advises: it says how far off estimates were, before anybody has asked."""


def fill(
    body: Traversable,
    who: Facts,
    facts: Facts,
    system: Traversable,
    task: str = "",
    tells: Sequence[str] = (),
    shared: Facts = NOTHING_MORE,
    wording: Wording = USUAL,
    earlier: Sequence[Turn] | None = None,
    noted: Facts = NOTHING_MORE,
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
        wording: whose texts, and how facts are written.
        earlier: the turns before this call, in a dialogue.
        noted: facts that the prompt does not know of.
    """
    task = task or body.name.removesuffix(".md")
    opening, wanted = wording.text(OPENING, system), wording.text(task, body)
    turns = [_told(turn.task or task, turn.facts, wanted) for turn in earlier or ()]
    turns.append(_told(task, facts, wanted) | dict(noted))
    if not wording.hints:
        turns = [_without(ADVICE, turn) for turn in turns]
    answered = {turn.task: turn.answer for turn in earlier or () if turn.task}  # as good as told
    everything = as_json({**shared, **who, **answered}) + "".join(map(as_json, turns))
    if earlier is not None:
        tells = (*tells, EXPLAINED[wording.form])
    told = "".join(f"{sentence}\n" for sentence in tells) + "\n" if tells else ""
    rules, after_names = _around(opening, everything, wording)
    asked, after_known = _around(wanted, everything, wording)
    *before, last = (block(turn, wording.form) for turn in news(turns))
    text = f"{rules}{asked}{told}"
    return Prompt(
        name=task,
        system=f"{text}{block({**shared, **who}, wording.form)}{after_names}",
        human=f"{last}{after_known}",
        version=version_of(opening + told + wanted),
        stable=len(text) + (len(block(shared, wording.form)) - len("}\n</facts>") if shared else len("<facts>\n")),
        earlier=tuple((asked, turn.answer) for asked, turn in zip(before, earlier or (), strict=True)),
    )


def _without(name: str, facts: Any) -> Any:
    """Leave a fact out, at any depth."""
    if isinstance(facts, dict):
        return {key: _without(name, fact) for key, fact in facts.items() if key != name}
    return [_without(name, fact) for fact in facts] if isinstance(facts, list) else facts


def _told(task: str, facts: Facts, text: str) -> dict[str, Any]:
    """Give the facts that a text tells, in its order; the task is first, and no fact of that name takes its place."""
    names = chosen(text)
    told = facts if names is None else {name: facts[name] for name in (*ALWAYS, *names) if name in facts}
    return {"task": task} | dict(told) | {"task": task}


def _around(text: str, facts: str, wording: Wording) -> tuple[str, str]:
    """Give what a text says before and after its facts, without the parts that are not sent."""
    return _sides(sent(text, facts, wording.hints))


@lru_cache(TEXTS_KEPT)
def _sides(text: str) -> tuple[str, str]:
    before, after = (Template(side).substitute() for side in text.split(BLANK))
    return before, after
