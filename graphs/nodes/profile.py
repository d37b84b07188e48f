"""Profile: after an item, weigh for every rival which personas explain how it bid.

Source: Harbor sec. 3.4.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import cast

from harbor.asks import Pause
from harbor.events import Event
from harbor.graphs import facts
from harbor.graphs.replies import ProfileReply, Weight
from harbor.graphs.state import Thinking, Thought, Update
from harbor.memory.notebook import Notebook
from harbor.thoughts import Profiled


async def profile(state: Thinking, thought: Thought) -> Update:
    """Ask about all rivals at once, one call a rival; items are learned from in their order."""
    notebook = state["notebook"]
    profiled: list[Profiled] = []
    failures: list[BaseException] = []
    for item in cast(Pause, state["ask"]).closed:
        ledgers = [list[Event]() for _ in notebook.rivals]  # in the order of rivals, not of answers
        calls = (
            _profile(notebook, thought.noting(ledger.append), item, rival)
            for rival, ledger in zip(notebook.rivals, ledgers, strict=True)
        )
        try:
            answers = await asyncio.gather(*calls, return_exceptions=True)
        finally:
            for call in chain(*ledgers):
                thought.note(call)
        failures += [answer for answer in answers if isinstance(answer, BaseException)]
        news = [answer for answer in answers if isinstance(answer, Profiled)]
        notebook = notebook.after(news)
        profiled += news
    update = thought.conclude(*profiled)
    if failures:  # what was concluded about the other rivals stands
        raise failures[0]
    return update


async def _profile(notebook: Notebook, thought: Thought, item: str, rival: str) -> Profiled:
    old = notebook.profiles.get(rival, {})
    known = {**facts.conduct(notebook, item, rival), "profile": weights_over(notebook.catalog, old)}
    reply = await thought.model.ask(thought.prompt("profile", notebook, known), ProfileReply)
    weights, repaired = mend(reply.weights, notebook.catalog, old)
    return Profiled(notebook.name, rival, item, weights, repaired)


def weights_over(catalog: Iterable[str], old: Mapping[str, float]) -> dict[str, float]:
    """Give a weight for each persona of the catalog: zero where there is none yet."""
    return {persona: old.get(persona, 0.0) for persona in catalog}


def mend(said: list[Weight], catalog: Iterable[str], old: Mapping[str, float]) -> tuple[dict[str, float], int]:
    """Clip weights to -1..1, keep the old one where one is missing, drop those of no persona; count all of that."""
    named = {weight.persona: weight.weight for weight in said}
    weights = {
        persona: max(-1.0, min(1.0, named.get(persona, before)))
        for persona, before in weights_over(catalog, old).items()
    }
    clipped = sum(abs(weight) > 1 for persona, weight in named.items() if persona in weights)
    return weights, clipped + len(set(weights) ^ set(named))
