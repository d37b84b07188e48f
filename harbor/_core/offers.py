"""Action spaces without a number: accept a price or wait, choose an option, say something."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Literal

from harbor._core.action_space import ActionSpace, Facts
from harbor._core.actions import Accept, Action, Answer, Choose, Say, Unreadable, Wait
from harbor._core.decisions import Decision, PriceReply, WordsReply, choice_of
from harbor._core.money import Money, dollars
from harbor._core.parsing import FIRST, LONGEST, NUMBER, printable, straight, unfit, without

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
"""What a sentence beside the answer may not contain, as it could take the answer back."""


@dataclass(frozen=True, slots=True)
class AcceptOrWait(ActionSpace):
    """Accept a price in dollars, or wait; who waits gives nothing up."""

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
        """The price, and how to answer."""
        return f"the price is {dollars(self.price)}. Say 'I accept' or 'I wait'."

    @property
    def hint(self) -> str:
        """The two answers."""
        return "accept, or: wait"

    def facts(self) -> Facts:
        """The price."""
        return {"price": self.price}

    @property
    def reply(self) -> type[Decision]:
        """Accept or wait."""
        return PriceReply

    def refusal(self, action: Action) -> str:
        """Both answers are legal."""
        return "" if isinstance(action, Accept | Wait) else self.strange(action)

    def draw(self, rng: Random) -> Action:
        """Draw an answer."""
        return rng.choice(self.edges())

    def edges(self) -> tuple[Action, ...]:
        """Accept, and wait."""
        return Accept(), Wait()

    def beyond(self) -> tuple[Action, ...]:
        """A choice, which is no answer."""
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
    """Choose one of the options."""

    options: tuple[str, ...]
    kind: Literal["choice"] = field(default="choice", kw_only=True, repr=False, compare=False)

    @property
    def call(self) -> str:
        """The options, and how to choose."""
        return f"choose one of: {self._listed}. Say 'I choose <option>'."

    @property
    def hint(self) -> str:
        """The options."""
        return f"one of: {self._listed}"

    def facts(self) -> Facts:
        """The options."""
        return {"options": list(self.options)}

    @property
    def reply(self) -> type[Decision]:
        """One of the options."""
        return choice_of(self.options)

    def refusal(self, action: Action) -> str:
        """Say that an option is none."""
        if not isinstance(action, Choose):
            return self.strange(action)
        return "" if action.option in self.options else f"{printable(action.option)!r} is none of: {self._listed}"

    def draw(self, rng: Random) -> Action:
        """Draw an option."""
        return Choose(rng.choice(self.options))

    def edges(self) -> tuple[Action, ...]:
        """Each option."""
        return tuple(map(Choose, self.options))

    def beyond(self) -> tuple[Action, ...]:
        """An option that there is not."""
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
    """Say something, in up to `longest` characters (of 2,000 that an answer can have)."""

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
        """The length."""
        return {"longest": self.longest}

    @property
    def reply(self) -> type[Decision]:
        """A text."""
        return WordsReply

    def refusal(self, action: Action) -> str:
        """Say why words can't be passed on."""
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
        """The shortest and the longest text."""
        return Say("a"), Say("a" * self.longest)

    def beyond(self) -> tuple[Action, ...]:
        """No text, and one that is too long."""
        return Say(""), Say("a" * (self.longest + 1))

    def _read(self, said: str, item: str) -> Answer:
        return Say(said)
