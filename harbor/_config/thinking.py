"""The settings of a bidder's mind: the steps of its reasoning."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field, model_validator

from harbor._config.protocol import BUNDLES, ProtocolSettings
from harbor._core.finding import asked

Placebo = Literal["none", "uniform", "shuffled", "another", "blank"]
"""What a bidder is told of its rivals in place of what its theory of mind found out."""


def _who_corrects(given: Any) -> Any:
    """Take true for the house, and false for nobody."""
    return {True: "house", False: "none"}[given] if isinstance(given, bool) else given


def _usual_bidding(told: dict[str, Any]) -> Literal["call", "limit"]:
    """Choose the cheaper way, by limit, where no other setting asks for a call for each bid.

    A node of one's own may think at each call, which would be for nothing where the limit has answered already.
    """
    asks_calls = {told.get("reply"), told.get("context"), told.get("strategy")} & {"text", "dialogue", "on", "fused"}
    return "limit" if told.get("protocol") == "native" and not asks_calls and not told.get("nodes") else "call"


class MindSettings(ProtocolSettings):
    """The steps of a bidder's reasoning: a step that is switched off is not in its graph.

    Attributes:
        planning: "none" (neither plan nor replan), "static" (plan only), "adaptive" (both).
        believe: Whether it updates what it believes after each item or day, or forecasts.
        correct_beliefs: Who corrects errors in a belief before it is used: the "house", the "model", which is told
            what is wrong and asked again, or nobody ("none").
        theory_of_mind: "none", "true" (it is told its rivals' personas), "inferred" (it profiles them from how they
            bid), "second" (and how they profile it).
        rivals: How a bidder that profiles its rivals is asked about them after an item: "apart" (a call for the profile
            of each rival, one for how they profile it, one for the forecasts), "together" (one call for all of these).
        predict: Whether a bidder with a theory of mind predicts rivals' limits, in one more call per item.
        placebo: What other thoughts are told in place of the profiles, with the same calls: "uniform" (equal
            weights), "shuffled" (the weights, dealt to the personas by lot), "another" (of each rival the profile
            of the next), "blank" (empty ones), "none" (the profiles). The log keeps the profiles.
        strategy: "off", "on" (an action is chosen before each bid), "fused" (action and bid in one call).
        nodes: Further thoughts: installed ones, or "package.module:NAME".
        bidding: "limit" (the model says once per item how far it goes, and the house raises for it up to there), "call"
            (it is asked at each call). Without it: by limit in the protocol "native", unless the game has no words for
            that, or a strategy, a dialogue, a reply in words or a node of its own needs a call for each bid; else by
            call.
        chain_of_thought: Whether the model is asked to think step by step before it answers.
        memory: What is recalled of earlier auctions: "none", "list" (all learnings), "retrieved" (the learnings
            nearest in meaning), "episodes" (the sales nearest in meaning), "full" (everything, newest first, within
            a budget of tokens).
        learning: Whether it updates its list of learnings after an auction.
    """

    planning: Literal["none", "static", "adaptive"] = "adaptive"
    believe: bool = True
    correct_beliefs: Annotated[Literal["house", "model", "none"], BeforeValidator(_who_corrects)] = "house"
    theory_of_mind: Literal["none", "true", "inferred", "second"] = "none"
    rivals: Literal["apart", "together"] = "apart"
    predict: bool = True
    placebo: Placebo = "none"
    strategy: Literal["off", "on", "fused"] = "off"
    nodes: tuple[str, ...] = ()
    bidding: Literal["call", "limit"] = Field(default_factory=_usual_bidding)
    chain_of_thought: bool = True
    memory: Literal["none", "list", "retrieved", "episodes", "full"] = "none"
    learning: bool = False

    @property
    def uses_model(self) -> bool:
        """Whether a model has these thoughts."""
        return True

    @property
    def remembers(self) -> bool:
        """Whether the bidder uses a store of memories."""
        return self.memory != "none" or self.learning

    @property
    def profiles(self) -> bool:
        """Whether the bidder profiles its rivals."""
        return self.theory_of_mind in ("inferred", "second")

    @property
    def judges_at_once(self) -> bool:
        """Whether one call per item asks for all that the bidder thinks of its rivals."""
        return self.profiles and self.rivals == "together"

    @model_validator(mode="after")
    def _without_contradictions(self) -> Self:
        if self.bidding == "limit" and self.strategy != "off":
            raise ValueError(
                f"strategy {self.strategy!r} is chosen at each call, bidding 'limit' once per item; drop one"
            )
        if self.bidding == "limit" and self.context == "dialogue":
            raise ValueError(
                f"context 'dialogue'{self.set_by('context')} grows from call to call, bidding 'limit' has one per item;"
                " change one"
            )
        other = "bidding 'limit' asks for no bid" if self.bidding == "limit" else ""
        other = "strategy 'fused' asks for more than a bid" if self.strategy == "fused" else other
        if self.reply == "text" and other and not BUNDLES[self.protocol].replies:
            raise ValueError(f"reply 'text'{self.set_by('reply')} is a bid in words, and {other}; change one")
        if self.correct_beliefs != "house" and not self.believe:
            raise ValueError(f"correct_beliefs {self.correct_beliefs!r} is of beliefs, and believe is false; drop one")
        return self

    @model_validator(mode="after")
    def _together_where_profiled(self) -> Self:
        if self.rivals == "apart":
            return self
        if not self.profiles:
            raise ValueError(
                f"rivals 'together' asks for all profiles in one call, and theory_of_mind {self.theory_of_mind!r} asks"
                " for none; set it to 'inferred' or 'second', or drop rivals"
            )
        if not self.asks_shares:
            raise ValueError(
                f"rivals 'together' asks for shares, and protocol {self.protocol!r} for weights one by one; drop one"
            )
        if self.placebo != "none" and self.predict:
            raise ValueError(
                f"rivals 'together' predicts in the call that profiles, before placebo {self.placebo!r} can take the"
                " place of the profiles; drop one, or set predict to false"
            )
        return self

    @model_validator(mode="after")
    def _placebo_of_profiles(self) -> Self:
        if self.placebo != "none" and self.theory_of_mind == "none" and self.uses_model:
            raise ValueError(
                f"placebo {self.placebo!r} replaces what a theory of mind finds out; set theory_of_mind, or drop it"
            )
        return self


M = TypeVar("M", bound=MindSettings)


def as_usual_in(game: str, mind: M) -> M:
    """Return the mind by call if it names no way of bidding, and the game has no words for limits.

    Raises:
        ConfigError: there is no such game.
    """
    if mind.bidding == "call" or "bidding" in mind.model_fields_set:
        return mind
    play = asked("game", game).play
    return mind if play and "limit" in play.thoughts else mind.model_copy(update={"bidding": "call"})
