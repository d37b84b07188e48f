"""An `Agent` has a name and a function that makes the agent of a bidder.

Harbor recognizes the framework of an agent without importing that framework.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harbor._config.agents import AgentCommand, AgentServer
from harbor._config.auction import Bidder
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.redaction import named_secret, of_strangers
from harbor._core.plugins.extensions import API, part
from harbor._core.plugins.finding import find
from harbor._doors.door import Door


def is_chat_agent(value: object) -> bool:
    """Return whether `value` is an AutoGen chat agent, which can join the auction's group chat as it is."""
    return _is(value, "autogen_agentchat.base", "ChatAgent")


def is_runnable(value: object) -> bool:
    """Return whether `value` is a LangChain Runnable, such as a compiled LangGraph graph."""
    return _is(value, "langchain_core.runnables.base", "Runnable")


def complaint(value: object) -> str:
    """Say why a value can't play a bidder; return "" if it can."""
    if isinstance(value, AgentCommand | AgentServer | Door) or is_chat_agent(value) or is_runnable(value):
        return ""
    if isinstance(value, type):
        return f"is the class {value.__name__}; give what it makes"
    if callable(value):
        return ""
    if callable(getattr(value, "compile", None)):
        return f"is a {type(value).__name__}; give what its compile() makes"
    remedy = "give a function of one turn, a LangChain Runnable, an AutoGen ChatAgent, or an Agent that makes one"
    return f"is a {type(value).__name__}; {remedy}"


def _is(value: object, module: str, name: str) -> bool:
    """Return whether `value` is an instance of the class `name` in `module`.

    If the module has not been imported yet, no value can be an instance of its class.
    """
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An extension that makes agents: one for each bidder that the extension plays.

    `make` takes the name of a bidder and returns its agent: a plain or async function that takes one turn, a LangChain
    Runnable such as a compiled graph, or an AutoGen chat agent. An AutoGen agent is asked in words and answers in
    words. Every bidder of every auction gets an agent of its own. Import slow packages inside `make`, so that settings
    that name the agent can be read fast.

    >>> Agent(name="shy", description="It never bids.", make=lambda bidder: lambda turn: "I pass.").make("Ann")({})
    'I pass.'
    """

    name: str = part("its name, in lower case")
    description: str = part("what it is, in one line")
    make: Callable[[str], Any] = part("what makes the agent of a bidder")
    api: int = API

    @staticmethod
    def takes(value: object) -> bool:
        """Return whether a value can play a bidder as it is, without being wrapped in an `Agent`."""
        return not complaint(value)

    @classmethod
    def of_value(cls, reference: str, value: object) -> Agent:
        """Wrap one agent that the user named by a reference; it plays every bidder whose settings have the reference.

        Raises:
            ConfigError: the value is no agent, or is an AutoGen agent, which bidders can't share.
        """
        if is_chat_agent(value):
            raise ConfigError(
                f"agent {reference!r} is one AutoGen agent, which seats and games would share; name an Agent whose"
                " make gives one for each bidder"
            )
        if wrong := complaint(value):
            raise ConfigError(f"agent {reference!r} {wrong}")
        name = re.sub("[^a-z0-9]+", "-", reference.lower()).strip("-")
        return cls(name=name, description=f"the agent {reference}", make=lambda _: value)


def agent_of(bidder: Bidder, given: object) -> object:
    """Return the agent of a bidder, as its settings say.

    If the settings name an agent, a new one is made. If they name a program or a server, that setting is returned. Else
    it is `given`, which the caller of `run` passed.

    Raises:
        ConfigError: there is no such agent, it can't be made, or it is no agent; or a program or a key is missing.
    """
    if isinstance(bidder.agent, AgentCommand | AgentServer):
        _check_there(bidder.agent, bidder.name)
        return bidder.agent
    if isinstance(bidder.agent, str):
        return make_agent(bidder.agent, bidder.name)
    return _made(given, bidder.name) if isinstance(given, Agent) else given


def make_agent(name: str, bidder: str) -> object:
    """Make the agent with that name or reference for a bidder.

    Raises:
        ConfigError: there is no such agent, it can't be made, or it is no agent.
    """
    return _made(find("agent", name), bidder, name)


def _made(agent: Agent, bidder: str, name: str = "") -> object:
    what = f"agent {name or agent.name!r} of bidder {bidder!r}"
    made: object = of_strangers(f"{what}: its make", lambda: agent.make(bidder))
    if wrong := of_strangers(f"{what}: a look at it", lambda: complaint(made)):
        raise ConfigError(f"{what} {wrong}")
    return made


def _check_there(agent: AgentCommand | AgentServer, bidder: str) -> None:
    """Refuse a missing program and an unset variable before the auction starts."""
    if isinstance(agent, AgentCommand) and shutil.which(agent.command[0]) is None:
        raise ConfigError(f"agent of bidder {bidder!r}: no program {agent.command[0]!r}; {_meant(agent.command[0])}")
    named = agent.env if isinstance(agent, AgentCommand) else filter(None, [agent.api_key_env])
    for name in named:
        named_secret(name, f"agent of bidder {bidder!r}")


def _meant(program: str) -> str:
    """Suggest how to write the server, file or function that the user probably meant."""
    path = Path(program)
    if re.fullmatch(r"[\w.-]+:\d+(/\S*)?", program):
        return f"a server is written 'http://{program}'"
    if path.suffix == ".py":
        return f"write 'python3 {program}' for a program of Python, and '{path.stem}:NAME' for a function in it"
    if Path(f"{program}.py").is_file():
        return f"write '{program}:NAME' for a function in {program}.py"
    return "install it, or give its path"
