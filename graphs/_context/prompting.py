"""Filling prompts: a text, strictly filled, with the facts as JSON or in prose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

ALWAYS = ("task", "game", "in_words", "answer_keys")
"""What every prompt tells, whichever facts its text chooses."""
IN_SENTENCES = "Facts come in sentences: a name in backticks stands for what such a sentence tells."
"""Why Harbor's own texts, which name facts, fit prose."""
REFUSAL = ("refused", "attempt")
"""Facts of an earlier call that hold no longer."""
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
    explained: Iterable[str] = (),
    parts: Sequence[str] = (),
) -> Prompt:
    """Fill a prompt: all that its files say before their facts, then who asks, then the facts of this call.

    So what changes least comes first. Where the wording has one beginning for all calls, only the system prompt stands
    before the facts of the call, in which what is appended to comes first; what is asked comes last.

    Args:
        body: the file of the prompt.
        who: facts that stay the same all through the sale.
        facts: facts of this call.
        system: the file of the system prompt, which comes first.
        task: what the prompt is named, if it is not named after its file.
        tells: sentences that explain facts which the prompt does not know of.
        shared: more facts that stay the same.
        wording: whose texts, and how facts are written.
        earlier: the turns before this call, in a dialogue.
        noted: facts that the prompt does not know of.
        explained: facts of other calls, which the system prompt explains in this one too.
        parts: names of parts of the text that are sent though no fact brings them.
    """
    task = task or body.name.removesuffix(".md")
    opening, wanted = wording.text(OPENING, system), wording.text(task, body)
    turns = [_told(turn.task or task, turn.facts, wanted) for turn in earlier or ()]
    turns.append(_told(task, facts, wanted) | dict(noted))
    if not wording.hints:
        turns = [_without(ADVICE, turn) for turn in turns]
    stays = {**shared, **who}
    if wording.one_beginning:
        turns = [{**turn, "task": task} for turn in turns if (task := turn.pop("task"))]  # what changes comes last
        if "catalog" in stays:
            stays["catalog"] = stays.pop("catalog")  # last, as some calls lack it
    *before, last = (as_json(turn) for turn in news(turns))
    lasting = as_json(stays)
    answered = {turn.task: turn.answer for turn in earlier or () if turn.task}  # as good as told
    known = lasting + as_json({**answered, **dict.fromkeys(parts)}) + (_all_of(turns) if before else last)
    told = _explanations(tells, wording, dialogue=earlier is not None)
    rules, after_names = _around(opening, known + as_json(dict.fromkeys(explained)), wording)
    asked, after_known = _around(wanted, known, wording)
    if wording.one_beginning:
        asked, after_known = "", f"\n\n{(asked + after_known).strip()}"
    return Prompt(
        name=task,
        system=f"{rules}{asked}{told}{block(lasting, wording.form)}{after_names}",
        human=f"{block(last, wording.form)}{after_known}",
        version=version_of(opening + told + wanted),
        earlier=tuple((block(one, wording.form), turn.answer) for one, turn in zip(before, earlier or (), strict=True)),
    )


def _explanations(tells: Sequence[str], wording: Wording, *, dialogue: bool) -> str:
    """Write down what explains facts that the texts do not know of, or the form in which they come."""
    in_sentences = [IN_SENTENCES] if wording.one_beginning and wording.form == "prose" else []
    sentences = [*in_sentences, *tells, *([EXPLAINED[wording.form]] if dialogue else [])]
    return "".join(f"{sentence}\n" for sentence in sentences) + "\n" if sentences else ""


def _all_of(turns: Sequence[Facts]) -> str:
    """Write down all that a dialogue has told; why an earlier answer was refused is known no longer."""
    before = [{name: fact for name, fact in turn.items() if name not in REFUSAL} for turn in turns[:-1]]
    return "".join(map(as_json, (*before, turns[-1])))


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
