"""The base of every action space, and the spaces without a number: a price, a choice, words.

A space is one value; an ask, an answer and a prompt take all they need from it.
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
"""The facts of a space that a prompt shows, by name."""


class ActionSpace(ABC):
    """The base of action spaces: the set of legal actions with which a bidder can answer an ask.

    A new space is a frozen dataclass that inherits from this class, and is listed in `Space`. If `say` writes a legal
    action in words, `read` has to return that action from the words. In every space, a bidder whose attempts to answer
    all fail counts as withdrawn.
    """

    __slots__ = ()

    can_withdraw: ClassVar[bool] = False
    """True if "I withdraw" is an answer; an answer that fails counts as a withdrawal in any case."""
    answer_name: ClassVar[str] = "answer"
    """The auctioneer's word for an answer."""

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
        """The auctioneer's instructions to any agent: the legal actions, and their wording."""

    @property
    def in_words(self) -> str:
        """The wording of an answer: the end of the auctioneer's instructions."""
        _, say, how = self.call.rpartition("Say ")
        return f"{say}{how}".translate({ord("<"): None, ord(">"): None}).rstrip(".") if say else self.call

    @property
    @abstractmethod
    def hint(self) -> str:
        """The words that a person may type, after "Type"."""

    @abstractmethod
    def facts(self) -> Facts:
        """Return the facts that a prompt shows."""

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
        """Read one action from a bidder's words; ambiguous words are unreadable.

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
        """Write an answer in words, so that `read` returns it."""
        return answer.words

    def _spoken(self, said: str) -> Action | None:
        """Return the action that `say` writes in just these words, or None; for spaces of few actions."""
        return next((action for action in self.edges() if self.say(action) == said), None)

    def strange(self, action: Action) -> str:
        """Say why an action of another space is refused: the reason why its words can't be read here, if they can't."""
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
"""The gap between two sentences."""
_ENDS = r"""[\s.!,;:*"']*"""
"""Marks around a sentence."""
_ACCEPT = re.compile(
    rf"{_ENDS}(?:(?:ok|okay|yes|sure|fine|well|alright|right|deal)\W+)?(?:{FIRST}\s+)?(?:hereby\s+)?"
    r"(?:accept|take it|buy it)"
    r"(?:\s+(?:it|this|that|the|price|offer|now|at|for|of|please))*"
    rf"(?:\s+\$?\s?(?P<price>{NUMBER})(?:\s+(?:dollars|usd))?)?(?:\s+(?:now|for|it|please))*{_ENDS}",
    re.IGNORECASE | re.ASCII,
)
"""A sentence that accepts, with the price if it names one."""
_WAIT = re.compile(
    rf"{_ENDS}(?:(?:ok|okay|no|well|sorry|fine)\W+)?"
    rf"(?:(?:{FIRST}\s+)?(?:wait|keep waiting|hold)|(?:i'm|i am|we're|we are) waiting|not (?:yet|now))"
    rf"(?:\s+(?:for|it|on|now|a|bit|little|moment|longer|please))*{_ENDS}",
    re.IGNORECASE | re.ASCII,
)
"""A sentence that waits."""
_UNSURE = re.compile(
    r"\b(?:not|never|no|or|nor|if|unless|until|when|but|maybe|perhaps|might|could|would|should|rather|instead|refuse"
    r"|cannot|decline|accept\w*|wait\w*|hold\w*|withdraw\w*|take it|buy it)\b|n't\b|\?",
    re.IGNORECASE,
)
"""Words that a sentence beside the answer may not contain, as they could take the answer back."""


@dataclass(frozen=True, slots=True)
class AcceptOrWait(ActionSpace):
    """The action space in which a bidder accepts a price in dollars or waits; a bidder that waits stays in the bidding.

    >>> AcceptOrWait(Decimal(80)).read("I accept.")
    Accept()
    """

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
        """The auctioneer's instructions: the price, and how to answer."""
        return f"the price is {dollars(self.price)}. Say 'I accept' or 'I wait'."

    @property
    def hint(self) -> str:
        """The two answers."""
        return "accept, or: wait"

    def facts(self) -> Facts:
        """Return the price."""
        return {"price": self.price}

    @property
    def reply(self) -> type[Decision]:
        """Accept or wait."""
        return PriceReply

    def refusal(self, action: Action) -> str:
        """Say why an action is not legal; return "" for `Accept` and `Wait`."""
        return "" if isinstance(action, Accept | Wait) else self.strange(action)

    def draw(self, rng: Random) -> Action:
        """Draw an answer."""
        return rng.choice(self.edges())

    def edges(self) -> tuple[Action, ...]:
        """Return `Accept` and `Wait`."""
        return Accept(), Wait()

    def beyond(self) -> tuple[Action, ...]:
        """Return a `Choose`, which is not legal here."""
        return (Choose("accept"),)

    def _read(self, said: str, item: str) -> Answer:
        """Read the one sentence that accepts or waits, if no other casts doubt on it."""
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
    """The action space in which a bidder chooses one of the options.

    >>> Choice(("left", "right")).read("I choose left.")
    Choose(option='left')
    """

    options: tuple[str, ...]
    kind: Literal["choice"] = field(default="choice", kw_only=True, repr=False, compare=False)

    @property
    def call(self) -> str:
        """The auctioneer's instructions: the options, and how to choose one."""
        return f"choose one of: {self._listed}. Say 'I choose <option>'."

    @property
    def hint(self) -> str:
        """The options."""
        return f"one of: {self._listed}"

    def facts(self) -> Facts:
        """Return the options."""
        return {"options": list(self.options)}

    @property
    def reply(self) -> type[Decision]:
        """One of the options."""
        return choice_of(self.options)

    def refusal(self, action: Action) -> str:
        """Refuse an option that is not offered."""
        if not isinstance(action, Choose):
            return self.strange(action)
        return "" if action.option in self.options else f"{printable(action.option)!r} is none of: {self._listed}"

    def draw(self, rng: Random) -> Action:
        """Draw an option."""
        return Choose(rng.choice(self.options))

    def edges(self) -> tuple[Action, ...]:
        """Return each option."""
        return tuple(map(Choose, self.options))

    def beyond(self) -> tuple[Action, ...]:
        """Return an option that is not offered."""
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
    """The action space in which a bidder says something in its own words, in at most `longest` characters.

    An answer can't have more than 2,000 characters.

    >>> Words(longest=5).refusal(Say("too long"))
    '8 characters are more than 5'
    """

    longest: int = 1_000
    kind: Literal["words"] = field(default="words", kw_only=True, repr=False, compare=False)

    @property
    def call(self) -> str:
        """The length."""
        return f"say what you want to say, in at most {self.longest:,} characters."

    @property
    def hint(self) -> str:
        """A text."""
        return f"a text of at most {self.longest:,} characters"

    def facts(self) -> Facts:
        """Return the length."""
        return {"longest": self.longest}

    @property
    def reply(self) -> type[Decision]:
        """A text."""
        return WordsReply

    def refusal(self, action: Action) -> str:
        """Say why these words are not legal, such as their length; empty if they are legal."""
        if not isinstance(action, Say):
            return self.strange(action)
        if not action.words.strip():
            return "nothing was said"
        if len(action.words) > min(self.longest, LONGEST):
            return f"{len(action.words):,} characters are more than {self.longest:,}"
        return "" if unfit(action.words) is None else "not plain text"

    def draw(self, rng: Random) -> Action:
        """Draw some letters."""
        return Say("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(1, self.longest))))

    def edges(self) -> tuple[Action, ...]:
        """Return the shortest and the longest text."""
        return Say("a"), Say("a" * self.longest)

    def beyond(self) -> tuple[Action, ...]:
        """Return an empty text, and one that is too long."""
        return Say(""), Say("a" * (self.longest + 1))

    def _read(self, said: str, item: str) -> Answer:
        return Say(said)
