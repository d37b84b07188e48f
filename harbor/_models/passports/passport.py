"""The passport of a model at a server: what its answers have shown of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from harbor._config.models import ReplyForm

MOST_SNAPSHOTS = 20
LONGEST_NAME = 200
"""Of the names that a server gives itself, so that none fills a disk."""


@dataclass(frozen=True, slots=True)
class Passport:
    """What is known of one model at one server.

    `server` is its address, or the name of the provider; `form` is how it takes a question; `not_taken` are the
    settings that it refuses. `thinks` says where its thoughts are seen: in "tags" of the text, in "blocks" of the
    provider, in a "field" of the message, or by "tokens" alone. Tokens and seconds are added up over `calls` that were
    answered; `slowest` is the longest answer in seconds, be it that it came or was waited for in vain.
    `context_tokens` and `most_output_tokens` are limits as the server or LangChain's table tells them. `snapshots` are
    the names under which it has answered; `first` and `last` are days in UTC.
    """

    server: str
    model: str
    form: ReplyForm | None = None
    not_taken: tuple[str, ...] = ()
    thinks: tuple[str, ...] = ()
    calls: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    context_tokens: int | None = None
    most_output_tokens: int | None = None
    snapshots: tuple[str, ...] = ()
    first: str = ""
    last: str = ""

    @property
    def tokens_per_second(self) -> float | None:
        """How fast it writes, thoughts included; None before it has answered."""
        return self.output_tokens / self.seconds if self.seconds and self.output_tokens else None

    @property
    def reasoning_per_call(self) -> float | None:
        """How many tokens it thinks on average; None before it has answered."""
        return self.reasoning_tokens / self.calls if self.calls else None

    def after(self, answer: Answer) -> Passport:
        """Give the passport with what one answer shows."""
        today = datetime.now(UTC).date().isoformat()
        snapshot = answer.snapshot[:LONGEST_NAME]
        named = self.snapshots if not snapshot or snapshot in self.snapshots else (*self.snapshots, snapshot)
        shown: dict[str, Any] = {
            "thinks": tuple(sorted({*self.thinks, *answer.thinks})),
            "snapshots": named[-MOST_SNAPSHOTS:],
            "first": self.first or today,
            "last": today,
        }
        if answer.seconds is not None:
            shown |= {
                "calls": self.calls + 1,
                "output_tokens": self.output_tokens + answer.output_tokens,
                "reasoning_tokens": self.reasoning_tokens + answer.reasoning_tokens,
                "seconds": round(self.seconds + answer.seconds, 3),
                "slowest": round(max(self.slowest, answer.seconds), 3),
            }
        return replace(self, **shown)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one answer shows: how long it took (None: it waited for others), its tokens, its thoughts, who answered."""

    seconds: float | None
    output_tokens: int = 0
    reasoning_tokens: int = 0
    thinks: tuple[str, ...] = ()
    snapshot: str = ""


@dataclass
class Known:
    """The passport of a model as this process knows it; `save` is told of each new fact, and now and then of counts."""

    passport: Passport
    save: Callable[[Passport], None] = field(default=lambda _: None, repr=False)

    def note(self, **facts: Any) -> None:
        """Note what is known of the model before it answers; it is saved with its first answer."""
        self.passport = replace(self.passport, **facts)

    def learn(self, **facts: Any) -> None:
        """Note what has turned out."""
        changed = replace(self.passport, **facts)
        if changed != self.passport:
            self.passport = changed
            self.save(changed)

    def answered(self, answer: Answer) -> None:
        """Note what an answer shows; its counts are saved with the 1st, 2nd, 4th, 8th and so on."""
        before, self.passport = self.passport, self.passport.after(answer)
        calls = self.passport.calls
        if _facts(before) != _facts(self.passport) or (calls > before.calls and calls & (calls - 1) == 0):
            self.save(self.passport)


def _facts(passport: Passport) -> tuple[Any, ...]:
    return passport.thinks, passport.snapshots, passport.last


def unknown() -> Known:
    """Give the passport of a model of which nothing is known, and nothing is kept."""
    return Known(Passport("", ""))
