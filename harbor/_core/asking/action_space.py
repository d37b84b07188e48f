"""The interface of all action spaces, and the spaces without a number: a price, a choice, words.

A space is one value from which everything follows that an ask, an answer and a prompt need.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any, ClassVar, Literal

from harbor._core.asking.answers import Heard, heard_in
from harbor._core.asking.decisions import Decision, PriceReply, WordsReply, choice_of
from harbor._core.basics.actions import (
    FIRST,
    LONGEST,
    NUMBER,
    Accept,
    Action,
    Answer,
    Choose,
    Say,
    Unreadable,
    Wait,
    printable,
    straight,
    unfit,
    without,
)
from harbor._core.basics.numbers import Money, dollars

Facts = dict[str, Any]
"""Facts about a space, by the name that a prompt uses."""


class ActionSpace(ABC):
    """The actions with which a bidder can answer an ask.

    A new space is a frozen dataclass that inherits from this class, and is added to the union `Space`. For every legal
    action, `read(say(action))` must return that action. In every space, a bidder withdraws if all its attempts to
    answer fail.
    """

    __slots__ = ()

    can_withdraw: ClassVar[bool] = False
    """True if "I withdraw" is an answer. A failed answer always counts as a withdrawal."""
    answer_name: ClassVar[str] = "answer"
    """The auctioneer's word for an answer."""

    @property
    def least(self) -> Decimal:
        """The least legal bid, or the price if a bidder can only accept it or wait; 0 in all other spaces."""
        return Decimal(0)

    @property
    def most(self) -> Decimal:
        """The greatest legal bid, or the price if a bidder can only accept it or wait; 0 in all other spaces."""
        return Decimal(0)

    @property
    @abstractmethod
    def call(self) -> str:
        """The auctioneer's sentence, which tells any agent the possible actions and how to say them."""

    @property
    def in_words(self) -> str:
        """The end of `call` that says how to answer."""
        _, say, how = self.call.rpartition("Say ")
        return f"{say}{how}".translate({ord("<"): None, ord(">"): None}).rstrip(".") if say else self.call

    @property
    @abstractmethod
    def hint(self) -> str:
        """The answers that a person may type, in words that continue a sentence which begins with "Type"."""

    @abstractmethod
    def facts(self) -> Facts:
        """Return the facts about this space that a prompt tells, by name."""

    @property
    @abstractmethod
    def reply(self) -> type[Decision]:
        """The Pydantic class of a model's reply; each reply of this class means an action."""

    @abstractmethod
    def refusal(self, action: Action) -> str:
        """Return the reason, in words for the bidder, why an action is not legal; empty if it is legal."""

    @abstractmethod
    def draw(self, rng: Random) -> Action:
        """Draw a legal action other than a withdrawal."""

    @abstractmethod
    def edges(self) -> tuple[Action, ...]:
        """Return the legal actions at the bounds of the space, such as the least and the greatest bid."""

    @abstractmethod
    def beyond(self) -> tuple[Action, ...]:
        """Return actions just beyond the bounds of the space, which are refused because they are not legal."""

    @abstractmethod
    def _read(self, said: str, item: str) -> Answer:
        """Read an action from words that `unfit` does not refuse."""

    def read(self, said: str, item: str = "") -> Answer:
        """Read one action from a bidder's words; ambiguous words are unreadable.

        If a bidder thinks aloud, the last line or sentence that names an action is the answer.

        Args:
            said: the words. Words over 2,000 characters or with control characters are not read.
            item: the item's name, which may contain a number itself ("18 Tanner Row").
        """
        return unfit(said) or self.heard(said, item).answer

    def heard(self, said: str, item: str = "") -> Heard:
        """Read words of any length, and return the answer with the part of the words that says it."""
        return heard_in(said, lambda words: unfit(words) or self._read(words, item))

    def say(self, answer: Answer) -> str:
        """Write an answer in words from which `read` returns the same answer."""
        return answer.words

    def _spoken(self, said: str) -> Action | None:
        """Return the action that is said in exactly these words, for any item name. For spaces of few actions."""
        return next((action for action in self.edges() if self.say(action) == said), None)

    def strange(self, action: Action) -> str:
        """Return the reason why an action that belongs to another space is refused in this space."""
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


