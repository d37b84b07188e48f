"""Harbor: study how language-model agents with personas compete in auctions.

The names below are loaded when they are first used, so that importing `harbor` loads no framework.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harbor.chat.room import AuctionRoom as AuctionRoom
    from harbor.chat.seats import BidderAgent as BidderAgent
    from harbor.config import Bidder as Bidder
    from harbor.config import Houses as Houses
    from harbor.config import Item as Item
    from harbor.config import ModelSettings as ModelSettings
    from harbor.config import Rules as Rules
    from harbor.config import Simulated as Simulated
    from harbor.errors import HarborError as HarborError
    from harbor.graphs.bidder import bidder_graph as bidder_graph
    from harbor.graphs.state import Mind as Mind
    from harbor.log import read_log as read_log
    from harbor.people import Person as Person
    from harbor.personas.catalog import houses as houses
    from harbor.personas.catalog import personas as personas
    from harbor.result import Result as Result
    from harbor.resuming import aresume as aresume
    from harbor.resuming import resume as resume
    from harbor.run import Auction as Auction
    from harbor.series import hold_series as hold_series
    from harbor.simulated.chat import SimulatedChat as SimulatedChat

__version__ = "0.1.0"

_HOMES = {
    "Auction": "run",
    "AuctionRoom": "chat.room",
    "Bidder": "config",
    "BidderAgent": "chat.seats",
    "HarborError": "errors",
    "Houses": "config",
    "Item": "config",
    "Mind": "graphs.state",
    "ModelSettings": "config",
    "Person": "people",
    "Result": "result",
    "Rules": "config",
    "Simulated": "config",
    "SimulatedChat": "simulated.chat",
    "aresume": "resuming",
    "bidder_graph": "graphs.bidder",
    "hold_series": "series",
    "houses": "personas.catalog",
    "personas": "personas.catalog",
    "read_log": "log",
    "resume": "resuming",
}
__all__ = ["__version__", *sorted(_HOMES)]

# In a checkout the sub-packages stand beside this folder, not in it: find them there even when not installed.
_ROOT = Path(__file__).resolve().parent.parent
if (_ROOT / "pyproject.toml").is_file() and (_ROOT / "graphs" / "__init__.py").is_file():
    __path__.append(str(_ROOT))


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'harbor' has no attribute {name!r}")
    return getattr(import_module(f"harbor.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
