"""`harbor list`: what there is to name, what it is and where it comes from; a broken package costs one line."""

from __future__ import annotations

import json
import re
import sys

import pytest

from harbor import __version__
from support.commands import harbor, mistake
from support.plugins import install, installed

KNOWN = {
    "games": "english", "presets": "demo", "metrics": "profit_ratio", "models": "simulated", "nodes": "plan",
    "personas": "urban-dwellers", "policies": "minimum-raise", "figures": "winning-bids", "catalogues": "homes",
}  # fmt: skip
SIZES = """
from harbor.evaluation import measured, metric
from harbor.events import BidderLabelled

@metric("events in the log, [bold]all[/bold]", "count", of=BidderLabelled)
def sizes(name, entries):
    return [measured(name, len(entries))]
"""


def listed(what: str) -> dict[str, dict[str, str]]:
    """List one kind, and give its rows by name."""
    done = harbor("list", what, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return {row["name"]: row for row in json.loads(done.stdout)}


@pytest.mark.parametrize("what", KNOWN)
def test_what_harbor_brings_is_listed_with_what_it_is_and_where_it_comes_from(what):
    rows = listed(what)
    assert {tuple(row) for row in rows.values()} == {("name", "description", "origin", "version")}
    assert all(row["description"] for row in rows.values())
    assert {"models": {"openai:MODEL"}, "presets": {"tom"}}.get(what, set()) <= rows.keys()
    version = "1" if what in ("personas", "catalogues") else __version__
    assert (rows[KNOWN[what]]["origin"], rows[KNOWN[what]]["version"]) == ("harbor-auctions", version)


def test_what_a_package_brings_is_listed_and_a_broken_package_is_one_warning(tmp_path):
    install(tmp_path, "good", {"good.py": SIZES}, {"harbor.metrics": {"sizes": "good:sizes"}}, "2.1")
    install(tmp_path, "bad", {"bad.py": "1 / 0"}, {"harbor.metrics": {"bad": "bad:IT"}})
    with installed(tmp_path):
        done = harbor("list", "metrics", "--json")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert done.stderr.startswith("harbor: warning: package 'bad' 0.1, entry point 'bad' of 'harbor.metrics'")
    rows = {row["name"]: [*row.values()] for row in json.loads(done.stdout)}
    assert rows["sizes"] == ["sizes", "events in the log, [bold]all[/bold]", "good", "2.1"]
    assert ("profit" in rows, "bad" in rows) == (True, False)


def test_what_the_command_line_names_is_listed_as_that_and_as_text(tmp_path):
    (tmp_path / "beside.py").write_text(SIZES)
    with installed():
        shown = harbor("--plugin", "beside:sizes", "list", "metrics", cwd=tmp_path).stdout
    [row] = [line for line in shown.splitlines() if "beside:sizes" in line]
    assert re.fullmatch("beside:sizes +events in .* beside:sizes *", row)
    assert "[bold]all[/bold]" in shown


def test_who_names_nothing_is_told_what_can_be_listed_and_agents_are_brought_by_others_only():
    done = harbor("list")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(what in done.stdout for what in (*KNOWN, "agents", "harbor list presets"))
    assert set(json.loads(harbor("list", "--json").stdout)) == {*KNOWN, "agents"}
    assert "'gams'" in mistake(harbor("list", "gams"))
    assert listed("agents") == {}
    assert harbor("list", "agents").stdout == "no agents are installed\n"


def test_help_loads_no_extension(tmp_path):
    install(tmp_path, "loud", {"loud.py": SIZES}, {"harbor.metrics": {"sizes": "loud:sizes"}})
    with installed(tmp_path):
        assert "  list " in harbor("--help").stdout
        assert "loud" not in sys.modules
        assert "sizes" in listed("metrics")
        assert "loud" in sys.modules


# ---------------------------------------------------------------- what measures a game


def test_metrics_are_listed_by_game_and_the_others_with_the_reason():
    told = json.loads(harbor("list", "metrics", "--game", "water", "--json").stdout)
    why_not = {row["name"]: row["why_not"] for row in told}
    assert why_not.keys() == listed("metrics").keys()
    assert (why_not["survived"], why_not["revenue"], why_not["calls"]) == ("", "", "")
    assert (why_not["profit_ratio"], why_not["earned"]) == ("it has no Listed", "it has no SessionOpened")
    lines = harbor("list", "metrics", "--game", "beauty").stdout.splitlines()
    assert lines[0] == "Metrics that measure beauty"
    assert any(line.startswith("revenue ") for line in lines)
    [goods] = [line for line in lines if line.endswith(": it has no Allocated or AllocatedSealed")]
    assert goods.startswith("left out: items_won, units_won, ")
    told = mistake(harbor("list", "figures", "--game", "water"))
    assert "figures are not listed by game; write: harbor list metrics --game water" in told
    assert "unknown game 'watr'" in mistake(harbor("list", "metrics", "--game", "watr"))
