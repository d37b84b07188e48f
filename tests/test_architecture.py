"""The house rules that a machine can check, from the syntax trees alone."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from support.api import FACES
from support.budget import FOLDERS, code_lines, imported, module_of
from support.folders import ROOT

FLOORS = (  # from the ground up: a folder imports from those below it, and from no other of its own floor
    "_core.basics",
    "_core.asking _core.plugins _core.prompts",
    "_core.files",
    "_core _core.log",
    "_config memory._store _models.governor",
    "personas._catalog _models.replies _models.passports",
    "_games",
    "_games.sessions _models.calls",
    "_games.english _games.water _games.second_price _games.first_price _games.english_private _games.beauty",
    "_house _models evaluation._metrics memory._bidder",
    "_doors",
    "_models.batch _models.simulated _room",
    "graphs._context",
    "graphs._nodes",
    "graphs._wiring",
    "graphs._apps",
    "_runs",
    "_audit evaluation._experiments",
    "evaluation._analysis evaluation._running",
    "evaluation._rating evaluation._report.tabular",
    "evaluation._report.drawing",
    "evaluation._report.plots",
    "evaluation._report.page evaluation._report.paper",
    "evaluation._report.comparing",
    "_mcp _packs _view testing",
    "_cli.display",
    "_cli.shared",
    "_cli.running _cli.reading _cli.keeping",
    "_cli",
)
MOST_ARROWS = {"harbor._core": 25, "harbor.evaluation._report": 20, "harbor._cli": 15}
"""How many pairs of rooms in a folder may have an import between them; a room is an inner folder or a module."""
FLOOR = {f"harbor.{folder}": floor for floor, folders in enumerate(FLOORS) for folder in folders.split()}
FRAMEWORKS = {"autogen_agentchat", "autogen_core", "langgraph", "langchain_core", "sklearn", "chromadb", "trueskill"}
IMPURE = {"time", "datetime", "pathlib", "os", "io", "asyncio", "logging", "secrets"}
PURE = ("harbor._core", "harbor._config", "harbor._games", "harbor._house", "harbor.evaluation._metrics")
SHORT_MODULES = {
    "harbor._core.faces": "the public modules read it when they are imported",
    "harbor._audit.secrets": "commands read it before a framework is loaded",
    "harbor._models.simulated.model": "the entry point of the built-in model, which loads without LangChain",
    "harbor._models.calls.prompt": "nodes fill prompts without LangChain",
    "harbor.evaluation._metrics.built_in": "the list of all modules with metrics",
}
LONGEST_FUNCTION, SHORTEST_MODULE = 60, 40  # lines
LONGEST_MODULE = 300  # lines of code: examples and sources make none too long


@cache
def paths() -> dict[str, Path]:
    return {module_of(path): path for place in FOLDERS for path in sorted((ROOT / place).rglob("*.py"))}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(paths()[module].read_text(encoding="utf-8"))


@cache
def imports(module: str, *, running_only: bool = True) -> set[str]:
    return imported(tree(module), paths(), running_only=running_only)


@cache
def packages() -> set[str]:
    return {module for module, path in paths().items() if path.name == "__init__.py"}


@cache
def modules() -> list[str]:
    return sorted(set(paths()) - packages())


def folder(module: str) -> str:
    """The folder that a module stands in; that of a package is the package."""
    return module if module in packages() else module.rpartition(".")[0]


def test_every_folder_of_modules_has_a_floor_and_nothing_stands_in_harbor_but_its_face():
    assert {folder(module) for module in modules()} - {"harbor"} == set(FLOOR)
    assert {module for module in modules() if folder(module) == "harbor"} == {"harbor.__main__"}


def test_imports_go_downward_only():
    arrows = {(module, folder(other)) for module in modules() for other in imports(module) if other in paths()}
    wrong = {(module, there) for module, there in arrows if there != folder(module) and floor(there) >= floor(module)}
    assert not wrong


def floor(name: str) -> int:
    """The floor of a module or folder; the faces stand above all."""
    return FLOOR.get(name if name in FLOOR else folder(name), len(FLOORS))


def test_few_arrows_go_between_the_rooms_of_a_folder():
    assert {place: count for place, most in MOST_ARROWS.items() if (count := arrows_inside(place)) > most} == {}


def arrows_inside(place: str) -> int:
    rooms = {name: name.removeprefix(f"{place}.").split(".")[0] for name in modules() if name.startswith(f"{place}.")}
    arrows = {(rooms[one], rooms[other]) for one in rooms for other in imports(one) & rooms.keys()}
    return len({(one, other) for one, other in arrows if one != other})


def test_public_modules_hold_only_their_face_and_what_is_not_public_is_private():
    for module in FACES:
        named = {name for name in imports(module) if name.startswith("harbor")}
        assert named <= {"harbor._core.faces", "harbor._core.faces.__version__"}
    for module in modules():
        assert module == "harbor.__main__" or any(part.startswith("_") for part in module.split(".")), module


def test_graphs_and_room_are_strangers():
    graphs, room = ({name for name in paths() if name.startswith(place)} for place in ("harbor.graphs", "harbor._room"))
    assert not any(imports(module) & graphs for module in room)
    assert not any(imports(module) & room for module in graphs)


def outside(module: str) -> set[str]:
    """The packages that a module imports."""
    return {name.split(".")[0] for name in imports(module)}


def test_only_the_room_imports_autogen_at_work():
    users = {module for module in paths() if {"autogen_agentchat", "autogen_core"} & outside(module)}
    room = {f"harbor._room.{name}" for name in ("border", "seats", "team_memory", "room")}
    assert users == room | {"harbor.graphs._apps.team_agent"}


def test_games_house_and_metrics_know_no_framework_and_rules_no_clock_no_files_and_no_global_random():
    pure = {module for module in modules() if folder(module).startswith(PURE)}
    assert {module for module in pure if outside(module) & FRAMEWORKS} == set()
    for module in (name for name in paths() if name.startswith("harbor._games")):
        assert not outside(module) & IMPURE, module
        for node in ast.walk(tree(module)):
            assert not isinstance(node, ast.AsyncFunctionDef | ast.Await), module
            assert not (isinstance(node, ast.Attribute) and ast.unparse(node.value) == "random"), module


ENGLISH = "harbor._games.english"


def test_nothing_outside_the_ascending_auction_names_one_of_its_events():
    events = {node.name for node in tree(f"{ENGLISH}.events").body if isinstance(node, ast.ClassDef)}
    assert {"SaleOpened", "ItemSold", "ValueRevealed"} < events
    for module in paths():
        if not module.startswith(f"{ENGLISH}."):
            nodes = [*ast.walk(tree(module))]
            names = {node.id for node in nodes if isinstance(node, ast.Name)}
            names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
            names |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
            assert not names & events, module


def test_nothing_imports_a_root_folder_by_its_bare_name():
    bare = set(FOLDERS) - {"harbor"}
    named = {module: imports(module, running_only=False) for module in paths()}
    assert {module for module, names in named.items() if {name.split(".")[0] for name in names} & bare} == set()


def test_functions_and_modules_stay_short_and_no_module_is_too_short_without_a_reason():
    functions = {
        f"{module}.{node.name}": node.end_lineno - node.lineno
        for module in paths()
        for node in ast.walk(tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name for name, lines in functions.items() if lines >= LONGEST_FUNCTION} == set()
    assert {name for name, path in paths().items() if code_lines(path, tree(name)) > LONGEST_MODULE} == set()
    assert {name for name in modules() if _length(name) < SHORTEST_MODULE} - {"harbor.__main__"} == set(SHORT_MODULES)


def _length(module: str) -> int:
    return max((getattr(node, "end_lineno", None) or 0 for node in ast.walk(tree(module))), default=0)


def test_no_modules_import_each_other_in_a_circle_in_functions_either():
    TopologicalSorter({module: imports(module) & set(modules()) for module in modules()}).prepare()


def test_every_module_has_a_docstring_and_a_package_that_is_no_face_has_nothing_else():
    assert [module for module in paths() if not ast.get_docstring(tree(module))] == []
    assert [name for name in packages() - {*FACES, "harbor.events"} if len(tree(name).body) > 1] == []
