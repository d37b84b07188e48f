"""The ascending auction's versions of Harbor's thoughts: prompts, facts, and answers of the built-in model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from random import Random
from typing import Any

from harbor._config.auction import Simulated
from harbor._core.prompts.prompts import Turn
from harbor._games.bidder_view import View
from harbor._games.english import all_rivals, facts, policy, thought_facts
from harbor._games.english.all_rivals import retold
from harbor._games.game import Facts, Thought, Values
from harbor._games.replies import (
    BeliefReply,
    FusedReply,
    LimitReply,
    Plan,
    Row,
    chosen,
    covers,
    profiles,
    recalled,
    weights_over,
)

PROMPTS = files("harbor._games.english") / "prompts"


def plan(view: View, more: Facts | None = None) -> Row:
    """Return the facts for a plan over the next items."""
    known = {**recalled(view), **facts.coming(view), **facts.progress(view), "budget": view.budget, **(more or {})}
    return {**known, **facts.rivals(view), "catalog": view.catalog} if view.profiles else known


def replan(view: View) -> Row:
    """Return the facts of `plan`, the plan so far, and the belief in force."""
    return plan(view, {"plan": view.plan, **facts.belief(facts.current_belief(view), facts.long_over(view.results))})


def profile(view: View, rival: str, item: str) -> Row:
    """Return a rival's bidding on an item, and its profile so far."""
    return {**facts.bidding_record(view, item, rival), **of_types(view), "profile": weights(view, rival)}


def mirror(view: View, items: Sequence[str]) -> Row:
    """Return this bidder's bidding on the items that are over, and its rivals' likely profiles of it so far."""
    old = view.mirrors
    return {
        **of_types(view),
        "items": [facts.bidding_record(view, item, view.name) for item in items],
        "profiles_of_you": [
            {"rival": rival, "profile": weights_over(view.catalog, old.get(rival, {}))} for rival in view.rivals
        ],
    }


def predict(view: View) -> Row:
    """Return the next items and the facts about the rivals."""
    is_known = any([*view.profiles.values(), *view.mirrors.values()])
    types = of_types(view) if is_known else {}
    return {**recalled(view), **types, **facts.coming(view), **facts.money(view), **facts.rivals(view)}


def strategize(view: View) -> Row:
    """Return the recalled memories, the facts of the auctioneer's call, and those about the rivals."""
    known = {name: fact for name, fact in facts.call(view).items() if name != "in_words"}
    return {**recalled(view), **known, **profiles(view)}


def bid(view: View) -> Row:
    """Return the call and the strategic action for it."""
    return {**recalled(view), **facts.call(view, in_turns=True), **chosen(view.notes.get("strategize"))}


def fused(view: View) -> Row:
    """Return the call and the facts about the rivals."""
    return {**recalled(view), **facts.call(view, in_turns=True), **profiles(view)}


def limit(view: View) -> Row:
    """Return the call."""
    return {**recalled(view), **facts.call(view)}


def believe(view: View, **known: Any) -> Row:  # noqa: ARG001
    """Return the facts that the node compares."""
    return known


def learn(view: View, learnings: Sequence[str]) -> Row:
    """Return the results of all items, and the earlier learnings."""
    return {
        "history": [facts.history(result) for result in view.results],
        "results": facts.results(view),
        "profits": facts.belief(view.truth())["profits"],
        "learnings": learnings,
    }


def of_types(view: View) -> Row:
    """Return the types of rivals."""
    return {"catalog": view.catalog}


def weights(view: View, rival: str) -> dict[str, float]:
    """Return the profile of a rival so far."""
    return weights_over(view.catalog, view.profiles.get(rival, {}))


def own(view: View) -> bool:
    """Return whether a bidder reads Harbor's own prompts, not those of a paper."""
    return view.mind.protocol == "native"


def _thought(
    name: str,
    of_paper: Callable[..., Facts],
    answer: Callable[[Facts, Simulated, Random], Values],
    when: Callable[[View], bool] | None = None,
    **more: Any,
) -> Thought:
    of_own = getattr(thought_facts, name)

    def told(view: View, *about: Any, **known: Any) -> Facts:
        return of_own(view, *about, **known) if own(view) else of_paper(view, *about, **known)

    return Thought(prompt=PROMPTS / f"{name}.md", facts=told, answer=retold(answer), when=when, **more)


def _covers(reply: Plan, view: View) -> str:
    listed = thought_facts.coming(view) if own(view) else view.coming[: facts.SHOWN]
    return covers(reply, [lot.name for lot in listed])


def _turns(view: View) -> Sequence[Turn] | None:
    return thought_facts.turns(view) if own(view) else facts.turns(view)


THOUGHTS: Mapping[str, Thought] = {
    "plan": _thought("plan", plan, policy.plan, reply=Plan, check=_covers, when=lambda _: True),
    "replan": _thought("replan", replan, policy.plan, reply=Plan, check=_covers, when=facts.any_affordable),
    "profile": _thought("profile", profile, policy.profile),
    "mirror": _thought("mirror", mirror, policy.mirror),
    "rivals": Thought(prompt=PROMPTS / "rivals.md", facts=all_rivals.told, answer=all_rivals.rivals),
    "predict": _thought("predict", predict, policy.predict, when=facts.worth_predicting),
    "strategize": _thought("strategize", strategize, policy.strategize),
    "bid": _thought("bid", bid, policy.bid, turns=_turns),
    "fused": _thought("fused", fused, policy.fused, reply=FusedReply, turns=_turns),
    "limit": _thought("limit", limit, policy.limit, reply=LimitReply),
    "believe": _thought(
        "believe", believe, policy.believe, reply=BeliefReply, when=lambda view: view.goes_on or not own(view)
    ),
    "learn": _thought("learn", learn, policy.learn),
}
