"""Settings of a bidder's mind: the protocol by which the bidder is asked, and the steps of its reasoning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from harbor._config import protocol_replies
from harbor._config.protocol_replies import OwnReplies
from harbor._core.plugins.finding import asked
from harbor._core.prompts.prompts import texts_in
from harbor._core.settings import TAG, Dollars, Settings

ProtocolName = Literal["native", "harbor", "aucarena", "econarena", "alympics"]


@dataclass(frozen=True, slots=True)
class Bundle:
    """Settings that reproduce the prompts of a paper; the texts are in the folder of prompts of the same name.

    `games` are those that the bundle supports (empty: all). `settings` are the defaults of settings that are not given.
    A text that the bundle lacks comes from the bundle in `after`, if any, and else from the native ones. `profiles` is
    the form of profiles: shares in percent, or weights from -1 to 1. `replies` are the bundle's own reply forms, by
    game; other games have Harbor's forms.
    """

    source: str
    games: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    after: str = ""
    profiles: Literal["shares", "weights"] = "shares"
    replies: Mapping[str, OwnReplies] = field(default_factory=dict)


IN_WORDS = {"reply": "text", "context": "dialogue", "facts": "prose", "bounds": "untold"}
"""A dialogue in plain words, in which no call names the bounds of a bid."""
AUCARENA = {**IN_WORDS, "relative_objective": True, "correct_beliefs": "model", "persona_value": "unsaid"}
"""Settings of the protocol of AucArena."""
HARBOR = {**AUCARENA, "predict": False}
"""Settings of the protocol of the Harbor paper: AucArena's, without predictions."""
ONE_CALL = {"planning": "none", "believe": False}
"""Settings of a bidder that makes no plan and keeps no beliefs."""
BUNDLES: Mapping[str, Bundle] = MappingProxyType(
    {
        "native": Bundle("Harbor's own"),
        "harbor": Bundle("Harbor, sec. 3 and App. C to F", ("english",), HARBOR, after="aucarena", profiles="weights"),
        "aucarena": Bundle("AucArena, sec. 3 and App. A", ("english",), AUCARENA, profiles="weights"),
        "econarena": Bundle(
            "EconArena, sec. 3 and App. B",
            ("beauty", "second-price", "first-price", "english-private"),
            {**IN_WORDS, "context": "fresh", **ONE_CALL, "chain_of_thought": False},
            replies=protocol_replies.REPLIES,
        ),
        "alympics": Bundle("Alympics, sec. 4 and App. A", ("water",), {**IN_WORDS, **ONE_CALL}),
    }
)
"""The bundles by name."""


def own_texts(given: Any) -> Any:
    """Read the prompts of a folder; return texts by name unchanged."""
    return texts_in(given) if isinstance(given, str) else given


def with_texts(settings: Any) -> Any:
    """Replace each folder of prompts in settings, at any depth, by its texts."""
    if isinstance(settings, dict):
        return {key: own_texts(value) if key == "prompts" else with_texts(value) for key, value in settings.items()}
    return [with_texts(value) for value in settings] if isinstance(settings, list | tuple) else settings


def _word_or_amount(given: Any) -> Any:
    """Refuse any other word, in one sentence."""
    if isinstance(given, str) and given not in get_args(PersonaWord):
        raise ValueError("must be 'style', 'unsaid', or an amount of dollars, such as 5000")
    return given


PersonaWord = Literal["style", "unsaid"]
PersonaValue = Annotated[
    Annotated[PersonaWord, Tag(f"{TAG}word")] | Annotated[Dollars, Tag(f"{TAG}amount")],
    Discriminator(lambda given: f"{TAG}word" if isinstance(given, str) else f"{TAG}amount"),
    BeforeValidator(_word_or_amount),
]


class ProtocolSettings(Settings):
    """Content of the prompts of a model, and the form of its replies.

    Attributes:
        protocol: A bundle: it has prompts of its own, and the default of every other setting of a mind.
        reply: Form of the replies: "tool" calls, "json", "text" (bids in words, or in the protocol's own form, and all
            else as JSON in plain text), or as the settings of the "model" say.
        context: "fresh" for each call, or a "dialogue": in it the model reads its own earlier calls and replies, on
            this item of a sale or in the whole game (all runs or days), independent of `history` in the rules.
        facts: Whether facts are told as "json" or in "prose".
        bounds: Whether a call names the least legal bid and the money left. If they are "untold", the model can compute
            them from the facts. The price of a clock is the question itself, so it is always told.
        hints: Whether the prompts contain sentences that advise; the prompts of games of runs have none.
        relative_objective: Whether the objective is the result compared with all rivals.
        persona_value: Extra value of an item that suits the bidder's persona, in a game of listings. An amount: so
            many dollars above the true value, as a preference that changes no score. "style": nothing extra, because
            a persona is a style. "unsaid": the model is told neither.
        prompts: A folder with prompts of your own, instead of the bundle's. Files of a run or a design hold their
            texts, by name, and not the folder.
    """

    protocol: ProtocolName = "native"
    reply: Literal["model", "tool", "json", "text"] = "model"
    context: Literal["fresh", "dialogue"] = "fresh"
    facts: Literal["json", "prose"] = "json"
    bounds: Literal["told", "untold"] = "told"
    hints: bool = True
    relative_objective: bool = False
    persona_value: PersonaValue = "style"
    prompts: Annotated[dict[str, Annotated[str, Field(max_length=100_000)]], BeforeValidator(own_texts)] = Field(
        default_factory=dict
    )

    @property
    def asks_shares(self) -> bool:
        """Return whether profiles are shares in percent, and not weights."""
        return BUNDLES[self.protocol].profiles == "shares"

    @property
    def usual_persona_value(self) -> str:
        """The protocol's default of `persona_value`."""
        return str(BUNDLES[self.protocol].settings.get("persona_value", "style"))

    def set_by(self, name: str) -> str:
        """Return ", which protocol 'x' sets," if the setting has the value of the protocol; else an empty text."""
        of_bundle = BUNDLES[self.protocol].settings.get(name) == getattr(self, name)
        return f", which protocol {self.protocol!r} sets," if of_bundle else ""

    @model_validator(mode="before")
    @classmethod
    def _of_the_bundle(cls, values: Any) -> Any:
        """Fill in the bundle's defaults."""
        if not isinstance(values, dict):
            return values
        name = values.get("protocol", "native")
        bundle = BUNDLES.get(name) if isinstance(name, str) else None
        if bundle is None:
            return values
        idle = {"correct_beliefs"} if values.get("believe") is False else set()  # without beliefs, no correction
        return {**{key: value for key, value in bundle.settings.items() if key not in idle}, **values}


