"""The conformance suites for anything that takes a seat, behind any door, and for models: call them in your tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from hashlib import sha256
from io import StringIO
from itertools import cycle, repeat
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from harbor._config.agents import FLUSH, AgentCommand, AgentServer, AnyAgent
from harbor._config.auction import Bidder, ModelSettings
from harbor._core.basics.errors import ConfigError
from harbor._core.log.acts import Tried
from harbor._core.log.events import Answered, ModelCalled, SeatFailed
from harbor._core.log.log import of_type
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.finding import asked, find
from harbor._doors.agent import Agent, agent_of, complaint, is_chat_agent, make_agent
from harbor._doors.door import Door, Given, Told, Turn
from harbor._doors.open_doors import open_door
from harbor._games.game import Game
from harbor._games.mechanism import require
from harbor._house.auctioneer import call
from harbor._models.providers import Model, open_chat
from harbor.testing._playing import end_of_patience, equal, names_of, played, promised, seated, table, thinkers, whole

LONG = 70_000
"""Bytes added to a turn: more than the usual limit of 64 KiB for a line."""
REFUSAL = "it could not be read"


class Hardship(NamedTuple):
    """A change of a turn on its way, and its words for a message; `anew` if the agent is made anew for the turn."""

    words: str
    change: Callable[[Turn], Turn]
    anew: bool = False


def _with(turn: Turn, **fields: Any) -> Turn:
    told = {**turn.as_json(), **fields}
    seen = tuple(Told.of(json.dumps(event)) for event in told.pop("seen"))
    return turn._replace(head=json.dumps(told), seen=seen)


def _newer(turn: Turn) -> Turn:
    """Add a field and an event that today's turns don't have."""
    seen = [{"type": "rumour_heard", "about": "nobody"}, *turn.as_json()["seen"]]
    return _with(turn, later={"anything": [1, None]}, seen=seen)


def _again(turn: Turn) -> Turn:
    """Ask a turn as after a failed answer."""
    words, ask = turn.as_json()["words"], turn.ask._replace(attempt=turn.ask.attempt + 1, refusal=REFUSAL)
    told = words.removesuffix(call(turn.ask)) + call(ask)
    return _with(turn._replace(ask=ask), attempt=ask.attempt, refusal=REFUSAL, words=told)


AS_IT_IS = Hardship("", lambda turn: turn)
HARDSHIPS = (
    Hardship(" to a turn with a field and an event that are new to it", _newer),
    Hardship(" when it is told that its last answer failed", _again),
    Hardship(" in the middle of a game, as after a restart", lambda turn: turn, anew=True),
    Hardship(f" to a turn of more than {LONG:,} bytes", lambda turn: _with(turn, later="x" * LONG)),
)
"""The changes of the second game, one per turn."""


class Probe(Door):
    """Stands before the door to an agent.

    Args:
        agent: the agent.
        make: makes another one for the same seat.
        hardships: yields the hardship of each turn.
    """

    def __init__(self, agent: object, make: Callable[[], object], hardships: Iterator[Hardship]) -> None:
        self._agent = agent
        self._make = make
        self._hardships = hardships
        self._door: Door | None = None
        self.hardship = AS_IT_IS

    async def ask(self, turn: Turn) -> Given:
        """Pass a turn on."""
        self.hardship = next(self._hardships)
        if self.hardship.anew and self._door is not None:
            await self.close()
            self._agent = self._make()
        self._door = self._door or open_door(self._agent)
        return await self._door.ask(self.hardship.change(turn))

    async def close(self) -> None:
        """Close the door."""
        door, self._door = self._door, None
        if door is not None:
            await door.close()


SHOWN = 80
"""Characters of a command, or of an agent's words, that a message shows."""
_SETTING: TypeAdapter[Any] = TypeAdapter(AnyAgent)
_TEXT = "You are careful with money. The code of your safe is {}, and you tell nobody."
"""A persona with a secret, which the agent's words must not contain."""


