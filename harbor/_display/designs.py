"""What experiments look like in a terminal: the list of them, and the design of one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from harbor._display.screen import cell, printable
from harbor.evaluation._experiments.design import Experiment, Side, Variation, model_slots, substitutes
from harbor.evaluation._experiments.trials import trial_count
from harbor.evaluation._metrics.registry import METRICS

if TYPE_CHECKING:  # it brings the statistics, which a design needs nothing of
    from harbor.evaluation._analysis.power import Power


def print_experiments(console: Console, experiments: Sequence[Experiment]) -> None:
    """Print a line an experiment."""
    _print_table(console, "Experiments", [listed(one) for one in experiments])


def listed(experiment: Experiment) -> dict[str, str | int]:
    """Say in a line what an experiment is."""
    return {
        "name": experiment.name,
        "question": experiment.question,
        "source": experiment.source,
        "games": trial_count(experiment),
    }


def as_json(experiment: Experiment) -> str:
    """Give the design of an experiment as JSON: its fields, and what its metrics mean and its slots are played by."""
    extra = {
        "games": trial_count(experiment),
        "metrics": list(_metrics(experiment)),
        "slots": dict(zip(model_slots(experiment), experiment.models, strict=False)),
        "standing_in": substitutes(experiment),
    }
    return json.dumps({**experiment.model_dump(mode="json"), **extra})


def print_design(console: Console, experiment: Experiment) -> None:
    """Print the design of an experiment, with all that it is compared with and what stands in for what."""
    count = trial_count(experiment)
    for line in (experiment.title, experiment.question, f"Source: {experiment.source}", experiment.note):
        console.print(printable(line), markup=False)
    console.print(f"{count} games, temperature {experiment.temperature:g}, seed {experiment.seed}", markup=False)
    _print_table(console, "Bidders", list(_bidders(experiment.auction)))
    _print_table(console, "Arms", [_told(one) for one in experiment.arms])
    _print_table(console, "Conditions", [_told(one) for one in experiment.conditions if len(experiment.conditions) > 1])
    slots = zip(model_slots(experiment), experiment.models, strict=False)
    _print_table(console, "Models", [{"slot": slot, "model": model} for slot, model in slots])
    _print_table(console, "Metrics", list(_metrics(experiment)))
    _print_table(console, "Correlations", [{"of": one, "and": other} for one, other in experiment.correlations])
    compared = [
        {"metric": one.metric, "of": _place(one.of), "minus": _place(one.against)} for one in experiment.comparisons
    ]
    _print_table(console, "Planned comparisons", compared)
    _print_table(console, "Published", list(_published(experiment)))
    for note in dict.fromkeys(one.note for one in experiment.published if one.note):
        console.print(printable(note), markup=False)
    for words in substitutes(experiment):
        console.print(printable(words), markup=False)


def print_power(console: Console, power: Power) -> None:
    """Print how many games each planned comparison needs, and what a pilot they were found by."""
    asked = power.question
    rows = [
        {
            "metric": one.metric,
            "difference": f"{_place(one.of)} - {_place(one.against)}",
            "pilot pairs": f"{one.pairs} of {one.pairs + one.missing}",
            "sd of differences": None if one.sd is None else f"{one.sd:.4g}",
            "games a side": one.games,
            "by Holm at worst": one.games_holm,
        }
        for one in power.needs
    ]
    _print_table(console, f"Games to find a difference of {asked.effect:g}", rows)
    for note in dict.fromkeys(one.note for one in power.needs if one.note):
        console.print(printable(note), markup=False)
    console.print(
        f"found {asked.power:.0%} of the time at alpha {asked.alpha:g}, by a paired t test; at worst, at alpha over"
        f" {power.family}, the number of planned comparisons" + (" (simulated bidders)" if power.simulated else ""),
        markup=False,
    )


def _print_table(console: Console, title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows under their names, without the columns in which there is nothing."""
    names = [name for name in (rows[0] if rows else ()) if any(row[name] not in ("", None) for row in rows)]
    if not names:
        return
    console.print(f"\n{title}", markup=False)
    table = Table(*names)
    for row in rows:
        table.add_row(*(cell("" if row[name] is None else str(row[name])) for name in names))
    console.print(table)


def _bidders(auction: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for bidder in auction.get("bidders", []):
        rest = {key: value for key, value in bidder.items() if key not in ("name", "persona", "model")}
        persona = bidder.get("persona", "")
        yield {
            "bidder": bidder.get("name", ""),
            "persona": persona if isinstance(persona, str) else " + ".join(persona),
            "played by": bidder.get("rule") or bidder.get("model", "simulated"),
            "settings": ", ".join(_flat(rest)),
        }


def _told(variation: Variation) -> dict[str, str | None]:
    order = variation.order if variation.order is None or isinstance(variation.order, str) else "as listed"
    changes = _flat(variation.auction)
    return {
        "name": variation.name,
        "what": variation.label,
        "changes": ", ".join(changes),
        "order": order,
        "repeats": None if variation.repeats is None else str(variation.repeats),
    }


def _flat(changes: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Write nested settings one by one, with their paths; of a list of tables, the names."""
    for key, value in changes.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        elif isinstance(value, list):
            names = [one.get("name", "") if isinstance(one, Mapping) else str(one) for one in value]
            yield f"{path}{key} = {' + '.join(names) or 'none'}"
        else:
            yield f"{path}{key} = {value}"


def _metrics(experiment: Experiment) -> Iterator[dict[str, str]]:
    for name in experiment.metrics:
        yield {"name": name, "says": METRICS[name].description, "unit": METRICS[name].unit}


def _place(side: Side) -> str:
    return ", ".join(part for part in (side.bidder or "the game", side.arm, side.condition) if part)


def _published(experiment: Experiment) -> Iterator[dict[str, str]]:
    for one in experiment.published:
        for value in one.values:
            yield {
                "metric": one.metric,
                "arm": value.arm,
                "condition": value.condition,
                "bidder": value.bidder,
                "value": f"{value.value:g}",
                "model": one.model,
                "source": one.source,
            }
