"""An agent in its own process: it reads each turn as a line of JSON from stdin and writes each answer to stdout.

The process gets a small environment. It ends with the sale, together with all processes in its group.
It is no sandbox: it has the rights of its user.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import cast

from harbor._config.agents import AgentCommand
from harbor._core.asking.asks import Unreadable
from harbor._core.basics.redaction import SECRET_NAME, named_secret, redact
from harbor._doors.door import LONGEST_ANSWER, Door, DoorFailed, Given, Turn, answer_in, object_of, turn_named

SHOWN = 300
"""The greatest number of characters of stderr in an error."""
_FRAME = re.compile(r"\s+at ")
"""The start of a stack frame as Node and Java print it, after the error. It is left out of messages."""
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")


def last_words(complaints: bytes, variables: Collection[str]) -> str:
    """Quote the last error output of a process.

    Args:
        complaints: the end of the process's standard error.
        variables: names of the environment variables that the process had.
    """
    lines = redact(complaints.decode(errors="replace")).splitlines()
    last = " ".join(" ".join(line for line in lines if not _FRAME.match(line)).split())[-SHOWN:]
    told = f"its stderr ends in {last!r}"
    for name in _VARIABLE.findall(last):
        if name not in variables and _is_one(name):
            return f"{told}; it has few variables of yours: name this one in its settings, as env = [{name!r}]"
    return told


def _is_one(name: str) -> bool:
    return name in os.environ or SECRET_NAME.search(name) is not None


PASSED_ON = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER")
"""The environment variables that every process gets. The settings name any others."""
PATIENCE_SECONDS = 1.0
"""Seconds that a process has to end after its input ends, and again after SIGTERM."""
KEPT = 4_000
"""The greatest number of bytes that Harbor keeps from the end of stderr."""
LONGEST_SHOWN = 60
"""The greatest number of characters of a command, a line or a reason in an error."""
MOST_WAITING = 100
"""A process with more unread lines than this at the next question is out of control. Harbor replaces it."""


_RUNNING: set[_Process] = set()


def kill_agents() -> None:
    """Kill all agents of this process and their process groups. Harbor calls it when it ends without closing doors."""
    for process in tuple(_RUNNING):
        process.kill()


def environment_of(settings: AgentCommand) -> dict[str, str]:
    """Return the environment of an agent's process, and register the values that its settings name as secrets.

    Raises:
        ConfigError: a variable that the settings name is not set.
    """
    for name in settings.env:
        named_secret(name, "env of an agent")
    return {name: os.environ[name] for name in (*PASSED_ON, *settings.env) if name in os.environ}


class ProcessDoor(Door):
    """A door to an agent in its own process. The process starts at its first turn, and again if it has died.

    Raises:
        ConfigError: an environment variable that the settings name is not set.
    """

    def __init__(self, settings: AgentCommand) -> None:
        self._command = settings.command
        self._environment = environment_of(settings)
        self._process: _Process | None = None
        self._owed: list[int] = []  # turns that the process has not answered, in order
        self._since = 0  # the first turn of the question: later attempts ask the question again
        self._numbers = self._garbled = False

    async def ask(self, turn: Turn) -> Given:
        """Send a turn and return its answer.

        An answer to any attempt at a question counts for the question. An answer without a turn number counts for the
        first turn without an answer. A line that is no JSON object may be an answer or a stray line: the next answer is
        then ambiguous, so the process gets no other question until it has answered all its turns. A process may answer
        one turn and end: the next turn may reach it too late, and goes to a new process.

        Raises:
            DoorFailed: the command can't be started, or its process ended without an answer.
        """
        before = self._process
        try:
            return await self._asked(turn)
        except DoorFailed:
            if before is None or before is not self._process or not before.finished:
                raise
        return await self._asked(turn)

    async def _asked(self, turn: Turn) -> Given:
        if turn.ask.attempt == 1:
            await self._begin(turn)
        process = await self._ready()
        self._owed.append(turn.number)
        process.write(turn.line)
        while (given := self._read(await process.line(), turn)) is None:
            await asyncio.sleep(0)  # let other tasks run between many late answers
        return given

    async def _begin(self, turn: Turn) -> None:
        """Begin a question, and drop earlier lines, which can't answer it."""
        self._since, process = turn.number, self._process
        if process is None:
            return
        if (waiting := process.waiting) <= MOST_WAITING:
            for _ in range(waiting):
                self._read(await process.line(), turn)
        if waiting > MOST_WAITING or (self._garbled and self._owed and not self._numbers):
            await self.close()

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            await process.end()

    async def _ready(self) -> _Process:
        if self._process is not None and not self._process.listens:
            await self.close()
        if self._process is None:
            self._owed, self._garbled = [], False
            self._process = await _started(self._command, self._environment)
        return self._process

    def _read(self, line: bytes | None, turn: Turn) -> Given | None:
        """Read a line. Return None if it does not answer this question."""
        if line is None:
            return Given(Unreadable(f"a line of more than {LONGEST_ANSWER:,} bytes is not read; answer in fewer"))
        try:
            told = object_of(line)
            number = turn_named({"turn": min(self._owed, default=0), **told}, turn.number)
        except ValueError as error:
            self._garbled = True
            return Given(Unreadable(_refusal(line, error)))
        self._numbers |= "turn" in told
        owed, self._owed = self._owed, [later for later in self._owed if later > number]
        return answer_in(told, turn.ask) if number in owed and number >= self._since else None