def check_seat(agent: Any, game: str = "english", *, like: Any = None, seconds: float = 120.0) -> None:
    """Check that an agent can play by the bidder protocol, in all seats of two games.

    The agent has to answer each turn in time with a legal action. In the second game, some turns are harder.
    Some have fields and events that the agent does not know, some are long, and some say that the last answer failed.
    In the middle of that game, the agent is started anew, and has lost all that it kept. The words and the model calls
    of the agent must not contain a fact that only another bidder may know. If `like` is given, that agent plays the
    first game too, and both logs have to be the same except for clocks. The check does not judge how well the agent
    plays, and the agent may answer the same turn differently, as models do. The agent's printed output is not shown.

    An AutoGen agent gets words instead of turns, so nothing is made harder for it in the second game.

    Args:
        agent: any value of the setting `agent` or of `run(agents=...)`: a name, "package.module:NAME", a function that
            takes one turn, a LangChain Runnable, a program, a server, or an `Agent`. Pass an AutoGen agent as an
            `Agent` that makes it.
        game: the name of the game that the agent plays.
        like: another agent that has to play in the same way, such as the same policy as a program (None: none).
        seconds: the time limit of a turn.

    Raises:
        AssertionError: one of these checks fails; the message says which one, and shows the evidence.
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
    """An agent: its name in messages, a maker of the agent of a bidder, and a hint for late answers."""

    name: str
    make: Callable[[str], object]
    late: str = ""


def _seated(agent: Any) -> _Seated:
    """Return a value of the setting as an agent that can be seated.

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
    """Return the secrets that a bidder may not know, with their owner."""
    others = {repr(other): _secret(other, seed) for other in bidders if other != bidder}
    return others | {
        f"{other!r} of an earlier game": _secret(other, earlier) for earlier in range(seed) for other in bidders
    }


def _secret(bidder: str, seed: int) -> str:
    """Return a word that nobody would say by chance."""
    return f"secret-{sha256(f'{bidder} {seed}'.encode()).hexdigest()[:12]}"


class _Watch:
    """Listens to a game, and refuses an event that breaks a promise."""

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


def check_agent(agent: Agent, game: str = "english") -> None:
    """Check that an `Agent` extension works.

    If the extension's `make` returns AutoGen agents, it has to return a different object for each bidder. The agent has
    to answer every call of a game, in words that the auctioneer can read as an answer to that call.

    Args:
        agent: the agent.
        game: the name of the game that the agent plays.

    Raises:
        AssertionError: one of these checks fails; the message says which one, and shows the evidence.
    """
    whole(agent, "agent")
    what = f"the agent {agent.name!r}"
    with promised(what):
        ann, ben = make_agent(agent.name, "Ann"), make_agent(agent.name, "Ben")
        require(ann is not ben or not is_chat_agent(ann), f"{what} is one for two bidders")
        chosen: Game = find("game", game)
        log = played(table(chosen, seated(names_of(chosen), {"agent": agent.name}), {})).log
        refused = [event.reason for event in of_type(log, Tried)]
        require(not refused, f"{what} answers in words that are refused", refused)


def check_model(model: Model, game: str = "english") -> None:
    """Check that a `Model` extension works: its first reply to each of Harbor's prompts has to be usable.

    Args:
        model: the model.
        game: the name of the game that the model plays.

    Raises:
        AssertionError: a reply can't be used, or the model is never called; the message shows the evidence.
    """
    whole(model, "model")
    what = f"the model {model.name!r}"
    with promised(what):
        open_chat(model.name, ModelSettings(use=model.name), 0)
        chosen: Game = find("game", game)
        auction = table(chosen, [{**seat, "model": model.name} for seat in thinkers(chosen)], {})
        calls = of_type(played(auction).log, ModelCalled)
        unusable = [(call.purpose, call.outcome) for call in calls if call.outcome != "ok"]
        require(calls, f"{what} is never called")
        require(not unusable, f"{what} gives replies that can't be used", unusable)
