"""`harbor graph`: the graph of a bidder as Mermaid text, without the nodes that are switched off."""

from __future__ import annotations

import re

import pytest

from support.commands import harbor, mistake

CONFIG = """
items = {count = 2}
bidders = [
  {name = "Rob", rule = "truthful"},
  {name = "Ann", planning = "static", theory_of_mind = "second", strategy = "on"},
  {name = "Ben", planning = "none"},
]
"""


@pytest.fixture
def here(tmp_path):
    """A folder with a config."""
    (tmp_path / "sale.toml").write_text(CONFIG)
    return tmp_path


def nodes(mermaid: str) -> set[str]:
    """Read the nodes of a Mermaid graph, its start and end aside."""
    return set(re.findall(r"^\t(\w+)\(", mermaid, re.MULTILINE)) - {"__start__", "__end__"}


@pytest.mark.parametrize(("words", "expected"), [
    (["sale.toml"], {"plan", "profile", "mirror", "predict", "strategize", "bid", "believe"}),
    (["sale.toml", "--bidder", "Ben"], {"bid", "believe"}),
    ([], {"plan", "bid", "believe", "replan"}),
], ids=["the first that has one", "the one that is named", "the demo's"])  # fmt: skip
def test_the_graph_of_a_bidder_is_printed_as_mermaid_and_nothing_else(here, words, expected):
    done = harbor("graph", *words, cwd=here)
    assert (done.returncode, done.stderr, nodes(done.stdout)) == (0, "", expected)
    assert "graph TD;" in done.stdout
    assert ("strategize --> bid;" in done.stdout) == ("strategize" in expected)
    assert [path.name for path in here.iterdir()] == ["sale.toml"]


@pytest.mark.parametrize(("words", "said"), [
    (["sale.toml", "--bidder", "Anne"], "unknown bidder with a graph 'Anne'; did you mean 'Ann'?"),
    (["sale.toml", "--bidder", "Rob"], "unknown bidder with a graph 'Rob'; choose one of: Ann, Ben"),
    (["none.toml"], "config 'none.toml' can't be read"),
    (["rules.toml"], "config 'rules.toml' has no bidder with a graph"),
])  # fmt: skip
def test_a_mistake_is_one_line_and_exit_code_2(here, words, said):
    (here / "rules.toml").write_text('[[bidders]]\nname = "Rob"\nrule = "truthful"\n')
    assert said in mistake(harbor("graph", *words, cwd=here))
