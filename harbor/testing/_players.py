"""The conformance suites for agents and models: call them in a test of one that you write."""

from __future__ import annotations

from harbor._config.auction import ModelSettings
from harbor._core.acts import Tried
from harbor._core.events import ModelCalled
from harbor._core.finding import find
from harbor._core.log import of_type
from harbor._doors.agent import Agent, make_agent
from harbor._doors.makes import is_chat_agent
from harbor._games.game import Game
from harbor._games.purity import require
from harbor._models.model import Model
from harbor._models.providers import open_chat
from harbor.testing._playing import names_of, played, promised, seated, table, thinkers, whole


def check_agent(agent: Agent, game: str = "english") -> None:
    """Check that an agent keeps its promises.

    No two bidders share an AutoGen agent; it answers every call of a game, in words that the auctioneer can read as
    what the call asks for.

    Args:
        agent: the agent.
        game: the game that it plays.

    Raises:
        AssertionError: it names the broken promise and the evidence.
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
    """Check that a model keeps its promises: it gives a usable reply to each of Harbor's prompts, at the first attempt.

    Args:
        model: the model.
        game: the game that it plays.

    Raises:
        AssertionError: it names the broken promise and the evidence.
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