_SENTENCE = re.compile(r"(?<=[.!;])\s+|\n+")
_ENDS = r"""[\s.!,;:*"']*"""
_ACCEPT = re.compile(
    rf"{_ENDS}(?:(?:ok|okay|yes|sure|fine|well|alright|right|deal)\W+)?(?:{FIRST}\s+)?(?:hereby\s+)?"
    r"(?:accept|take it|buy it)"
    r"(?:\s+(?:it|this|that|the|price|offer|now|at|for|of|please))*"
    rf"(?:\s+\$?\s?(?P<price>{NUMBER})(?:\s+(?:dollars|usd))?)?(?:\s+(?:now|for|it|please))*{_ENDS}",
    re.IGNORECASE | re.ASCII,
)
_WAIT = re.compile(
    rf"{_ENDS}(?:(?:ok|okay|no|well|sorry|fine)\W+)?"
    rf"(?:(?:{FIRST}\s+)?(?:wait|keep waiting|hold)|(?:i'm|i am|we're|we are) waiting|not (?:yet|now))"
    rf"(?:\s+(?:for|it|on|now|a|bit|little|moment|longer|please))*{_ENDS}",
    re.IGNORECASE | re.ASCII,
)
_UNSURE = re.compile(
    r"\b(?:not|never|no|or|nor|if|unless|until|when|but|maybe|perhaps|might|could|would|should|rather|instead|refuse"
    r"|cannot|decline|accept\w*|wait\w*|hold\w*|withdraw\w*|take it|buy it)\b|n't\b|\?",
    re.IGNORECASE,
)
"""Words that a sentence beside the answer may not contain, because the sentence could take the answer back."""


@dataclass(frozen=True, slots=True)
class AcceptOrWait(ActionSpace):
    """Space of two actions: accept a price in dollars, or wait and stay in the bidding."""

    price: Money
    kind: Literal["accept-or-wait"] = field(default="accept-or-wait", kw_only=True, repr=False, compare=False)

    @property
    def least(self) -> Decimal:
        """The price."""
        return self.price

    @property
    def most(self) -> Decimal:
        """The price."""
        return self.price

    @property
    def call(self) -> str:
        """The auctioneer's sentence, which tells the price, and how to accept or to wait."""
        return f"the price is {dollars(self.price)}. Say 'I accept' or 'I wait'."

    @property
    def hint(self) -> str:
        """The two answers that a person may type."""
        return "accept, or: wait"

    def facts(self) -> Facts:
        """Return the price, which is the only fact that a prompt tells."""
        return {"price": self.price}

    @property
    def reply(self) -> type[Decision]:
        """The class of replies that accept or wait."""
        return PriceReply

    def refusal(self, action: Action) -> str:
        """Return the reason why an action is refused; empty for `Accept` and `Wait`.

        >>> AcceptOrWait(Decimal(40)).refusal(Accept())
        ''
        """
        return "" if isinstance(action, Accept | Wait) else self.strange(action)

    def draw(self, rng: Random) -> Action:
        """Draw one of the two actions."""
        return rng.choice(self.edges())

    def edges(self) -> tuple[Action, ...]:
        """Return both actions."""
        return Accept(), Wait()

    def beyond(self) -> tuple[Action, ...]:
        """Return the choice of an option, which this space refuses."""
        return (Choose("accept"),)

    def _read(self, said: str, item: str) -> Answer:
        """Read the one sentence that accepts or waits, if no other sentence casts doubt on it."""
        if (spoken := self._spoken(said)) is not None:
            return spoken
        sentences = _SENTENCE.split(without(item, straight(said)).strip())
        accepts = [found for sentence in sentences if (found := _ACCEPT.fullmatch(sentence))]
        waits = [sentence for sentence in sentences if _WAIT.fullmatch(sentence)]
        others = [sentence for sentence in sentences if not (_ACCEPT.fullmatch(sentence) or _WAIT.fullmatch(sentence))]
        if len(accepts) + len(waits) != 1 or any(map(_UNSURE.search, others)):
            return Unreadable("not a plain 'I accept' or 'I wait'")
        if waits:
            return Wait()
        named = accepts[0]["price"]
        if named and Decimal(named.replace(",", "")) != self.price:
            return Unreadable(f"the price is {dollars(self.price)} and no other")
        return Accept()