OF_PROMPTS = ("protocol", "reply", "facts", "hints", "relative_objective", "prompts")
"""The settings that every prompt follows."""


Placebo = Literal["none", "uniform", "shuffled", "another", "blank"]
"""Content of the prompts in place of the profiles that the theory of mind inferred."""


def _who_corrects(given: Any) -> Any:
    """Return "house" for true and "none" for false."""
    return {True: "house", False: "none"}[given] if isinstance(given, bool) else given


def _usual_bidding(told: dict[str, Any]) -> Literal["call", "limit"]:
    """Return the cheaper way, by limit, unless another setting needs a call for each bid.

    A node of the user's own may think at each call. With limits, such thoughts would come after the answer.
    """
    asks_calls = {told.get("reply"), told.get("context"), told.get("strategy")} & {"text", "dialogue", "on", "fused"}
    return "limit" if told.get("protocol") == "native" and not asks_calls and not told.get("nodes") else "call"


class MindSettings(ProtocolSettings):
    """The steps of a bidder's reasoning: a step that is switched off is not in its graph.

    Attributes:
        planning: "none" (neither plan nor replan), "static" (plan only), "adaptive" (both).
        believe: Whether the bidder updates its beliefs after each item or day, or forecasts.
        correct_beliefs: Corrector of errors in a belief before it is used: the "house", the "model" (it is told the
            error and asked again), or nobody ("none").
        theory_of_mind: "none", "true" (the bidder is told its rivals' personas), "inferred" (it profiles rivals from
            their bids), "second" (it also infers how rivals profile it).
        rivals: Calls about rivals after an item: "apart" (one call for the profile of each rival, one for how they
            profile the bidder, one for the forecasts), "together" (one call for all of these).
        predict: Whether a bidder with a theory of mind predicts rivals' limits, in one more call per item.
        placebo: Content that other thoughts get in place of the profiles, with the same calls: "uniform" (equal
            weights), "shuffled" (the weights, dealt to the personas by lot), "another" (of each rival the profile
            of the next), "blank" (empty ones), "none" (the profiles). The log keeps the inferred profiles.
        strategy: "off", "on" (an action is chosen before each bid), "fused" (action and bid in one call).
        nodes: Further thoughts: installed ones, or "package.module:NAME".
        bidding: "limit" (the model names a limit once per item, and the house raises for it up to there), "call" (the
            model is asked at each call). Default: by limit in the protocol "native", unless the game has no words for
            limits, or a strategy, a dialogue, a reply in words or a node of the user's own needs a call for each bid;
            else by call.
        chain_of_thought: Whether the model is asked to think step by step before it answers.
        memory: Memories of earlier auctions that are recalled: "none", "list" (all learnings), "retrieved" (the
            learnings nearest in meaning), "episodes" (the sales nearest in meaning), "full" (everything, newest first,
            within a budget of tokens).
        learning: Whether the bidder updates its list of learnings after an auction.
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
        """Return whether a model has these thoughts."""
        return True

    @property
    def remembers(self) -> bool:
        """Return whether the bidder uses a store of memories."""
        return self.memory != "none" or self.learning

    @property
    def profiles(self) -> bool:
        """Return whether the bidder profiles its rivals."""
        return self.theory_of_mind in ("inferred", "second")

    @property
    def judges_at_once(self) -> bool:
        """Return whether one call per item asks for all judgements about rivals."""
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
                f"placebo {self.placebo!r} replaces the results of a theory of mind; set theory_of_mind, or drop it"
            )
        return self


M = TypeVar("M", bound=MindSettings)


def as_usual_in(game: str, mind: M) -> M:
    """Return the mind with bidding by call if it names no way of bidding and the game has no words for limits.

    Raises:
        ConfigError: there is no such game.
    """
    if mind.bidding == "call" or "bidding" in mind.model_fields_set:
        return mind
    play = asked("game", game).play
    return mind if play and "limit" in play.thoughts else mind.model_copy(update={"bidding": "call"})


PLAYERS = ("model", "rule", "agent", "person")
"""The settings that choose the player of a bidder."""


def reseated(bidder: Mapping[str, Any], player: str, value: object) -> dict[str, Any]:
    """Return the settings of a bidder with another player, without the settings of the previous player.

    Args:
        bidder: settings of the bidder, as a file has them.
        player: one of `PLAYERS`.
        value: value of that setting.
    """
    gone = {*PLAYERS, "max_bids", "levels", *MindSettings.model_fields}
    return {**{key: kept for key, kept in bidder.items() if key not in gone}, player: value}
