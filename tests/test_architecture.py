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
    0: """harbor harbor.errors harbor.money harbor.seeding harbor.asks harbor.events harbor.thoughts
          harbor.log harbor.config harbor.words harbor.auction harbor.auctioneer harbor.bidders harbor.notes
          harbor.settings harbor.games harbor.scripts harbor.people
          harbor.rules harbor.rules.mechanism harbor.rules.registry
          harbor.rules.english harbor.rules.water harbor.rules.session harbor.rules.private_values
          harbor.rules.second_price harbor.rules.first_price harbor.rules.english_private harbor.rules.beauty
          harbor.presets harbor.items harbor.personas harbor.personas.catalog harbor.personas.traits
          harbor.personas.data harbor.memory
          harbor.memory.notebook harbor.memory.diary harbor.memory.journal harbor.evaluation harbor.graphs""",
    1: """harbor.evaluation.analysis.statistics harbor.evaluation.analysis.rank_correlation
          harbor.simulated harbor.simulated.judgement harbor.simulated.insight harbor.simulated.hindsight
          harbor.simulated.appraisal harbor.simulated.contests harbor.simulated.ratings
          harbor.simulated.answers harbor.simulated.chat harbor.models harbor.folder
          harbor.memory.embedding harbor.memory.matching harbor.memory.records harbor.memory.shelf
          harbor.memory.backend harbor.memory.mark harbor.memory.index harbor.memory.chroma
          harbor.memory.archive harbor.memory.carrying
          harbor.recording harbor.reading harbor.given harbor.result harbor.evaluation.prices
          harbor.evaluation.metrics
          harbor.evaluation.metrics.measurement harbor.evaluation.metrics.players harbor.evaluation.metrics.registry
          harbor.evaluation.metrics.calls harbor.evaluation.metrics.results harbor.evaluation.metrics.summary
          harbor.evaluation.metrics.profiling harbor.evaluation.metrics.behaviour
          harbor.evaluation.metrics.plans harbor.evaluation.metrics.strategy harbor.evaluation.metrics.bidding
          harbor.evaluation.metrics.beliefs harbor.evaluation.metrics.score
          harbor.evaluation.metrics.water harbor.evaluation.metrics.sessions harbor.evaluation.metrics.series""",
    2: """harbor.chat harbor.chat.memory harbor.chat.seats harbor.chat.room harbor.graphs.bidder
          harbor.graphs.running harbor.graphs.routes harbor.graphs.state
          harbor.graphs.replies harbor.graphs.facts
          harbor.graphs.prompting harbor.graphs.prompts harbor.graphs.nodes harbor.graphs.nodes.plan
          harbor.graphs.nodes.bid harbor.graphs.nodes.believe harbor.graphs.nodes.replan harbor.graphs.nodes.profile
          harbor.graphs.nodes.mirror harbor.graphs.nodes.predict harbor.graphs.nodes.strategize
          harbor.graphs.nodes.recall harbor.graphs.nodes.learn harbor.graphs.nodes.remember
          harbor.graphs.contests harbor.graphs.contests.thinking harbor.graphs.contests.choose
          harbor.graphs.contests.expect harbor.graphs.contests.prepare harbor.graphs.contests.wiring""",
    3: """harbor.introductions harbor.memories harbor.seating harbor.run harbor.series harbor.resuming harbor.testing
          harbor.conformance harbor.conformance.rules harbor.conformance.stores""",
    4: """harbor.evaluation.profiler
          harbor.evaluation.analysis harbor.evaluation.analysis.skill harbor.evaluation.analysis.findings
          harbor.evaluation.analysis.frames harbor.evaluation.analysis.estimates
          harbor.evaluation.analysis.comparisons harbor.evaluation.analysis.correlations
          harbor.evaluation.analysis.ratings harbor.evaluation.analysis.power
          harbor.evaluation.experiments harbor.evaluation.experiments.presets harbor.evaluation.experiments.design
          harbor.evaluation.experiments.slots harbor.evaluation.experiments.games
          harbor.evaluation.experiments.sales
          harbor.evaluation.experiments.cells harbor.evaluation.experiments.catalog
          harbor.evaluation.experiments.choices harbor.evaluation.experiments.records
          harbor.evaluation.experiments.holding harbor.evaluation.experiments.dry_run
          harbor.evaluation.running harbor.evaluation.running.runner harbor.evaluation.running.work
          harbor.evaluation.running.executors harbor.evaluation.running.ray_cluster harbor.evaluation.running.purse
          harbor.evaluation.running.tally harbor.evaluation.running.folder harbor.evaluation.running.game_folder
          harbor.evaluation.running.differences
          harbor.evaluation.rating harbor.evaluation.rating.prompts harbor.evaluation.rating.rubric
          harbor.evaluation.rating.transcript harbor.evaluation.rating.records harbor.evaluation.rating.sheets
          harbor.evaluation.rating.judging harbor.evaluation.rating.agreement harbor.evaluation.rating.merging
          harbor.evaluation.rating.results
          harbor.evaluation.report harbor.evaluation.report.page harbor.evaluation.report.sections
          harbor.evaluation.report.tables harbor.evaluation.report.listings harbor.evaluation.report.formatting
          harbor.evaluation.report.figures harbor.evaluation.report.canvas harbor.evaluation.report.panels
          harbor.evaluation.report.intervals harbor.evaluation.report.courses harbor.evaluation.report.shares
          harbor.evaluation.report.distributions harbor.evaluation.report.exports harbor.evaluation.report.loading""",
    5: """harbor.__main__ harbor.cli harbor.designs harbor.display harbor.findings harbor.progress harbor.tables
          harbor.telling harbor.terminal
          harbor.commands harbor.commands.auctions harbor.commands.catalog harbor.commands.choosing
          harbor.commands.conduct
          harbor.commands.configs harbor.commands.estimates harbor.commands.experiment_runs
          harbor.commands.experiments harbor.commands.memories harbor.commands.output harbor.commands.power
          harbor.commands.ratings harbor.commands.reports harbor.commands.scoring""",
}
FLOOR = {module: floor for floor, modules in FLOORS.items() for module in modules.split()}
FRAMEWORKS = {"autogen_agentchat", "autogen_core", "langgraph", "langchain_core", "sklearn", "chromadb", "trueskill"}
PURE = {module for module, floor in FLOOR.items() if floor == 0} | {
    module for module in FLOOR if module.startswith(("harbor.rules", "harbor.evaluation.metrics"))
}
LONG_MODULES = {
    "harbor.events": (360, "everything that can happen in a sale, in one place"),
    "harbor.config": (380, "the only home of defaults, with the refusals that name the remedy"),
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
    chat = {module for module in TREES if module.startswith("harbor.chat")}
    assert not any(imports(TREES[module]) & graphs for module in chat)
    assert not any(imports(TREES[module]) & chat for module in graphs)


def test_only_chat_imports_autogen_at_work():
    users = {
        module
        for module, tree in TREES.items()
        if any(name.split(".")[0].startswith("autogen") for name in imports(tree))
    }
    assert users == {
        "harbor.chat.memory",
        "harbor.chat.room",
        "harbor.chat.seats",
        "harbor.given",
        "harbor.resuming",
        "harbor.run",
        "harbor.series",
    }  # the last four name the type of an agent that is given


@pytest.mark.parametrize("module", sorted(PURE))
def test_floor_0_and_metrics_know_no_framework(module):
    assert not {name.split(".")[0] for name in imports(TREES[module])} & FRAMEWORKS


@pytest.mark.parametrize("module", sorted(module for module in TREES if module.startswith("harbor.rules")))
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
                assert "dict[str, Any]" not in hints or module == "harbor.settings", f"{module}.{node.name}"
