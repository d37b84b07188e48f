"""The size of the tree beside the size that was last kept: `make budget`, and `make budget KEEP=--keep`.

Code lines exclude blanks, comments and docstrings. An arrow is a pair of folders of which one imports
from the other. Processor seconds of tests come from their last runs.
"""

from __future__ import annotations

import ast
import json
import sys
import tokenize
from collections import defaultdict
from collections.abc import Container, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
KEPT, SPENT = Path(__file__).with_name("budget.json"), ROOT / "build" / "processor"
FOLDERS = {"harbor": "harbor"} | {name: f"harbor.{name}" for name in ("graphs", "personas", "memory", "evaluation")}
BESIDE = {".j2", ".js", ".css", ".md", ".toml", ".in"}
"""Suffixes of scripts and templates."""
WITHOUT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip


Numbers = dict[str, dict[str, float]]


def measured() -> dict[str, Numbers]:
    """Measure the tree as a whole, its folders and the folders of its tests."""
    sources = {path: path.read_text(encoding="utf-8") for root in FOLDERS for path in (ROOT / root).rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in sources.items()}
    tests = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    lines = {path: code_lines(path, trees[path]) for path in sources}
    modules = [path for path in sources if path.stem != "__init__"]
    folders = {module_of(path): path.parent.relative_to(ROOT).parts for path in sources}
    arrows = {
        (folders[module_of(path)], folders[name])
        for path, tree in trees.items()
        for name in imported(tree, folders) & folders.keys()
    }
    outer = {(one[:2], other[:2]) for one, other in arrows if one[:2] != other[:2]}
    inner = {(one, other) for one, other in arrows if one[:2] == other[:2] and one != other}
    imports = sum(len(_import_lines(tree)) for tree in trees.values())
    beside = [path for root in FOLDERS for path in (ROOT / root).rglob("*") if path.suffix in BESIDE]
    total = {
        "code lines": sum(lines.values()),
        "modules": len(modules),
        "lines of imports, %": round(100 * imports / sum(len(text.splitlines()) for text in sources.values()), 1),
        "statements per code line": round(sum(map(_statements, trees.values())) / sum(lines.values()), 3),
        "lines of scripts and templates": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in beside),
        "folders of modules": len({path.parent.relative_to(ROOT).parts[:2] for path in modules}),
        "arrows between them": len(outer),
        "arrows between their inner folders": len(inner),
        "processor minutes of make test": _minutes("proof"),
        "processor minutes of make check": _minutes("*"),
        "code lines of tests": sum(code_lines(path, ast.parse(text)) for path, text in tests.items()),
    }
    folders = sorted({path.parent for path in sources if lines[path]})
    return {
        "the tree": {name: {"": number} for name, number in total.items()},
        "folders": {
            str(folder.relative_to(ROOT)): {
                "code lines": sum(number for path, number in lines.items() if path.parent == folder),
                "modules": sum(path.parent == folder for path in modules),
            }
            for folder in folders
        },
        "tests": _tests(tests),
    }


def _minutes(part: str) -> float:
    """Return the processor minutes of a part in its last run: its tests, start and collection."""
    told = [json.loads(file.read_text(encoding="utf-8")) for file in SPENT.glob(f"{part}.json")]
    return round(sum(one["seconds"] for folders in told for one in folders.values()) / 60, 1)


def _tests(sources: dict[Path, str]) -> Numbers:
    """Count code lines, tests and processor seconds by folder, for both parts of `make check`."""
    found: Numbers = defaultdict(lambda: dict.fromkeys(("code lines", "tests", "processor seconds"), 0))
    for path, text in sources.items():
        found["/".join(path.relative_to(ROOT).parts[:2])]["code lines"] += code_lines(path, ast.parse(text))
    for file in SPENT.glob("*.json"):
        for name, one in json.loads(file.read_text(encoding="utf-8")).items():
            found[name]["tests"] += one["tests"]
            found[name]["processor seconds"] += round(one["seconds"])
    return dict(sorted(found.items()))


def code_lines(path: Path, tree: ast.Module) -> int:
    """Count the lines of a file with code."""
    with tokenize.open(path) as file:
        tokens = [one for one in tokenize.generate_tokens(file.readline) if one.type not in WITHOUT_CODE]
    lines = {line for one in tokens for line in range(one.start[0], one.end[0] + 1)}
    bodies = (getattr(node, "body", None) for node in ast.walk(tree))
    alone = (one for body in bodies if isinstance(body, list) for one in body if isinstance(one, ast.Expr))
    texts = (one for one in alone if isinstance(one.value, ast.Constant) and isinstance(one.value.value, str))
    return len(lines - {line for one in texts for line in range(one.lineno, (one.end_lineno or 0) + 1)})


def module_of(path: Path) -> str:
    """Return the name of the module in a file. A package is the module of its `__init__.py`."""
    root, *rest = path.relative_to(ROOT).with_suffix("").parts
    return ".".join((FOLDERS[root], *(part for part in rest if part != "__init__")))


def imported(tree: ast.Module, modules: Container[str], *, running_only: bool = True) -> set[str]:
    """Return the imports of a module, also those in functions, and without those for type checkers if `running_only`.

    A name that is imported from a package is a module if it is one of `modules`.
    """
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    unseen = {id(node) for block in blocks if running_only for node in ast.walk(block)}
    found = set[str]()
    for node in ast.walk(tree):
        if id(node) not in unseen and isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = (f"{node.module}.{one.name}" for one in node.names)
            found |= {name if name in modules else str(node.module) for name in names}
        elif id(node) not in unseen and isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return found


def _import_lines(tree: ast.Module) -> set[int]:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _statements(tree: ast.Module) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree))


def tables(now: dict[str, Numbers], before: dict[str, Numbers]) -> Iterator[Table]:
    """Yield tables of the numbers that differ from the kept numbers."""
    for title, rows in now.items():
        kept = before.get(title, {})
        columns = list(next(iter(rows.values())))
        table = Table(title, *columns)
        for name in [*rows, *(gone for gone in kept if gone not in rows)]:
            new, old = rows.get(name, {}), kept.get(name, {})
            table.add_row(name, *(_beside(new.get(column, 0), old.get(column, 0)) for column in columns))
        yield table


def _beside(new: float, old: float) -> str:
    return f"{new:,}" if new == old else f"{new:,} ({round(new - old, 3):+,})"


if __name__ == "__main__":
    found = measured()
    if "--keep" in sys.argv:
        KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    Console().print(*tables(found, kept))
    if not any(SPENT.glob("*.json")):
        Console().print("The tests did not run here: their numbers are 0. `make check` measures them.")
