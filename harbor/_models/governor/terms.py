"""What a call and the governor say to each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from harbor._core.errors import HarborError
from harbor._models.governor.under_way import Wait


class Stopped(HarborError):
    """A call may not start any more: the first call of its model was refused for good."""


class Gone(Stopped):
    """A call may not start any more, as the process with the governor is gone."""


class TooLong(HarborError):
    """A call may not wait for its start: the provider has asked for a pause that lasts so many `seconds` more."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the provider asks to wait for {seconds:g} s")
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a provider and key, above 0. None is unknown, to be learned."""

    max_concurrent: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A call that wants to start.

    Attributes:
        account: whose limits count: provider, address and a digest of the key, never the key.
        model: names the exact model and its settings within the account.
        age: of the call's game; the lowest goes first.
        tokens: an estimate, in and out.
        limits: what the user says about the account.
        patience: the longest pause that the call waits for if the provider asks for it, in seconds.
        host: is asked, for whoever watches.
        shown: the model as it is shown there.
    """

    account: str
    model: str
    age: tuple[int, ...]
    tokens: int
    limits: Limits = Limits()
    patience: float = math.inf
    host: str = ""
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to make one call; it has to be given back."""

    account: str
    number: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The provider answered, and charged so many tokens."""

    tokens: int


@dataclass(frozen=True, slots=True)
class Busy:
    """The provider refused the call for now: there were too many. It may say after how many seconds to ask again."""

    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The call failed, or was given up, in a way that says nothing about limits."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The provider refused the call for good, in these words."""

    words: str


Verdict = Answered | Busy | Failed | Refused


class Governor(Protocol):
    """Decides when calls start."""

    async def enter(self, request: Request) -> Ticket:
        """Wait until a call may start.

        Raises:
            Stopped: the call of the same model that it waited for was refused for good.
            TooLong: the provider asks for a longer pause than the call waits for.
        """

    def leave(self, ticket: Ticket, verdict: Verdict) -> None:
        """Say how a call ended; every ticket comes back, also that of a call that was given up (`Failed`)."""

    def note(self, call: int, wait: Wait | None) -> None:
        """Say what a call of this process waits for, by a number of its own; None: it waits no longer."""

    def spend(self, dollars: float | None) -> None:
        """Say what a call has cost; None: its price is unknown."""
