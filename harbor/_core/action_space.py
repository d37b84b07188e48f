"""What every action space offers: it is one value, and all that an ask, an answer and a prompt need follows from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import Decimal
from random import Random
from typing import Any, ClassVar

from harbor._core.actions import Action, Answer, Unreadable
from harbor._core.decisions import Decision
from harbor._core.last_answer import Heard, heard_in
from harbor._core.parsing import unfit

Facts = dict[str, Any]
"""What a prompt tells of a space."""


class ActionSpace(ABC):
    """The actions that answer an ask.

    A new space is a frozen dataclass of this class, and a line of `Space`. Its law: what `say` writes of a legal action
    is read as that action. A bidder whose answer fails to the end counts as withdrawn, in every space.
    """

    __slots__ = ()

    can_withdraw: ClassVar[bool] = False
    """Whether "I withdraw" is an answer; an answer that fails counts as a withdrawal in any case."""
    answer_name: ClassVar[str] = "answer"
    """What the auctioneer calls an answer."""

    @property
    def least(self) -> Decimal:
        """The least amount that can be named, or the price; 0 where no amount is named."""
        return Decimal(0)

    @property
    def most(self) -> Decimal:
        """The greatest amount that can be named, or the price; 0 where no amount is named."""
        return Decimal(0)

    @property
    @abstractmethod
    def call(self) -> str:
        """What the auctioneer tells any agent: what can be done, and in which words."""

    @property
    def in_words(self) -> str:
        """How an answer is said: the end of what the auctioneer tells."""
        _, say, how = self.call.rpartition("Say ")
        return f"{say}{how}".translate({ord("<"): None, ord(">"): None}).rstrip(".") if say else self.call

    @property
    @abstractmethod
    def hint(self) -> str:
        """What a person may type, after "Type"."""

    @abstractmethod
    def facts(self) -> Facts:
        """What a prompt tells."""

    @property
    @abstractmethod
    def reply(self) -> type[Decision]:
        """The shape of a model's reply, which gives the action."""

    @abstractmethod
    def refusal(self, action: Action) -> str:
        """Say why an action is not legal, in words for its bidder; empty if it is legal."""

    @abstractmethod
    def draw(self, rng: Random) -> Action:
        """Draw a legal action that is no withdrawal."""

    @abstractmethod
    def edges(self) -> tuple[Action, ...]:
        """List the legal actions at the bounds."""

    @abstractmethod
    def beyond(self) -> tuple[Action, ...]:
        """List actions just beyond the bounds, which are not legal."""

    @abstractmethod
    def _read(self, said: str, item: str) -> Answer:
        """Read an action from words that are fit to be read."""

    def read(self, said: str, item: str = "") -> Answer:
        """Read one action from what a bidder said; what could be meant otherwise is unreadable.

        A bidder may think aloud: then the last line or sentence that answers is the answer.

        Args:
            said: the words; over 2,000 characters, or with control characters, they are not read.
            item: the item's name, which may contain a number itself ("18 Tanner Row").
        """
        return unfit(said) or self.heard(said, item).answer

    def heard(self, said: str, item: str = "") -> Heard:
        """Read words of any length, and say which of them are the answer."""
        return heard_in(said, lambda words: unfit(words) or self._read(words, item))

    def say(self, answer: Answer) -> str:
        """Write an answer in words, so that `read` gives it back."""
        return answer.words

    def _spoken(self, said: str) -> Action | None:
        """Find, in a space of few actions, the one that is said in just these words, whatever the item is called."""
        return next((action for action in self.edges() if self.say(action) == said), None)

    def strange(self, action: Action) -> str:
        """Say why an action of another space is refused: what is wrong with its words, if they can't be read here."""
        heard = self.read(self.say(action))
        return heard.reason if isinstance(heard, Unreadable) else f"{action.words!r} is no answer to this call"


class BidSpace(ActionSpace):
    """A space in which a bidder bids from `minimum` to `maximum`, or withdraws."""

    __slots__ = ()

    minimum: Decimal
    maximum: Decimal
    can_withdraw: ClassVar[bool] = True
    answer_name: ClassVar[str] = "bid"

    @property
    def least(self) -> Decimal:
        """The least bid."""
        return self.minimum

    @property
    def most(self) -> Decimal:
        """The greatest bid."""
        return self.maximum
