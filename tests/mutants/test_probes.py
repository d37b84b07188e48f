"""Probes before the statements of mutants leave the code as it is."""

from __future__ import annotations

import ast

import pytest

from mutants import trees

SOURCE = '''"""A module."""

LIMIT = 3


def short(x): return x


class Kept:
    @property
    def size(self):
        """Return it."""
        for one in range(LIMIT):
            if one > 1:
                return one
            elif one:
                continue
            else:
                match one:
                    case 0:
                        return 5
                    case _:
                        pass
        try:
            return sum(
                one
                for one in range(3)
            )
        except ValueError:
            raise
'''


@pytest.mark.parametrize("line", [line for line, text in enumerate(SOURCE.splitlines(), start=1) if text.strip()])
def test_a_probe_stands_before_its_statement_and_changes_no_other(tmp_path, line):
    file = tmp_path / "kept.py"
    file.write_text(SOURCE, encoding="utf-8")
    trees.probe(file, {7: line})
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    assert "".join(one for one in lines if "mutant_probe" not in one) == SOURCE
    assert len(lines) == len(SOURCE.splitlines()) + 1
    ast.parse("".join(lines))


@pytest.mark.parametrize(
    ("changed", "before"),
    [
        ("elif one", "if one > 1"),
        ("for one in range(3)", "return sum"),
        ("return 5", "return 5"),
        ("for one in range(LIMIT)", "for one in range(LIMIT)"),
        ("raise", "raise"),
    ],
)
def test_a_probe_stands_before_the_innermost_statement_that_can_have_one(tmp_path, changed, before):
    file = tmp_path / "kept.py"
    file.write_text(SOURCE, encoding="utf-8")
    line = next(number for number, text in enumerate(SOURCE.splitlines(), start=1) if changed in text)
    trees.probe(file, {7: line})
    lines = file.read_text(encoding="utf-8").splitlines()
    at = next(number for number, text in enumerate(lines) if "mutant_probe" in text)
    assert lines[at + 1].strip().startswith(before)
