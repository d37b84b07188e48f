"""Harbor: study how language-model agents with personas compete in auctions.

The names below are loaded when they are first used, so that importing `harbor` loads no framework.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harbor._config.auction import Bidder as Bidder
    from harbor._config.auction import Houses as Houses
    from harbor._config.auction import Item as Item
    from harbor._config.auction import ModelSettings as ModelSettings
    from harbor._config.auction import Rules as Rules
    from harbor._config.auction import Simulated as Simulated
    from harbor._core.errors import HarborError as HarborError
    from harbor._core.log import read_log as read_log
    from harbor._house.people import Person as Person
    from harbor._room.room import AuctionRoom as AuctionRoom
    from harbor._room.seats import BidderAgent as BidderAgent
    from harbor._runs.result import Result as Result
    from harbor._runs.resuming import aresume as aresume
    from harbor._runs.resuming import resume as resume
    from harbor._runs.run import Auction as Auction
    from harbor._runs.series import hold_series as hold_series
    from harbor._simulated.chat_model import SimulatedChat as SimulatedChat
    from harbor.graphs._context.context import Mind as Mind
    from harbor.graphs._wiring.bidder import bidder_graph as bidder_graph
    from harbor.personas._catalog.catalog import houses as houses
    from harbor.personas._catalog.catalog import personas as personas

__version__ = "0.1.0"

_HOMES = {
    "Auction": "_runs.run",
    "AuctionRoom": "_room.room",
    "Bidder": "_config.auction",
    "BidderAgent": "_room.seats",
    "HarborError": "_core.errors",
    "Houses": "_config.auction",
    "Item": "_config.auction",
    "Mind": "graphs._context.context",
    "ModelSettings": "_config.auction",
    "Person": "_house.people",
    "Result": "_runs.result",
    "Rules": "_config.auction",
    "Simulated": "_config.auction",
    "SimulatedChat": "_simulated.chat_model",
    "aresume": "_runs.resuming",
    "bidder_graph": "graphs._wiring.bidder",
    "hold_series": "_runs.series",
    "houses": "personas._catalog.catalog",
    "personas": "personas._catalog.catalog",
    "read_log": "_core.log",
    "resume": "_runs.resuming",
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
