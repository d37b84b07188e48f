"""Draws mutants: small changes to the code, by the operators of Cosmic Ray, that some test should notice."""

from __future__ import annotations

import ast
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOTS = ("harbor", "graphs", "personas", "memory", "evaluation")
SWAPPED = ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Div", "Mod_FloorDiv", "BitAnd_BitOr", "BitOr_BitAnd")
"""Operators of two numbers or sets and those in their places. Any other pair mostly fails at its first use."""


@dataclass(frozen=True)
class Mutant:
    """One change of one statement. `line` is where the statement stood when the mutant was drawn."""

    path: str
    line: int
    operator: str
    occurrence: int
    before: str
    after: str


@cache
def operators() -> dict[str, Any]:
    """Return the operators that need no arguments, by name."""
    kinds = {name: get_operator(name) for name in operator_names()}
    unusual = {name for name in kinds if "BinaryOperator_" in name and not name.endswith(SWAPPED)}
    return {name: kind() for name, kind in kinds.items() if not kind.arguments() and name not in unusual}


def mutated(source: str, operator: str, occurrence: int) -> str | None:
    """Return the source with one change; None if it has no such place."""
    code: str | None = mutate_code(source, operators()[operator], occurrence)
    return code


def drawn(root: Path, seed: int, size: int) -> list[Mutant]:
    """Draw statements, first one from each folder, then any, and one change for each."""
    random_ = random.Random(seed)
    places = {(path, line): found for path in _modules(root) for line, found in _changes(root / path).items()}
    folders = defaultdict[str, list[tuple[str, int]]](list)
    for place in sorted(places):
        folders[str(Path(place[0]).parent)].append(place)
    order = [random_.choice(folders[name]) for name in random_.sample(sorted(folders), len(folders))]
    order += random_.sample(rest := sorted(set(places) - set(order)), len(rest))
    found = (_mutant(root, place, places[place], random_) for place in order)
    return sorted(islice(filter(None, found), size), key=lambda one: (one.path, one.line))


def changed(before: str, after: str) -> tuple[str, str]:
    """Return the first lines that differ."""
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    one, other = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
    return one.strip(), other.strip()


def _modules(root: Path) -> Iterator[str]:
    for name in ROOTS:
        yield from sorted(str(path.relative_to(root)) for path in (root / name).rglob("*.py"))


def _changes(path: Path) -> dict[int, list[tuple[str, int]]]:
    """Return the operators and occurrences by the first line of the statement that they change."""
    source = path.read_text(encoding="utf-8")
    lines, types = _first_lines(source), _types(source)
    found, seen = defaultdict[int, list[tuple[str, int]]](list), Counter[str]()
    for node in ast_nodes(get_ast(source)):
        for name, operator in operators().items():
            for start, _end in operator.mutation_positions(node):
                occurrence, seen[name] = seen[name], seen[name] + 1
                first = lines.get(start[0])
                if first is not None and not any(one <= tuple(start) < other for one, other in types):
                    found[first].append((name, occurrence))
    return found


def _first_lines(source: str) -> dict[int, int]:
    """Map each line of a statement to the statement's first; imports, types and texts that stand alone are left out."""
    found = dict[int, int]()
    for node in ast.walk(ast.parse(source)):  # inner statements come after outer ones
        if isinstance(node, ast.stmt):
            for line in range(node.lineno, (node.end_lineno or 0) + 1):
                found[line] = node.lineno
    for node in ast.walk(ast.parse(source)):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if text or types or isinstance(node, ast.Import | ast.ImportFrom):
            for line in range(node.lineno, (node.end_lineno or 0) + 1):
                found.pop(line, None)
    return found


def _types(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the spans of annotations: nothing evaluates them but pydantic, so most changes there change nothing."""
    notes = list[ast.expr | None]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AnnAssign | ast.arg):
            notes.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            notes.append(node.returns)
    return [((one.lineno, one.col_offset), (one.end_lineno or 0, one.end_col_offset or 0)) for one in notes if one]


def _mutant(
    root: Path, place: tuple[str, int], changes: list[tuple[str, int]], random_: random.Random
) -> Mutant | None:
    """Return one of the changes, or None if the drawn one is no Python, as a "not" before ":=" is none."""
    path, line = place
    source = (root / path).read_text(encoding="utf-8")
    operator, occurrence = random_.choice(changes)
    after = mutated(source, operator, occurrence)
    try:
        ast.parse(after or "(")
    except SyntaxError:
        return None
    return Mutant(path, line, operator, occurrence, *changed(source, str(after)))
