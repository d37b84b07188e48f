"""The newcomer's proof: the files of tests that `make test` runs, but for their slow tests and their studies.

They show the parts that a broken installation breaks and each thing that a user does, once. The whole suite stays the
proof of the code: `make check`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FILES_BY_FOLDER = {
    "": "readme references public packaging docstrings examples failures privacy way_of_one_bid",
    "core": "private_files parsing spaces acts marks extensions",
    "config": "config",
    "games": "english water games game_values settlements board pictures",
    "house": "auctioneer checking",
    "room": "room border carried",
    "personas": "catalogues own_items personas traits",
    "graphs": "graph deciding bundles",
    "graphs/apps": "autogen_page langgraph_page bidder_graph bidder_node team_agent listener",
    "memory/bidder": "memory",
    "memory/store": "chroma_store embedding",
    "models": "models cache usage messages prices providers odd_replies budget",
    "models/simulated": "simulated",
    "models/governor": "account",
    "doors": "every_door agent functions runnables open_doors servers processes",
    "evaluation/metrics": "outcomes measurements metrics",
    "evaluation/analysis": "means calibration",
    "evaluation/experiments": "same_seed factors failed_calls",
    "evaluation/running": "runner hosting budget",
    "evaluation/report": "exports verdict",
    "evaluation/rating": "rating",
    "cli": "cli set play verify view list groups new cache_commands",
    "mcp": "seat_tools host_tools",
    "packs": "public_packs what_calls_note",
    "plugins": "winners",
    "runs": "series parts notebook commits",
    "testing": "policy_suite",
    "view": "arms series_pages",
}
FILES = {TESTS / folder / f"test_{name}.py" for folder, names in FILES_BY_FOLDER.items() for name in names.split()}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect no other file for `-m proof`: to load them all takes as long as these tests."""
    is_other = collection_path.name.startswith("test_") and collection_path not in FILES
    return True if is_other and config.getoption("-m") == "proof" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of these files but for the slow ones and those of `make studies`."""
    for item in items:
        if item.path in FILES and not any(map(item.get_closest_marker, ("slow", "studies"))):
            item.add_marker("proof")
