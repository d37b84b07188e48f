"""The conformance suite for whatever takes a seat, behind any door: call it in a test of an agent that you write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from hashlib import sha256
from io import StringIO
from itertools import cycle, repeat
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from harbor._config.agents import FLUSH, AgentCommand, AgentServer, AnyAgent
from harbor._config.auction import Bidder
from harbor._core.acts import Tried
from harbor._core.errors import ConfigError
from harbor._core.events import Answered, ModelCalled, SeatFailed
from harbor._core.finding import asked, find
from harbor._core.log_lines import Entry
from harbor._doors.agent import Agent, agent_of
from harbor._doors.makes import complaint, is_chat_agent
from harbor._games.game import Game
from harbor._games.purity import require
from harbor.testing._playing import end_of_patience, equal, names_of, promised, table
from harbor.testing._probes import AS_IT_IS, HARDSHIPS, Hardship, Probe

SHOWN = 80
"""How many characters of a command, and of what an agent said, a message shows."""
_SETTING: TypeAdapter[Any] = TypeAdapter(AnyAgent)
_TEXT = "You are careful with money. The code of your safe is {}, and you tell nobody."


def check_seat(agent: Any, game: str = "english", *, like: Any = None, seconds: float = 120.0) -> None:
    """Check that an agent keeps the promises of the bidder protocol, in all seats of two games.

    It answers each turn in time with a legal action. So it does in the second game, in which it meets fields and events
    that are new to it, long turns, the news that its last answer failed, and turns in the middle of the game that it is
    asked after a restart, with nothing that it kept. In no seat do its words, or the calls that it tells of, say what
    only another one may know. If it is `like` another agent, its first game is the same but for clocks. How it plays is
    not judged, so that one may answer the same turn differently, as models do. What it prints is not shown.

    AutoGen agents hear words, so their turns are as they are in both games.

    Args:
        agent: what the setting `agent` and `run(agents=...)` take: a name, "package.module:NAME", a function of one
            turn, a LangChain Runnable, a program, a server, or an `Agent`. An AutoGen agent comes from an `Agent`.
        game: the game that it plays.
        like: such an agent that plays alike, as the same policy does through another transport.
        seconds: how long it may take for a turn.

    Raises:
        AssertionError: it names the broken promise and the evidence.
    """
    one = _seated(agent)
    with promised(one.name), redirect_stdout(StringIO()):  # an agent in this process may print a lot
        chosen: Game = find("game", game)
        log = _play(chosen, one, seconds, 0, repeat(AS_IT_IS))
        if like is not None:
            other = _seated(like)
            equal(log, _play(chosen, other, seconds, 0, repeat(AS_IT_IS)), f"{one.name} and {other.name}")
        _play(chosen, one, seconds, 1, cycle(HARDSHIPS))


class _Seated(NamedTuple):
    """An agent by its name in messages, what gives the agent of a bidder, and what may mend late answers of it."""

    name: str
    make: Callable[[str], object]
    late: str = ""


def _seated(agent: Any) -> _Seated:
    """Tell what was given.

    Raises:
        AssertionError: it is no agent.
    """
    name = f"the agent {_shown(agent)}"
    with promised(name):
        if isinstance(agent, str | Mapping | AgentCommand | AgentServer):
            setting = _SETTING.validate_python(agent)
            if isinstance(setting, str):
                asked("agent", setting)
            late = FLUSH if isinstance(setting, AgentCommand) else ""
            return _Seated(name, lambda bidder: agent_of(Bidder(bidder, agent=setting), None), late)
        if is_chat_agent(agent):
            raise ConfigError("it is one AutoGen agent; give an Agent whose make gives one for each bidder and game")
        if not isinstance(agent, Agent) and (wrong := complaint(agent)):
            raise ConfigError(f"it {wrong}")
        return _Seated(name, lambda bidder: agent_of(Bidder(bidder, agent=True), agent))


def _shown(agent: Any) -> str:
    if isinstance(agent, AgentCommand | AgentServer):
        return repr(str(agent)[:SHOWN])
    if isinstance(agent, str | Mapping):
        return repr(agent)
    return repr(getattr(agent, "name", None) or getattr(agent, "__qualname__", type(agent).__qualname__))


def _play(game: Game, agent: _Seated, seconds: float, seed: int, hardships: Iterator[Hardship]) -> Sequence[Entry]:
    """Play a game with the agent in every seat; the first broken promise ends it."""
    agents = dict[str, object]()
    for bidder in names_of(game):
        made = agent.make(bidder)
        shared = is_chat_agent(made) and any(made is other for other in agents.values())
        require(not shared, f"{agent.name} is one for two bidders", bidder)
        agents[bidder] = made if is_chat_agent(made) else Probe(made, partial(agent.make, bidder), hardships)
    own = {bidder: _secret(bidder, seed) for bidder in agents}
    personas = [{"id": secret, "name": bidder, "text": _TEXT.format(secret)} for bidder, secret in own.items()]
    seats = [
        {"name": bidder, "agent": True, "timeout_seconds": seconds, "persona": secret} for bidder, secret in own.items()
    ]
    secrets = {bidder: _of_others(bidder, list(own), seed) for bidder in own}
    watch = _Watch(agent, agents, secrets, seconds)
    return table(game, seats, {}, seed, personas).run(agents=agents, listen=watch.hear).log


def _of_others(bidder: str, bidders: Sequence[str], seed: int) -> dict[str, str]:
    """Give what a bidder may not know, with whose it is."""
    others = {repr(other): _secret(other, seed) for other in bidders if other != bidder}
    return others | {
        f"{other!r} of an earlier game": _secret(other, earlier) for earlier in range(seed) for other in bidders
    }


def _secret(bidder: str, seed: int) -> str:
    """Give a word that nobody would say by chance."""
    return f"secret-{sha256(f'{bidder} {seed}'.encode()).hexdigest()[:12]}"


class _Watch:
    """Hears a game, and refuses what breaks a promise."""

    def __init__(
        self, agent: _Seated, agents: Mapping[str, object], secrets: Mapping[str, Mapping[str, str]], seconds: float
    ) -> None:
        self._what, self._late = agent.name, agent.late
        self._agents = agents
        self._secrets = secrets
        self._seconds = seconds
        self._words = dict[str, str]()
        self._patience = end_of_patience()

    def hear(self, entry: Entry) -> None:
        """Look at an event.

        Raises:
            AssertionError: it breaks a promise.
        """
        self._patience(entry)
        match entry.event:
            case Answered(bidder=bidder, words=words):
                self._words[bidder] = words
                self._check_secrets(bidder, words)
            case ModelCalled(bidder=bidder, model=model):
                self._check_secrets(bidder, model)
            case SeatFailed(bidder=bidder, kind="timeout"):
                self._broken(bidder, f"gives no answer within {self._seconds:g} s{self._late}")
            case SeatFailed(bidder=bidder, detail=detail):
                self._broken(bidder, "fails instead of an answer", detail)
            case Tried(bidder=bidder, reason=reason):
                words = self._words.get(bidder, "")
                said = () if reason in words else (words[:SHOWN],)
                self._broken(bidder, "gives an answer that is refused", *said, reason)

    def _check_secrets(self, bidder: str, words: str) -> None:
        for whose, secret in self._secrets[bidder].items():
            told = f"{self._what} tells in the seat of {bidder!r} what only {whose} may know"
            require(secret not in words, told, words[:SHOWN])

    def _broken(self, bidder: str, promise: str, *evidence: str) -> None:
        agent = self._agents[bidder]
        when = agent.hardship.words if isinstance(agent, Probe) else ""
        require(False, f"{self._what} {promise}{when}, in the seat of {bidder!r}", evidence or "")
