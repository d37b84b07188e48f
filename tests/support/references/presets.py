"""The page of presets: Harbor's own auctions and experiments."""

from __future__ import annotations

from collections.abc import Iterator

from harbor._cli.keeping.inventory import _presets
from harbor._cli.shared.files import load
from harbor.evaluation._experiments.library import experiment
from support.references.markdown import MADE, code, table

MOST_NAMED = 8
HEAD = f"""# Presets

`harbor auction NAME` runs an auction, `harbor experiment run NAME` an experiment. `harbor experiment show NAME --full`
tells all of its design, and why it does otherwise than its paper, and to what effect.

{MADE}"""


def page() -> str:
    """Return the page as it should be."""
    rows = [(row.name, *row.description.split(": ", 1)) for row in _presets()]
    auctions = [(code(name), load(name).rules.game, told) for name, kind, told in rows if kind == "auction"]
    experiments = [name for name, kind, _ in rows if kind == "experiment"]
    lines = [HEAD, "## Auctions\n", *table(("preset", "game", "what it is"), auctions), "## Experiments\n"]
    return "\n".join([*lines, *_experiments(experiments)]).rstrip() + "\n"


def _experiments(names: list[str]) -> Iterator[str]:
    for name in names:
        one = experiment(name)
        games = sum(arm.repeats or condition.repeats or one.repeats for arm, condition in one.cells)
        yield f"### `{name}`: {one.title}\n"
        yield f"{one.question} Source: {one.source}.\n"
        yield f"- arms: {_some([arm.name for arm in one.arms])}"
        yield f"- conditions: {_some([condition.name for condition in one.conditions])}"
        yield f"- repeats: {one.repeats}; games: {games}; planned comparisons: {len(one.comparisons)}"
        yield f"- measured: {', '.join(map(code, one.metrics))}"
        yield f"- published series of numbers: {len(one.published)}; departures from its paper: {len(one.deviations)}"
        yield from (f"  - {deviation.what}" for deviation in one.deviations)
        yield ""


def _some(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(code, names[:MOST_NAMED])) + more
