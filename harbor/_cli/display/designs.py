"""What experiments look like in a terminal: the list of them, and the design of one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harbor._cli.display.render import Table
from harbor._cli.display.result_tables import simulated
from harbor.evaluation._experiments.design import (
    OWN_NOISE,
    Experiment,
    Side,
    Variation,
    model_slots,
    substitutes,
)
from harbor.evaluation._experiments.trials import trial_count
from harbor.evaluation._metrics.registry import metric_of

if TYPE_CHECKING:  # it brings the statistics, which a design needs nothing of
    from harbor.evaluation._analysis.power import Power


def listed(experiment: Experiment) -> dict[str, str | int]:
    """Say what an experiment is, in one row."""
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


def design_tables(experiment: Experiment) -> Iterator[Table | str]:
    """Give the design of an experiment, with all that it is compared with and which model plays in which slot."""
    yield from filter(None, (experiment.title, experiment.question, f"Source: {experiment.source}", experiment.note))
    count = trial_count(experiment)
    yield f"{count} games, temperature {experiment.temperature:g}, seed {experiment.seed}"
    yield from [OWN_NOISE] if experiment.same_seed else []
    yield Table("Bidders", list(_bidders(experiment.auction)))
    yield Table("Arms", [_variation(one) for one in experiment.arms])
    yield Table("Conditions", [_variation(one) for one in experiment.conditions if len(experiment.conditions) > 1])
    slots = zip(model_slots(experiment), experiment.models, strict=False)
    yield Table("Models", [{"slot": slot, "model": model} for slot, model in slots])
    yield Table("Metrics", list(_metrics(experiment)))
    yield Table("Correlations", [{"of": one, "and": other} for one, other in experiment.correlations])
    compared = [
        {"metric": one.metric, "of": _place(one.of), "minus": _place(one.against)} for one in experiment.comparisons
    ]
    yield Table("Planned comparisons", compared)
    yield Table("Published", list(_published(experiment)))
    yield from dict.fromkeys(one.note for one in experiment.published if one.note)
    yield from substitutes(experiment)


def power_tables(power: Power) -> Iterator[Table | str]:
    """Give how many games each planned comparison needs, and the pilot from which that is known."""
    asked = power.question
    rows = [
        {
            "metric": one.metric,
            "difference": f"{_place(one.of)} - {_place(one.against)}",
            "pilot pairs": f"{one.pairs} of {one.pairs + one.missing}",
            "sd of differences": None if one.sd is None else f"{one.sd:.4g}",
            "games per side": one.games,
            "by Holm at worst": one.games_holm,
        }
        for one in power.needs
    ]
    yield Table(f"Games to find a difference of {asked.effect:g}", rows)
    yield from dict.fromkeys(one.note for one in power.needs if one.note)
    yield (
        f"A paired t test finds it {asked.power:.0%} of the time at alpha {asked.alpha:g}; at worst, at alpha over"
        f" {power.family}, the number of planned comparisons{simulated(power.simulated)}"
    )


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


def _variation(variation: Variation) -> dict[str, str | None]:
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
        yield {"name": name, "says": metric_of(name).description, "unit": metric_of(name).unit}


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