@dataclass(frozen=True, slots=True)
class Choice(ActionSpace):
    """Space in which a bidder chooses one of the options."""

    options: tuple[str, ...]
    kind: Literal["choice"] = field(default="choice", kw_only=True, repr=False, compare=False)

    @property
    def call(self) -> str:
        """The auctioneer's sentence, which tells the options, and how to choose one."""
        return f"choose one of: {self._listed}. Say 'I choose <option>'."

    @property
    def hint(self) -> str:
        """The options; a person may type one of them."""
        return f"one of: {self._listed}"

    def facts(self) -> Facts:
        """Return the options."""
        return {"options": list(self.options)}

    @property
    def reply(self) -> type[Decision]:
        """The class of replies that name one of the options."""
        return choice_of(self.options)

    def refusal(self, action: Action) -> str:
        """Return the reason why an action is refused; empty if it chooses one of the options.

        >>> print(Choice(("stay", "go")).refusal(Choose("wait")))
        'wait' is none of: "stay", "go"
        """
        if not isinstance(action, Choose):
            return self.strange(action)
        return "" if action.option in self.options else f"{printable(action.option)!r} is none of: {self._listed}"

    def draw(self, rng: Random) -> Action:
        """Draw one of the options, and return the action that chooses it."""
        return Choose(rng.choice(self.options))

    def edges(self) -> tuple[Action, ...]:
        """Return for each option the action that chooses it."""
        return tuple(map(Choose, self.options))

    def beyond(self) -> tuple[Action, ...]:
        """Return the choice of an option that does not exist, which this space refuses."""
        return (Choose(" or ".join((*self.options, "none"))),)

    def _read(self, said: str, item: str) -> Answer:
        if (spoken := self._spoken(said)) is not None:
            return spoken
        text = straight(said).strip()
        chosen = [option for option in self.options if _choosing(option).fullmatch(text)]
        return Choose(chosen[0]) if len(chosen) == 1 else Unreadable("not a plain choice of one option")

    @property
    def _listed(self) -> str:
        return ", ".join(f'"{printable(option)}"' for option in self.options)


def _choosing(option: str) -> re.Pattern[str]:
    lead = rf"(?:(?:{FIRST}\s+(?:choose|pick|select|take)|my (?:choice|pick|answer)(?: is|:)?):?\s+)?"
    return re.compile(rf"""{lead}["'*]*{re.escape(straight(option))}["'*]*[.!]?["'*]*""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Words(ActionSpace):
    """Space in which a bidder says something in up to `longest` characters (2,000 at most)."""

    longest: int = 1_000
    kind: Literal["words"] = field(default="words", kw_only=True, repr=False, compare=False)

    @property
    def call(self) -> str:
        """The auctioneer's sentence, which tells the greatest length of a text, in characters."""
        return f"say what you want to say, in at most {self.longest:,} characters."

    @property
    def hint(self) -> str:
        """The greatest length, in characters, of the text that a person may type."""
        return f"a text of at most {self.longest:,} characters"

    def facts(self) -> Facts:
        """Return the greatest length of a text, in characters."""
        return {"longest": self.longest}

    @property
    def reply(self) -> type[Decision]:
        """The class of replies that contain a text."""
        return WordsReply

    def refusal(self, action: Action) -> str:
        """Return the reason why a text can't be passed on; empty if it can.

        >>> Words(longest=5).refusal(Say("Peace!"))
        '6 characters are more than 5'
        """
        if not isinstance(action, Say):
            return self.strange(action)
        if not action.words.strip():
            return "nothing was said"
        if len(action.words) > min(self.longest, LONGEST):
            return f"{len(action.words):,} characters are more than {self.longest:,}"
        return "" if unfit(action.words) is None else "not plain text"

    def draw(self, rng: Random) -> Action:
        """Draw a text of random letters and of random length."""
        return Say("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(1, self.longest))))

    def edges(self) -> tuple[Action, ...]:
        """Return the shortest and the longest text."""
        return Say("a"), Say("a" * self.longest)

    def beyond(self) -> tuple[Action, ...]:
        """Return two texts that this space refuses: an empty one, and one with a character too many."""
        return Say(""), Say("a" * (self.longest + 1))

    def _read(self, said: str, item: str) -> Answer:
        return Say(said)
