"""The public names: what a user may import, from where, and where it lives.

Everything else is in a folder or module whose name begins with an underscore, and may change at any time. A name is
loaded when it is first used, so that importing a public module loads no framework. Beside this list, `harbor.events`
shows every event.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

PUBLIC: dict[str, dict[str, str]] = {
    "harbor": {
        "Agent": "harbor._doors.agent",
        "AgentCommand": "harbor._config.agents",
        "AgentServer": "harbor._config.agents",
        "Auction": "harbor._runs.auction",
        "AuctionRoom": "harbor._room.room",
        "Bidder": "harbor._config.auction",
        "BidderAgent": "harbor.graphs._apps.team_agent",
        "HarborError": "harbor._core.errors",
        "Houses": "harbor._config.auction",
        "Item": "harbor._config.auction",
        "Model": "harbor._models.model",
        "ModelError": "harbor._core.errors",
        "ModelSettings": "harbor._config.models",
        "Person": "harbor._house.people",
        "ReplyCache": "harbor._models.replies.cache",
        "Result": "harbor._runs.result",
        "RunPaused": "harbor._core.errors",
        "EnglishRules": "harbor._games.english.settings",
        "Simulated": "harbor._config.models",
        "SimulatedChat": "harbor._models.simulated.chat_model",
        "BidderState": "harbor.graphs._apps.asked_in_json",
        "arun_series": "harbor._runs.series",
        "aresume": "harbor._runs.resuming",
        "ask_message": "harbor._room.seats",
        "bidder_graph": "harbor.graphs._apps.bidder_graph",
        "bidder_node": "harbor.graphs._apps.bidder_node",
        "run_series": "harbor._runs.series",
        "houses": "harbor.personas._catalog.homes",
        "of_type": "harbor._core.log",
        "read_log": "harbor._core.log",
        "resume": "harbor._runs.resuming",
        "use": "harbor._core.finding",
    },
    "harbor.evaluation": {
        "Compared": "harbor.evaluation._report.side_by_side",
        "Figure": "harbor.evaluation._report.figure",
        "Loaded": "harbor.evaluation._report.loading",
        "Measurement": "harbor.evaluation._metrics.measurement",
        "Metric": "harbor.evaluation._metrics.measurement",
        "acquisitions": "harbor.evaluation._metrics.behaviour",
        "agreement": "harbor.evaluation._metrics.strategy",
        "best_temperature": "harbor.evaluation._analysis.calibration",
        "by_bidder": "harbor.evaluation._metrics.measurement",
        "calibration_error": "harbor.evaluation._analysis.calibration",
        "compare": "harbor.evaluation._report.side_by_side",
        "engagements": "harbor.evaluation._metrics.behaviour",
        "figure": "harbor.evaluation._report.figure",
        "foresights": "harbor.evaluation._metrics.strategy",
        "inferences": "harbor.evaluation._analysis.inverse_planner",
        "judged": "harbor.evaluation._metrics.profiling",
        "load": "harbor.evaluation._report.loading",
        "measured": "harbor.evaluation._metrics.measurement",
        "metric": "harbor.evaluation._metrics.measurement",
        "priorities": "harbor.evaluation._metrics.plans",
        "profiling_errors": "harbor.evaluation._metrics.profiling",
        "strategies": "harbor.evaluation._metrics.strategy",
    },
    "harbor.games": {
        "Accept": "harbor._core.actions",
        "AcceptOrWait": "harbor._core.offers",
        "Action": "harbor._core.actions",
        "Amount": "harbor._core.amounts",
        "Ask": "harbor._core.asks",
        "AuctionConfig": "harbor._config.auction",
        "Bid": "harbor._core.actions",
        "Board": "harbor._games.board",
        "Bundle": "harbor._core.bundles",
        "BundleBid": "harbor._core.actions",
        "CENT": "harbor._core.money",
        "Choice": "harbor._core.offers",
        "Choose": "harbor._core.actions",
        "Claim": "harbor._core.money",
        "Entry": "harbor._core.log_lines",
        "Event": "harbor._core.events",
        "Game": "harbor._games.game",
        "Measures": "harbor._games.game",
        "Mark": "harbor._games.drawn",
        "Mechanism": "harbor._games.mechanism",
        "Money": "harbor._core.money",
        "Name": "harbor._core.settings",
        "Number": "harbor._core.amounts",
        "Outlook": "harbor._games.game",
        "Picture": "harbor._games.drawn",
        "Play": "harbor._games.game",
        "Policy": "harbor._core.players",
        "Quantity": "harbor._core.amounts",
        "Chance": "harbor._games.chance",
        "RuleSettings": "harbor._config.rules",
        "Say": "harbor._core.actions",
        "ScriptedPolicy": "harbor._games.scripted",
        "Share": "harbor._core.settings",
        "Shown": "harbor._games.board",
        "Simulated": "harbor._config.models",
        "Table": "harbor._games.scripted",
        "Take": "harbor._core.actions",
        "Truthful": "harbor._games.policies",
        "Wait": "harbor._core.actions",
        "Withdraw": "harbor._core.actions",
        "Words": "harbor._core.offers",
        "dollars": "harbor._core.money",
        "of_type": "harbor._core.log",
        "stream": "harbor._core.seeding",
        "to_cents": "harbor._core.money",
    },
    "harbor.graphs": {
        "AuctionView": "harbor.memory._bidder.auction_view",
        "SessionView": "harbor.memory._bidder.session_view",
        "ThoughtNode": "harbor.graphs._context.node",
    },
    "harbor.memory": {
        "BidderMemory": "harbor.memory._bidder.bidder_memory",
        "ChromaStore": "harbor.memory._store.chroma",
        "StoreMemory": "harbor._room.team_memory",
    },
    "harbor.personas": {
        "Catalogue": "harbor.personas._catalog.catalogue",
        "houses": "harbor.personas._catalog.homes",
        "personas": "harbor.personas._catalog.homes",
    },
    "harbor.testing": {
        "check_agent": "harbor.testing._players",
        "check_catalogue": "harbor.testing._catalogues",
        "check_experiment": "harbor.testing._experiments",
        "check_figure": "harbor.testing._figures",
        "check_game": "harbor.testing._games",
        "check_metric": "harbor.testing._metrics",
        "check_model": "harbor.testing._players",
        "check_node": "harbor.testing._nodes",
        "check_policy": "harbor.testing._policies",
        "check_rules": "harbor.testing._rules",
        "check_seat": "harbor.testing._seats",
        "check_store": "harbor.testing._stores",
        "replay": "harbor.testing._records",
    },
}
"""Where each public name lives, by the module that it is imported from."""


def face(module: str) -> tuple[Callable[[str], Any], list[str]]:
    """Give a public module its `__getattr__` and `__all__`."""
    homes = PUBLIC[module]

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return load, sorted(homes)
