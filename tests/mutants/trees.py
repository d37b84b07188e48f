"""Clones of the repository with an environment of their own, in which code is changed and tests run."""

from __future__ import annotations

import ast
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutants"
TOOLS = ROOT / ".venv"


def git(*words: str) -> str:
    """Return the output of Git."""
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout


def tree(name: str, commit: str) -> Path:
    """Return a clean clone at a commit, installed into its own copy of `.venv`."""
    place = BUILD / name
    if place.exists():
        run(["git", "-C", place, "checkout", "-q", "--force", commit])
        run(["git", "-C", place, "clean", "-fdqx", "--exclude=/env"])
    else:
        BUILD.mkdir(parents=True, exist_ok=True)
        run(["git", "clone", "-q", "--shared", "--no-checkout", ROOT, place])
        run(["git", "-C", place, "checkout", "-q", commit])
        run(["cp", "-al", TOOLS, place / "env"])  # links: pip replaces the few files that it changes
    install = ["install", "-q", "--no-deps", "--no-build-isolation", "--no-warn-script-location", "-e", place]
    run([TOOLS / "bin/pip", "--python", place / "env/bin/python", *install])
    return place


def packages(place: Path) -> Path:
    """Return the folder of a clone's own packages."""
    return next((place / "env" / "lib").glob("python*/site-packages"))


def run(words: Sequence[Path | str]) -> None:
    """Run a command that must succeed."""
    subprocess.run([str(word) for word in words], check=True)


def pytest(place: Path, *words: str, timeout: float | None = None, env: Mapping[str, str]) -> int | None:
    """Run pytest in a clone and return its code, or None after the timeout."""
    command = [str(place / "env/bin/python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    path = f"{place / 'env/bin'}:{env['PATH']}"
    with (place / "output.txt").open("w") as file:
        try:
            done = subprocess.run(
                command, cwd=place, env={**env, "PATH": path}, stdout=file, stderr=file, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return None
    return done.returncode


def probe(file: Path, lines: Mapping[int, int]) -> None:
    """Write calls of `mutant_probe.hit` before statements, given by number and line.

    A statement that runs at import is probed in all functions of its module: no test is known to need it.
    """
    source = file.read_text(encoding="utf-8")
    text, module = source.splitlines(keepends=True), ast.parse(source)
    calls = defaultdict[int, list[int]](list)
    for number, line in lines.items():
        for spot in _spots(module, line):
            calls[spot].append(number)
    for spot in sorted(calls, reverse=True):
        indent = text[spot - 1][: len(text[spot - 1]) - len(text[spot - 1].lstrip())]
        text.insert(spot - 1, "".join(f"{indent}__import__('mutant_probe').hit({number})\n" for number in calls[spot]))
    ast.parse("".join(text))
    file.write_text("".join(text), encoding="utf-8")


def _spots(module: ast.Module, line: int) -> set[int]:
    """Return the lines before which the probes of a statement can stand."""
    functions = [
        one
        for one in ast.walk(module)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.body[0].lineno > one.lineno
    ]
    around = [one for one in functions if one.body[0].lineno <= line <= (one.end_lineno or 0)]
    if not around:
        return {_stands(one.body, one.body[-1].lineno) for one in functions}
    return {_stands(max(around, key=lambda one: one.lineno).body, line)}


def _stands(body: Sequence[ast.stmt], line: int, before: int = 0) -> int:
    """Return the first line of the innermost statement on a line; an "elif" has its probe before the "if"."""
    found = next(one for one in body if _first(one) <= line <= (one.end_lineno or 0))
    before = before or _first(found)
    if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return before
    inner = [*getattr(found, "handlers", ()), *getattr(found, "cases", ()), found]
    for block in (getattr(one, name, None) for one in inner for name in ("body", "orelse", "finalbody")):
        if isinstance(block, list) and block and _first(block[0]) <= line <= (block[-1].end_lineno or 0):
            is_elif = isinstance(block[0], ast.If) and block[0].col_offset == found.col_offset
            return _stands(block, line, before if is_elif else 0)
    return before


def _first(node: ast.stmt) -> int:
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
