"""The page about LangGraph and the folder for its servers: what they show runs."""

from __future__ import annotations

import json
import re
import runpy
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from support.folders import ROOT

SNIPPETS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "langgraph.md").read_text(encoding="utf-8"), re.DOTALL)
FOLDER = ROOT / "examples" / "langgraph"


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_snippet_prints_what_it_says(snippet, capsys):
    exec(compile(snippet, "docs/langgraph.md", "exec"), {"__name__": "snippet"})
    said = re.search(r"print\(.*\)  # (.*)\n", snippet)
    assert capsys.readouterr().out.splitlines()[-1] == said[1]


def graphs() -> dict[str, Any]:
    """Load the graphs as a server does: by the paths in langgraph.json."""
    named = json.loads((FOLDER / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    places = {name: place.partition(":") for name, place in named.items()}
    return {name: runpy.run_path(str(FOLDER / path))[value] for name, (path, _, value) in places.items()}


def test_a_server_finds_graphs_without_checkpointer_and_store():
    assert {name: (graph.checkpointer, graph.store) for name, graph in graphs().items()} == {
        "ann": (None, None),
        "sale": (None, None),
    }
    for graph in graphs().values():
        assert graph.get_input_jsonschema()["properties"]
        assert graph.get_graph(xray=True).draw_mermaid()


@pytest.mark.parametrize("saver", [None, InMemorySaver()], ids=["no checkpointer", "checkpointer"])
def test_the_sale_goes_on_until_one_bidder_is_left(saver):
    sale = graphs()["sale"]
    sale.checkpointer = saver
    said = sale.invoke({"messages": []}, {"configurable": {"thread_id": "sale"}})["messages"]
    assert [one.content for one in said[-2:]] == ["I bid $240,000.", "I withdraw."]
    assert len(said) == 36
