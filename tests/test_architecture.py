"""The house rules that a machine can check, from the syntax trees alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"harbor": "harbor", "graphs": "harbor.graphs", "personas": "harbor.personas"} | {
    "memory": "harbor.memory",
    "evaluation": "harbor.evaluation",
}
FLOORS = {
    0: """harbor harbor._core.errors harbor._core.money harbor._core.seeding harbor._core.asks harbor._core.events harbor._core.thoughts
          harbor._core.log harbor._config.auction harbor._core.parsing harbor._house.sale harbor._house.auctioneer harbor._core.players harbor._core.notes
          harbor._core.settings harbor._config.rules harbor._games.policies harbor._house.people
          harbor._games harbor._games.mechanism harbor._games.registry
          harbor._games.english harbor._games.water harbor._games.session harbor._games.private_values
          harbor._games.second_price harbor._games.first_price harbor._games.english_private harbor._games.beauty
          harbor._config.presets harbor._runs.items harbor.personas harbor.personas._catalog.catalog harbor.personas._catalog.traits
          harbor.personas._catalog.data harbor.memory
          harbor.memory._bidder.auction_view harbor.memory._bidder.episodes harbor.memory._bidder.session_view harbor.evaluation harbor.graphs""",
    1: """harbor.evaluation._analysis.statistics harbor.evaluation._analysis.rank_correlation
          harbor._simulated harbor._simulated.valuation harbor._simulated.opponent_model harbor._simulated.learning
          harbor._simulated.forecasting harbor._simulated.session_games harbor._simulated.judging
          harbor._simulated.answers harbor._simulated.chat_model harbor._models.client harbor._runs.folder
          harbor.memory._store.embedding harbor.memory._store.matching harbor.memory._store.records harbor.memory._store.collection
          harbor.memory._store.backend harbor.memory._store.metadata harbor.memory._store.index harbor.memory._store.chroma
          harbor.memory._bidder.bidder_memory harbor.memory._store.transfer
          harbor._models.replay harbor._models.reading harbor._runs.inputs harbor._runs.result harbor._models.prices
          harbor.evaluation._metrics
          harbor.evaluation._metrics.measurement harbor.evaluation._metrics.players harbor.evaluation._metrics.registry
          harbor.evaluation._metrics.calls harbor.evaluation._metrics.results harbor.evaluation._metrics.summary
          harbor.evaluation._metrics.profiling harbor.evaluation._metrics.behaviour
          harbor.evaluation._metrics.plans harbor.evaluation._metrics.strategy harbor.evaluation._metrics.bidding
          harbor.evaluation._metrics.beliefs harbor.evaluation._metrics.score
          harbor.evaluation._metrics.water harbor.evaluation._metrics.sessions harbor.evaluation._metrics.series""",
    2: """harbor._room harbor._room.team_memory harbor._room.seats harbor._room.room harbor.graphs._wiring.bidder
          harbor.graphs._context.steps harbor.graphs._wiring.routes harbor.graphs._context.context
          harbor.graphs._context.replies harbor.graphs._context.facts
          harbor.graphs._context.prompting harbor.graphs._prompts harbor.graphs._nodes harbor.graphs._nodes.plan
          harbor.graphs._nodes.bid harbor.graphs._nodes.believe harbor.graphs._nodes.replan harbor.graphs._nodes.profile
          harbor.graphs._nodes.mirror harbor.graphs._nodes.predict harbor.graphs._nodes.strategize
          harbor.graphs._nodes.recall harbor.graphs._nodes.learn harbor.graphs._nodes.remember
          harbor.graphs._sessions harbor.graphs._sessions.facts harbor.graphs._sessions.bid
          harbor.graphs._sessions.believe harbor.graphs._sessions.plan harbor.graphs._wiring.session_player""",
    3: """harbor._runs.opening harbor._runs.memories harbor._runs.seating harbor._runs.run harbor._runs.series harbor._runs.resuming harbor.testing
          harbor.testing harbor.testing._rules harbor.testing._stores""",
    4: """harbor.evaluation._analysis.profiler
          harbor.evaluation._analysis harbor.evaluation._analysis.skill harbor.evaluation._analysis.findings
          harbor.evaluation._analysis.frames harbor.evaluation._analysis.estimates
          harbor.evaluation._analysis.comparisons harbor.evaluation._analysis.correlations
          harbor.evaluation._analysis.ratings harbor.evaluation._analysis.power
          harbor.evaluation._experiments harbor.evaluation._experiments.presets harbor.evaluation._experiments.design
          harbor.evaluation._experiments.slots harbor.evaluation._experiments.trials
          harbor.evaluation._experiments.sales
          harbor.evaluation._experiments.cells harbor.evaluation._experiments.library
          harbor.evaluation._experiments.choices harbor.evaluation._experiments.trial_records
          harbor.evaluation._experiments.run_trial harbor.evaluation._experiments.dry_run
          harbor.evaluation._running harbor.evaluation._running.runner harbor.evaluation._running.work
          harbor.evaluation._running.executors harbor.evaluation._running.ray_cluster harbor.evaluation._running.budget
          harbor.evaluation._running.tally harbor.evaluation._running.experiment_folder harbor.evaluation._running.trial_folder
          harbor.evaluation._running.differences
          harbor.evaluation._rating harbor.evaluation._rating.prompts harbor.evaluation._rating.rubric
          harbor.evaluation._rating.transcript harbor.evaluation._rating.sources harbor.evaluation._rating.sheets
          harbor.evaluation._rating.judging harbor.evaluation._rating.agreement harbor.evaluation._rating.merging
          harbor.evaluation._rating.rating_results
          harbor.evaluation._report harbor.evaluation._report.page harbor.evaluation._report.sections
          harbor.evaluation._report.tables harbor.evaluation._report.listings harbor.evaluation._report.formatting
          harbor.evaluation._report.figures harbor.evaluation._report.canvas harbor.evaluation._report.panels
          harbor.evaluation._report.intervals harbor.evaluation._report.courses harbor.evaluation._report.shares
          harbor.evaluation._report.distributions harbor.evaluation._report.exports harbor.evaluation._report.loading""",
    5: """harbor.__main__ harbor._cli.app harbor._display.designs harbor._display.screen harbor._display.finding_tables harbor._display.progress harbor._display.result_tables
          harbor._display.narration harbor._display.terminal
          harbor._cli harbor._cli.auctions harbor._cli.reference harbor._cli.choosing
          harbor._cli.running
          harbor._cli.configs harbor._cli.estimate harbor._cli.experiment_runs
          harbor._cli.experiments harbor._cli.memory harbor._cli.output harbor._cli.power
          harbor._cli.rate harbor._cli.reports harbor._cli.score""",
}
FLOOR = {module: floor for floor, modules in FLOORS.items() for module in modules.split()}
FRAMEWORKS = {"autogen_agentchat", "autogen_core", "langgraph", "langchain_core", "sklearn", "chromadb", "trueskill"}
PURE = {module for module, floor in FLOOR.items() if floor == 0} | {
    module for module in FLOOR if module.startswith(("harbor._games", "harbor.evaluation._metrics"))
}
LONG_MODULES = {
    "harbor._core.events": (360, "everything that can happen in a sale, in one place"),
    "harbor._config.auction": (380, "the only home of defaults, with the refusals that name the remedy"),
}
LONGEST_FUNCTION, USUAL_MODULE = 60, 270


def sources() -> dict[str, ast.Module]:
    trees = {}
    for folder, package in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join((package, *(part for part in parts if part != "__init__")))
            trees[name] = ast.parse(path.read_text(encoding="utf-8"))
    return trees


TREES = sources()


def imports(tree: ast.Module, *, running_only: bool = True) -> set[str]:
    """Every module a tree imports, inside functions too; what only a type checker sees does not count."""
    seen_by_checker = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    found = set()
    for node in ast.walk(tree):
        if running_only and id(node) in seen_by_checker:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            found |= {f"{module}.{alias.name}" if f"{module}.{alias.name}" in TREES else module for alias in node.names}
    return found


def test_every_module_has_a_floor_and_every_floor_a_module():
    assert set(TREES) == set(FLOOR)


@pytest.mark.parametrize("module", sorted(TREES))
def test_imports_go_downward_only(module):
    upward = {imported for imported in imports(TREES[module]) if imported in FLOOR and FLOOR[imported] > FLOOR[module]}
    assert not upward


def test_graphs_and_chat_are_strangers():
    graphs = {module for module in TREES if module.startswith("harbor.graphs")}
    chat = {module for module in TREES if module.startswith("harbor._room")}
    assert not any(imports(TREES[module]) & graphs for module in chat)
    assert not any(imports(TREES[module]) & chat for module in graphs)


def test_only_chat_imports_autogen_at_work():
    users = {
        module
        for module, tree in TREES.items()
        if any(name.split(".")[0].startswith("autogen") for name in imports(tree))
    }
    assert users == {
        "harbor._room.team_memory",
        "harbor._room.room",
        "harbor._room.seats",
        "harbor._runs.inputs",
        "harbor._runs.resuming",
        "harbor._runs.run",
        "harbor._runs.series",
    }  # the last four name the type of an agent that is given


@pytest.mark.parametrize("module", sorted(PURE))
def test_floor_0_and_metrics_know_no_framework(module):
    assert not {name.split(".")[0] for name in imports(TREES[module])} & FRAMEWORKS


@pytest.mark.parametrize("module", sorted(module for module in TREES if module.startswith("harbor._games")))
def test_rules_know_no_clock_no_files_and_no_global_random(module):
    names = {name.split(".")[0] for name in imports(TREES[module])}
    assert not names & {"time", "datetime", "pathlib", "os", "io", "asyncio", "logging", "secrets"}
    assert not any(
        isinstance(node, ast.Attribute) and ast.unparse(node.value) == "random" for node in ast.walk(TREES[module])
    )
    assert not any(isinstance(node, ast.AsyncFunctionDef | ast.Await) for node in ast.walk(TREES[module]))


@pytest.mark.parametrize("module", sorted(TREES))
def test_nothing_imports_a_root_folder_by_its_bare_name(module):
    assert not {name.split(".")[0] for name in imports(TREES[module], running_only=False)} & (set(FOLDERS) - {"harbor"})


@pytest.mark.parametrize("module", sorted(TREES))
def test_functions_and_modules_stay_short(module):
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, node.name
    length = max((node.end_lineno or 0 for node in ast.walk(TREES[module]) if hasattr(node, "end_lineno")), default=0)
    longest, _reason = LONG_MODULES.get(module, (USUAL_MODULE, ""))
    assert length <= longest


@pytest.mark.parametrize("module", sorted(TREES))
def test_packages_hold_a_docstring_and_every_module_has_one(module):
    tree = TREES[module]
    assert ast.get_docstring(tree)
    package = any((ROOT / folder / "__init__.py").is_file() and FOLDERS[folder] == module for folder in FOLDERS)
    if package and module not in ("harbor", "harbor.evaluation"):  # these two are faces, loaded lazily
        assert len(tree.body) == 1


def test_no_dict_of_anything_in_public_signatures():
    """Only the prompts' and replies' own JSON is open; it is named (`Facts`, `Values`, `Row`, `Update`)."""
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                hints = [ast.unparse(arg.annotation) for arg in node.args.args if arg.annotation]
                assert "dict[str, Any]" not in hints or module == "harbor._core.settings", f"{module}.{node.name}"
