"""The messages that the page of troubleshooting quotes are messages of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from support.folders import ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"
FOLDERS = ("harbor", "graphs", "memory", "personas", "evaluation")
QUOTED = re.findall(r"^\| \"(.*?)\"[^|]*\|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@cache
def texts() -> str:
    """Give every text of the code, with nothing in place of what is filled in."""
    files = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return "\n".join(text for file in files for text in _texts(ast.parse(file.read_text(encoding="utf-8"))))


def _texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "\0".join(one.value for one in node.values if isinstance(one, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("message", QUOTED)
def test_a_message_that_is_quoted_is_one_of_the_code(message):
    pieces = [piece.strip(" .;,()'`") for piece in message.split("...")]
    assert any(pieces)
    assert [piece for piece in pieces if piece not in texts()] == []
