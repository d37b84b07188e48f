"""What is audited: the settings with their items listed, and the built-in model and scripts where others would play."""

from __future__ import annotations

from harbor._config.auction import AuctionConfig, Bidder, Houses
from harbor._config.models import BUILT_IN, ModelSettings
from harbor._runs.items import with_items

HASHING = "hashing"


def prepared(config: AuctionConfig, trusted: bool = True) -> tuple[AuctionConfig, list[str]]:
    """Give settings of a game that contacts nobody and writes nothing, and sentences that say what was replaced.

    Args:
        config: the settings.
        trusted: whether agents that they name may be loaded.
    """
    notes = []
    bidders, models = [], {}
    for bidder in config.bidders:
        seated, why = _seated(bidder, trusted)
        notes += [why] if why else []
        if seated.uses_model:
            settings = config.models.get(bidder.model) or ModelSettings(use=bidder.model)
            if settings.use != BUILT_IN:
                notes.append(f"{bidder.name}: the built-in model plays in place of {bidder.model!r}")
            seated = seated.model_copy(update={"model": f"model of {bidder.name}"})
            models[seated.model] = ModelSettings(repairs=settings.repairs, simulated=settings.simulated)
        bidders.append(seated)
    memory = config.memory.model_copy(update={"store": None, "embedding": HASHING})
    if config.memory.embedding != HASHING:
        notes.append(f"memories are found by hashing in place of {config.memory.embedding!r}")
    if config.memory.store is not None:
        notes.append(f"the memories in {config.memory.store!r} are not opened; memories begin empty")
    if config.series is not None:
        notes.append("of the series, as many auctions are held as a secret needs: two where memories are audited")
    changes = {"bidders": tuple(bidders), "models": models, "memory": memory, "series": None}
    ready = config.model_copy(update=changes)
    return with_items(ready) if isinstance(ready.items, Houses) else ready, notes


def _seated(bidder: Bidder, trusted: bool) -> tuple[Bidder, str]:
    """Give the bidder, or one with a script in its place where nobody is there to play it."""
    if isinstance(bidder.agent, str) and trusted:
        return bidder, ""
    if not bidder.agent and not bidder.person:
        return bidder, ""
    agent = "your agent" if bidder.agent is True else f"the agent {str(bidder.agent)!r}"
    whom = "a person" if bidder.person else agent
    scripted = bidder.model_copy(update={"agent": False, "person": False, "rule": "rational"})
    return scripted, f"{bidder.name}: the rule 'rational' plays in place of {whom}"