def _refusal(line: bytes, error: ValueError) -> str:
    shown = redact(line[: 10 * LONGEST_SHOWN].decode(errors="replace").strip())[:LONGEST_SHOWN]
    why = str(error)[:LONGEST_SHOWN]
    return f"{shown!r} is no answer ({why}); write one object of JSON per turn to stdout, and write logs to stderr"


async def _started(command: Sequence[str], environment: Mapping[str, str]) -> _Process:
    loop = asyncio.get_running_loop()
    try:
        _, process = await loop.subprocess_exec(
            lambda: _Process(command, environment), *command, env=environment, start_new_session=True
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise DoorFailed(f"command {_shown(command)} can't be started ({why}); install it, or mend its path") from None
    return process


def _shown(command: Sequence[str]) -> str:
    return repr(redact(shlex.join(command))[:LONGEST_SHOWN])


class _Process(asyncio.SubprocessProtocol):
    """A running process in its own process group. The group ends with the process."""

    def __init__(self, command: Sequence[str], variables: Collection[str]) -> None:
        loop = asyncio.get_running_loop()
        self._command = command
        self._variables = variables
        self._output = asyncio.StreamReader(limit=LONGEST_ANSWER)
        self._complaints = b""
        self._ended = loop.create_future()
        self._silent = loop.create_future()
        self._useless = False
        self.waiting = 0
        """Number of unread lines from the process."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        _RUNNING.add(self)
        self._input = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        self._output.set_transport(cast(asyncio.BaseTransport, self._transport.get_pipe_transport(1)))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._output.feed_data(data)
            self.waiting += data.count(b"\n")
        else:
            self._complaints = (self._complaints + data)[-KEPT:]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self._output.feed_eof()

    def process_exited(self) -> None:
        self.kill()  # processes that it started may go on and hold its output open
        _RUNNING.discard(self)
        self._ended.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._silent.set_result(None)

    @property
    def listens(self) -> bool:
        """True if it runs and has read all its input. Input to a process that does not read would fill the memory."""
        return not (self._useless or self._ended.done() or self._input.get_write_buffer_size())

    @property
    def finished(self) -> bool:
        """True if it ended by itself with exit code 0."""
        return self._transport.get_returncode() == 0

    def write(self, line: str) -> None:
        """Send the process a line, without waiting for the process to read."""
        self._input.write(line.encode() + b"\n")

    async def line(self) -> bytes | None:
        """Read a line. Return None if the line is too long; the rest of it is unreadable, so nothing more is read.

        Raises:
            DoorFailed: the process or its output ended.
        """
        try:
            line = await self._output.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            self._useless = True
            self.kill()
            return None
        except asyncio.IncompleteReadError as end:
            if end.partial:
                return end.partial
        else:
            self.waiting -= 1
            return line
        self._useless = True
        await asyncio.wait({self._silent}, timeout=PATIENCE_SECONDS)
        raise DoorFailed(self._story())

    async def end(self) -> None:
        """Close its input. Terminate it if it goes on, and then kill it."""
        self._input.close()
        try:
            for force in (0, signal.SIGTERM, signal.SIGKILL)[self._useless :]:  # signal 0 does nothing
                self._signal(force)
                done, _ = await asyncio.wait({self._ended}, timeout=PATIENCE_SECONDS)
                if done:
                    return
        finally:
            if not self._ended.done():
                self.kill()
            self._transport.close()  # also closes pipes that a process outside the group holds

    def kill(self) -> None:
        """Kill the process and its group at once."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), number)

    def _story(self) -> str:
        code = self._transport.get_returncode()
        what = "closed its standard output" if code is None else f"ended with exit code {code}"
        if code is not None and code < 0:
            what = f"was ended by {signal.Signals(-code).name}"
        last = last_words(self._complaints, self._variables)
        return f"command {_shown(self._command)} {what} before it answered; {last}"
