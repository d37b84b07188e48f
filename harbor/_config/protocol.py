"""What a bidder's model is told and asked: settings of the protocol, and bundles of them by paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from harbor._config import econarena
from harbor._config.own_replies import OwnReplies
from harbor._core.prompts import texts_in
from harbor._core.settings import TAG, Dollars, Settings

ProtocolName = Literal["native", "harbor", "aucarena", "econarena", "alympics"]


@dataclass(frozen=True, slots=True)
class Bundle:
    """What a paper's prompts gave a model, as settings; the texts stand in the folder of prompts of the same name.

    `games` are those that it knows (empty: all). `settings` are the defaults of settings that are not given. A text
    that it lacks is taken from the bundle that it comes `after`, if any, and else from the native ones. `profiles` says
    in what profiles are asked: shares in percent, or weights from -1 to 1. `replies` are its own forms of answer, by
    game; where it has none, an answer has Harbor's.
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
HARBOR = {**AUCARENA, "predict": False}
ONE_CALL = {"planning": "none", "believe": False}
BUNDLES: Mapping[str, Bundle] = MappingProxyType(
    {
        "native": Bundle("Harbor's own"),
        "harbor": Bundle("Harbor, sec. 3 and App. C to F", ("english",), HARBOR, after="aucarena", profiles="weights"),
        "aucarena": Bundle("AucArena, sec. 3 and App. A", ("english",), AUCARENA, profiles="weights"),
        "econarena": Bundle(
            "EconArena, sec. 3 and App. B",
            ("beauty", "second-price", "first-price", "english-private"),
            {**IN_WORDS, "context": "fresh", **ONE_CALL, "chain_of_thought": False},
            replies=econarena.REPLIES,
        ),
        "alympics": Bundle("Alympics, sec. 4 and App. A", ("water",), {**IN_WORDS, **ONE_CALL}),
    }
)
"""The bundles by name."""


def own_texts(given: Any) -> Any:
    """Read the prompts of a folder; texts by name are taken as they are."""
    return texts_in(given) if isinstance(given, str) else given


def with_texts(settings: Any) -> Any:
    """Put the texts in place of each folder of prompts that settings name, at any depth."""
    if isinstance(settings, dict):
        return {key: own_texts(value) if key == "prompts" else with_texts(value) for key, value in settings.items()}
    return [with_texts(value) for value in settings] if isinstance(settings, list | tuple) else settings


def _word_or_amount(given: Any) -> Any:
    """Refuse any other word in one sentence."""
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
    """What a model is told, and how it answers.

    Attributes:
        protocol: A bundle: it has prompts of its own, and the default of every other setting of a mind.
        reply: How it answers: by "tool" calls, as "json", as "text" (bids in words, or in the protocol's own form,
            and all else as JSON in plain text), or as the settings of the "model" say.
        context: "fresh" for each call, or a "dialogue": in it the model reads its own earlier calls and answers, on
            this item of a sale or in the whole game, so all its runs or days, whatever `history` the rules show.
        facts: Whether facts are told as "json" or in "prose".
        bounds: Whether a call names the least legal bid and the money left; if they are "untold", the model hears
            what it can work them out from. The price of a clock is what is asked, so it is told in any case.
        hints: Whether it is told sentences that advise; the prompts of games of runs have none.
        relative_objective: Whether what counts is how it does compared with all rivals.
        persona_value: What an item that suits its persona counts for, in a game of listings: so many dollars more
            than its true value, as a preference that changes no score; or nothing more, as a persona is "style"; or
            the model is told neither ("unsaid").
        prompts: A folder with prompts of your own, in place of the bundle's. What Harbor writes of a run or a
            design has their texts, by name, and not the folder.
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
        """Whether profiles are asked as shares in percent, and not as weights."""
        return BUNDLES[self.protocol].profiles == "shares"

    @property
    def usual_persona_value(self) -> str:
        """What the protocol says of the value of a persona."""
        return str(BUNDLES[self.protocol].settings.get("persona_value", "style"))

    def set_by(self, name: str) -> str:
        """Say that the bundle set a setting, if its value is the bundle's; else nothing."""
        of_bundle = BUNDLES[self.protocol].settings.get(name) == getattr(self, name)
        return f", which protocol {self.protocol!r} sets," if of_bundle else ""

    @model_validator(mode="before")
    @classmethod
    def _of_the_bundle(cls, values: Any) -> Any:
        """Take from the bundle what is not given."""
        if not isinstance(values, dict):
            return values
        name = values.get("protocol", "native")
        bundle = BUNDLES.get(name) if isinstance(name, str) else None
        if bundle is None:
            return values
        idle = {"correct_beliefs"} if values.get("believe") is False else set()  # who believes nothing corrects nothing
        return {**{key: value for key, value in bundle.settings.items() if key not in idle}, **values}


OF_PROMPTS = ("protocol", "reply", "facts", "hints", "relative_objective", "prompts")
"""The settings that every prompt follows."""
