"""The passport of a model at a server: what its answers have shown of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from harbor._config.models import ReplyForm


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


@dataclass
class Known:
    """The passport of a model as this process knows it; `save` is told of each change."""

    passport: Passport
    save: Callable[[Passport], None] = field(default=lambda _: None, repr=False)

    def learn(self, **facts: Any) -> None:
        """Note what has turned out."""
        changed = replace(self.passport, **facts)
        if changed != self.passport:
            self.passport = changed
            self.save(changed)
