"""`harbor graph`: the graph of a bidder as Mermaid text, without the nodes that are switched off."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings

import pytest

from harbor._cli import app as cli

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
def harbor(tmp_path, monkeypatch, capsys):
    """Give a command line in a folder with a config; it gives exit code, stdout and stderr."""

    def run(*words: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["harbor", *words])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return (left.value.code or 0, *capsys.readouterr())

    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sale.toml").write_text(CONFIG)
    return run


def nodes(mermaid: str) -> set[str]:
    """Read the nodes of a Mermaid graph, its start and end aside."""
    return set(re.findall(r"^\t(\w+)\(", mermaid, re.MULTILINE)) - {"__start__", "__end__"}


def arrows(mermaid: str) -> set[tuple[str, str]]:
    """Read the arrows of a Mermaid graph, sure ones and possible ones."""
    return set(re.findall(r"^\t(\w+) -\.?->? ?(?:&nbsp;)?(\w+);", mermaid, re.MULTILINE))


def test_the_graph_of_a_bidder_is_printed_as_mermaid_and_nothing_else(tmp_path):
    (tmp_path / "sale.toml").write_text(CONFIG)
    command = [sys.executable, "-P", "-m", "harbor", "graph", "sale.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "graph TD;" in done.stdout
    assert nodes(done.stdout) == FULL
    assert [path.name for path in tmp_path.iterdir()] == ["sale.toml"]


def test_the_first_bidder_that_has_a_graph_is_shown(harbor):
    code, said, _ = harbor("graph", "sale.toml")
    assert (code, nodes(said)) == (0, FULL)


def test_a_bidder_can_be_chosen_by_name(harbor):
    code, said, _ = harbor("graph", "sale.toml", "--bidder", "Ben")
    assert (code, nodes(said)) == (0, {"bid", "believe"})


def test_without_a_config_the_demo_is_shown(harbor):
    assert nodes(harbor("graph")[1]) == {"plan", "bid", "believe", "replan"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ('theory_of_mind = "true"', {"predict"}),
        ('theory_of_mind = "inferred"\nstrategy = "on"', {"profile", "predict", "strategize"}),
        ('theory_of_mind = "true"\nstrategy = "on"', {"predict", "strategize"}),
        ('theory_of_mind = "second"\nstrategy = "fused"', {"profile", "mirror", "predict"}),
        ('strategy = "fused"', set()),
    ],
)
def test_what_is_switched_off_is_not_printed(harbor, tmp_path, settings, expected):
    (tmp_path / "one.toml").write_text(f'[[bidders]]\nname = "Ann"\nplanning = "none"\n{settings}\n')
    assert nodes(harbor("graph", "one.toml")[1]) == {"bid", "believe", *expected}


def test_the_arrows_lead_from_strategy_to_bid(harbor):
    assert ("strategize", "bid") in arrows(harbor("graph", "sale.toml")[1])


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
def test_a_mistake_is_one_line_and_exit_code_2(harbor, tmp_path, words, said):
    (tmp_path / "rules.toml").write_text('[[bidders]]\nname = "Rob"\nrule = "truthful"\n')
    (tmp_path / "typo.toml").write_text('[[bidders]]\nname = "Ann"\nstrategy = "of"\n')
    (tmp_path / "key.toml").write_text('[[bidders]]\nname = "Ann"\ntheory_of_minds = "none"\n')
    (tmp_path / "broken.toml").write_text("bidders = = 1")
    code, out, err = harbor("graph", *words)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("harbor: error: ")
    assert said in err
