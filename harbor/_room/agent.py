"""An agent as one value: a name for settings, and what makes the AutoGen agent of a bidder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harbor._core.errors import ConfigError
from harbor._core.extensions import API, part
from harbor._core.finding import find
from harbor._core.redaction import redact

if TYPE_CHECKING:
    from autogen_agentchat.base import ChatAgent


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent, as an extension.

    `make` takes the name of the bidder and gives an AutoGen chat agent, which is asked in words and answers in words.
    Each auction gets one of its own. Import AutoGen and what else takes long there, so that settings are read
    without it.
    """

    name: str = part("its name, in lower case")
    description: str = part("what it is, in one line")
    make: Callable[[str], ChatAgent] = part("what makes the AutoGen agent of a bidder")
    api: int = API


def make_agent(name: str, bidder: str) -> ChatAgent:
    """Make the agent of that name, or of that reference, for a bidder.

    Raises:
        ConfigError: there is none, it can't be made, or it is no AutoGen agent.
    """
    from autogen_agentchat.base import ChatAgent

    try:
        made: object = find("agent", name).make(bidder)
    except ConfigError:
        raise
    except Exception as error:  # a stranger's code may raise anything
        complaint = (redact(str(error)).splitlines() or [""])[0] or type(error).__name__
        raise ConfigError(f"agent {name!r} of bidder {bidder!r} can't be made: {complaint}; mend it") from error
    if not isinstance(made, ChatAgent):
        raise ConfigError(f"agent {name!r} of bidder {bidder!r} is a {type(made).__name__}; make an AutoGen ChatAgent")
    return made
