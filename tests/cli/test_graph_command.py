"""`harbor graph`: the graph of a bidder as Mermaid text, without the nodes that are switched off."""

from __future__ import annotations

import re

import pytest

from support.commands import harbor, mistake, process

CONFIG = """
items = {count = 2}
[[bidders]]
name = "Rob"
rule = "truthful"
[[bidders]]
name = "Ann"
planning = "static"
theory_of_mind = "second"
strategy = "on"
[[bidders]]
name = "Ben"
planning = "none"
"""
FULL = {"plan", "profile", "mirror", "predict", "strategize", "bid", "believe"}


@pytest.fixture
def here(tmp_path):
    """A folder with a config."""
    (tmp_path / "sale.toml").write_text(CONFIG)
    return tmp_path


def nodes(mermaid: str) -> set[str]:
    """Read the nodes of a Mermaid graph, its start and end aside."""
    return set(re.findall(r"^\t(\w+)\(", mermaid, re.MULTILINE)) - {"__start__", "__end__"}


def arrows(mermaid: str) -> set[tuple[str, str]]:
    """Read the arrows of a Mermaid graph, sure ones and possible ones."""
    return set(re.findall(r"^\t(\w+) -\.?->? ?(?:&nbsp;)?(\w+);", mermaid, re.MULTILINE))


@pytest.mark.slow
def test_the_graph_of_a_bidder_is_printed_as_mermaid_and_nothing_else(here):
    done = process("graph", "sale.toml", cwd=here)
    assert (done.returncode, done.stderr) == (0, "")
    assert "graph TD;" in done.stdout
    assert nodes(done.stdout) == FULL
    assert [path.name for path in here.iterdir()] == ["sale.toml"]


def test_the_first_bidder_that_has_a_graph_is_shown(here):
    done = harbor("graph", "sale.toml", cwd=here)
    assert (done.returncode, nodes(done.stdout)) == (0, FULL)


def test_a_bidder_can_be_chosen_by_name(here):
    done = harbor("graph", "sale.toml", "--bidder", "Ben", cwd=here)
    assert (done.returncode, nodes(done.stdout)) == (0, {"bid", "believe"})


def test_without_a_config_the_demo_is_shown():
    assert nodes(harbor("graph").stdout) == {"plan", "bid", "believe", "replan"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ('theory_of_mind = "true"', {"predict"}),
        ('theory_of_mind = "inferred"\nstrategy = "on"', {"profile", "predict", "strategize"}),
        ('theory_of_mind = "true"\nstrategy = "on"', {"predict", "strategize"}),
        ('theory_of_mind = "second"\nstrategy = "fused"', {"profile", "mirror", "predict"}),
        ('strategy = "fused"', set()),
        ('bidding = "limit"', set()),
    ],
)
def test_what_is_switched_off_is_not_printed(tmp_path, settings, expected):
    (tmp_path / "one.toml").write_text(f'[[bidders]]\nname = "Ann"\nplanning = "none"\n{settings}\n')
    assert nodes(harbor("graph", "one.toml", cwd=tmp_path).stdout) == {"bid", "believe", *expected}


def test_the_arrows_lead_from_strategy_to_bid(here):
    assert ("strategize", "bid") in arrows(harbor("graph", "sale.toml", cwd=here).stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sale.toml", "--bidder", "Anne"], "unknown bidder with a graph 'Anne'; did you mean 'Ann'?"),
        (["sale.toml", "--bidder", "Rob"], "unknown bidder with a graph 'Rob'; choose one of: Ann, Ben"),
        (["dmo"], "unknown preset 'dmo'; did you mean 'demo'?"),
        (["none.toml"], "config 'none.toml' can't be read"),
        (["rules.toml"], "config 'rules.toml' has no bidder with a graph"),
        (["typo.toml"], "bidders[0].strategy 'of'"),
        (["key.toml"], "unknown key 'theory_of_minds'; did you mean 'theory_of_mind'?"),
        (["broken.toml"], "is not TOML"),
        (["sale.toml", "--biddr", "Ann"], "--biddr"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_exit_code_2(here, words, said):
    (here / "rules.toml").write_text('[[bidders]]\nname = "Rob"\nrule = "truthful"\n')
    (here / "typo.toml").write_text('[[bidders]]\nname = "Ann"\nstrategy = "of"\n')
    (here / "key.toml").write_text('[[bidders]]\nname = "Ann"\ntheory_of_minds = "none"\n')
    (here / "broken.toml").write_text("bidders = = 1")
    assert said in mistake(harbor("graph", *words, cwd=here))
