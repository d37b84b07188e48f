"""Settings of agents outside this process: a program that Harbor starts, or a server that Harbor asks."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from harbor._config.models import UrlWithoutKey, Variable
from harbor._core.basics.errors import unknown
from harbor._core.basics.redaction import redact
from harbor._core.settings import TAG, Settings


def _in_words(command: Any) -> Any:
    if isinstance(command, str):
        raise ValueError(f"is one text; write the program and each argument apart: {command.split()!r}")
    return command


def _without_secrets(command: tuple[str, ...]) -> tuple[str, ...]:
    if not command[0].strip() or any("\0" in word for word in command):
        raise ValueError("names no program; write a program and its arguments, such as ['node', 'bidder.mjs']")
    if any(redact(word) != word for word in command):
        raise ValueError("has a key in it, which would be written to files; put it in a variable and name that in env")
    return command


class AgentCommand(Settings):
    """A program that plays a bidder: it reads each turn as a line of JSON, and prints each answer as a line.

    Harbor starts one process for each bidder that the program plays, in each game. The process runs in the directory in
    which Harbor was started.

    >>> str(AgentCommand(command=["node", "bidder.mjs"]))
    'node bidder.mjs'

    Attributes:
        command: The program and its arguments, each as a text of its own.
        env: Names of environment variables that are passed to the program. A few usual variables, such as PATH and
            HOME, are passed as well; all others are not.
    """

    command: Annotated[
        tuple[str, ...],
        Field(min_length=1, max_length=1_000),
        BeforeValidator(_in_words),
        AfterValidator(_without_secrets),
    ]
    env: tuple[Variable, ...] = ()

    def __str__(self) -> str:
        """Return the command line."""
        return shlex.join(self.command)


FLUSH = "; a program has to flush its output after each answer, or nobody hears it"
"""Hint for a program that gives no answer in time: a full output buffer is the most frequent cause."""


class AgentServer(Settings):
    """A server that plays a bidder: Harbor sends each turn to `url` as a POST of JSON, and the response is the answer.

    >>> str(AgentServer(url="http://localhost:8000/bid"))
    'http://localhost:8000/bid'

    Attributes:
        url: Address of the server.
        api_key_env: Name of the environment variable that holds the server's key. The key is sent as a bearer token.
            Without this setting, no key is sent.
    """

    url: UrlWithoutKey
    api_key_env: Variable | None = None

    def __str__(self) -> str:
        """Return the address."""
        return self.url


def _make(agent: Any) -> str:
    """Return the tag of the setting that is meant, so that an error message is about that setting."""
    if isinstance(agent, AgentCommand) or (isinstance(agent, Mapping) and "url" not in agent):
        return f"{TAG}command"
    if isinstance(agent, AgentServer | Mapping):
        return f"{TAG}url"
    return f"{TAG}name" if isinstance(agent, str) else f"{TAG}given"


def _known(agent: Any) -> Any:
    """Refuse a value that is no agent, with the ways to write one, and a table of neither a program nor a server."""
    if not isinstance(agent, bool | str | Mapping | AgentCommand | AgentServer):
        raise ValueError(
            'is no agent; write "module:NAME", { command = [...] }, { url = "..." }, or true for one given'
        )
    if isinstance(agent, Mapping) and {"command", "url"} <= agent.keys():
        raise ValueError("is a program and a server; keep command or url")
    if isinstance(agent, Mapping) and not {"command", "url"} & agent.keys():
        known = {*AgentCommand.model_fields, *AgentServer.model_fields}
        if strange := next((key for key in agent if key not in known), None):
            raise ValueError(unknown("key", str(strange), known))
        raise ValueError("is neither a program nor a server; write command = [...], or url = ...")
    return agent


AnyAgent = Annotated[
    Annotated[bool, Tag(f"{TAG}given")]
    | Annotated[str, Field(min_length=1), Tag(f"{TAG}name")]
    | Annotated[AgentCommand, Tag(f"{TAG}command")]
    | Annotated[AgentServer, Tag(f"{TAG}url")],
    Discriminator(_make),
    BeforeValidator(_known),
]
"""True for an agent that is given to `run`, a name or "package.module:NAME", a program, or a server."""
