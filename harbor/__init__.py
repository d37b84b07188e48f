"""Harbor: study how language-model agents with personas compete in auctions."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from harbor._core.faces import __version__ as __version__
from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor._config.agents import AgentCommand as AgentCommand
    from harbor._config.agents import AgentServer as AgentServer
    from harbor._config.auction import Bidder as Bidder
    from harbor._config.auction import Houses as Houses
    from harbor._config.auction import Item as Item
    from harbor._config.models import ModelSettings as ModelSettings
    from harbor._config.models import Simulated as Simulated
    from harbor._core.basics.errors import HarborError as HarborError
    from harbor._core.basics.errors import ModelError as ModelError
    from harbor._core.basics.errors import RunPaused as RunPaused
    from harbor._core.log.log import of_type as of_type
    from harbor._core.log.log import read_log as read_log
    from harbor._core.plugins.finding import use as use
    from harbor._doors.agent import Agent as Agent
    from harbor._games.english.rules import EnglishRules as EnglishRules
    from harbor._house.people import Person as Person
    from harbor._models.providers import Model as Model
    from harbor._models.replies.cache import ReplyCache as ReplyCache
    from harbor._models.simulated.chat_model import SimulatedChat as SimulatedChat
    from harbor._room.room import AuctionRoom as AuctionRoom
    from harbor._room.seats import ask_message as ask_message
    from harbor._runs.auction import Auction as Auction
    from harbor._runs.inputs import Result as Result
    from harbor._runs.series import aresume as aresume
    from harbor._runs.series import arun_series as arun_series
    from harbor._runs.series import resume as resume
    from harbor._runs.series import run_series as run_series
    from harbor.graphs._apps.asked_in_json import BidderState as BidderState
    from harbor.graphs._apps.bidder_graph import bidder_graph as bidder_graph
    from harbor.graphs._apps.bidder_node import bidder_node as bidder_node
    from harbor.graphs._apps.team_agent import BidderAgent as BidderAgent
    from harbor.personas._catalog.catalogue import houses as houses

_ROOT = Path(__file__).resolve().parent.parent
_ROOT_FOLDERS = ("harbor.evaluation", "harbor.graphs", "harbor.memory", "harbor.personas")


class _Checkout(MetaPathFinder):
    """Finds the packages that stand beside this folder in a checkout, so that it runs uninstalled too."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Find those packages, and nothing else that stands there."""
        return PathFinder.find_spec(name, [str(_ROOT)]) if name in _ROOT_FOLDERS else None


if (_ROOT / "pyproject.toml").is_file():  # an installed copy holds them inside
    sys.meta_path.insert(0, _Checkout())  # before an installed finder, which may know another checkout

__getattr__, __all__ = face(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
