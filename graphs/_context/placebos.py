"""Placebos: what thoughts are told of rivals in place of what theory of mind found out about them.

The calls stay the same and the log keeps what was found out, so that better knowledge is told from more thinking.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harbor._config.thinking import Placebo
from harbor._core.seeding import stream
from harbor._core.thoughts import Mirrored, Profiled
from harbor._games.bidder_view import View
from harbor.graphs._context.node import ThoughtNode
from harbor.personas._catalog.traits import Profile

Profiles = Mapping[str, Profile]
"""Profiles by rival."""
FOUND = {"profile": "profiles", "mirror": "mirrors"}
"""The notes that are replaced, and the names of their streams of chance."""


def told(view: View, node: ThoughtNode, placebo: Placebo, seed: int) -> View:
    """Give what a thought knows of the rivals: all other thoughts than profiling itself are given the placebo.

    Args:
        view: with the profiles that were found out.
        node: that has the thought.
        placebo: of the bidder.
        seed: of the game.
    """
    if placebo == "none" or node.event in (Profiled, Mirrored):
        return view
    found = {name: view.notes[name] for name in FOUND if name in view.notes}
    instead = {name: _instead(view, profiles, placebo, seed, FOUND[name]) for name, profiles in found.items()}
    return replace(view, notes={**view.notes, **instead})


def _instead(view: View, found: Profiles, placebo: Placebo, seed: int, kind: str) -> Profiles:
    """Replace profiles: by equal weights, by shuffled ones, by the profile of the next rival, or by empty ones."""
    if placebo == "uniform":
        return {rival: dict.fromkeys(view.catalog, 0.0) for rival in found}
    if placebo == "shuffled":
        return {rival: _shuffled(found[rival], seed, view.name, rival, kind) for rival in found}
    if placebo == "another":
        following = dict(zip(view.rivals, (*view.rivals[1:], *view.rivals[:1]), strict=True))
        return {rival: found.get(following[rival], {}) for rival in found}
    return {rival: {} for rival in found}


def _shuffled(profile: Profile, seed: int, *names: str) -> Profile:
    """Deal the weights to the types in an order that depends on the seed alone, and not on whose they were."""
    order = stream(seed, "placebo", *names).sample(sorted(profile), len(profile))
    dealt = dict(zip(order, sorted(profile.values(), reverse=True), strict=True))
    return {persona: dealt[persona] for persona in profile}
