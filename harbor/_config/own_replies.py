"""A protocol's own form of answer: the fields that a model fills in, and the decision and beliefs that they mean."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import AliasChoices, AliasGenerator, ConfigDict
from pydantic.json_schema import SkipJsonSchema

from harbor._core.decisions import LONGEST_TEXT, Decision, Text
from harbor._core.parsing import scrub

Facts = Mapping[str, Any]


def key_of(name: str) -> str:
    """Give the key of a field as the paper writes it: with spaces.

    >>> key_of("popular_answer")
    'popular answer'
    """
    return name.replace("_", " ")


def _ask_for_all(schema: dict[str, Any]) -> None:
    """Ask a model for every field; a field that it leaves out all the same costs it nothing but this field."""
    schema["required"] = list(schema["properties"])


class OwnReply(Decision):
    """An answer in the form of a protocol, as its prompt explains it.

    A form has a field for each key of the paper, in its order; only the decision has no default. Tools name a field
    with underscores, as servers take no spaces there; a model may write it either way.
    """

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(name, key_of(name))),
        json_schema_extra=_ask_for_all,
    )

    reasons: SkipJsonSchema[Text] = ""

    @classmethod
    def all_keys(cls) -> tuple[str, ...]:
        """Name its keys, in order."""
        return tuple(key_of(name) for name in cls.model_fields if name != "reasons")

    @classmethod
    @abstractmethod
    def filled(cls, decided: Facts, facts: Facts, expected: Callable[[], float | None]) -> dict[str, Any]:
        """Fill it in as the built-in model does.

        Args:
            decided: what the model decided, in Harbor's form.
            facts: of the prompt.
            expected: gives what the model expects a rival to do, in the mean (None: the game expects nothing).
        """

    @property
    def why(self) -> str:
        """The reasons: those that the form asks for, or else the thoughts before it."""
        return str(self.values().get("reason") or self.reasons)

    @property
    def expects(self) -> Decimal | None:
        """What it expects each rival to do in this part of the game; None: the form does not ask for that."""
        return None

    def recalled(self, facts: Facts) -> dict[str, bool]:
        """Say of each field that asks for something known whether it is right."""
        return {}

    def values(self) -> dict[str, Any]:
        """Give what was filled in, by key."""
        return {key_of(name): getattr(self, name) for name in type(self).model_fields if name != "reasons"}

    def think(self, words: str) -> None:
        """Take the words before it for its reasons."""
        self.reasons = self.reasons or scrub(words).strip()[:LONGEST_TEXT]


@dataclass(frozen=True, slots=True)
class OwnReplies:
    """The forms of a protocol in one game.

    `first` is asked for before results of one's own are shown, and `later` after that. `thought` is asked for after a
    chain of thought, whatever is shown.
    """

    first: type[OwnReply]
    later: type[OwnReply]
    thought: type[OwnReply]

    @property
    def all(self) -> tuple[type[OwnReply], ...]:
        """All forms."""
        return self.first, self.later, self.thought

    def asked(self, chain_of_thought: bool, facts: Facts) -> type[OwnReply]:
        """Give the form that a call with these facts asks for."""
        if chain_of_thought:
            return self.thought
        return self.later if facts.get("your_results") else self.first
