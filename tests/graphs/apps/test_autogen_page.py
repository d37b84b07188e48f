"""The page about AutoGen: its snippets run, and print what they say."""

from __future__ import annotations

import re

import pytest

from support.folders import ROOT

SNIPPETS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "autogen.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_snippet_prints_what_it_says(snippet, capsys):
    exec(compile(snippet, "docs/autogen.md", "exec"), {"__name__": "snippet"})
    said = re.search(r"print\(.*\)  # (.*)\n", snippet)
    assert capsys.readouterr().out.splitlines()[-1] == said[1]
