"""Experiments in a terminal before they run: a list, a design, and the estimated cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harbor._cli.display.render import Table
from harbor._cli.display.result_tables import simulated
from harbor._core.basics.numbers import cost_in_words, counted
from harbor._core.settings import as_toml, toml_key
from harbor._models.prices import price_table
from harbor.evaluation._analysis.levels import unreachable
from harbor.evaluation._experiments.choices import unheeded
from harbor.evaluation._experiments.design import (
    OWN_NOISE,
    Experiment,
    PublishedValue,
    Side,
    Variation,
    model_slots,
    substitutes,
)
from harbor.evaluation._experiments.trials import people, trial_count
from harbor.evaluation._experiments.variations import Factor, aliases
from harbor.evaluation._metrics.measurement import metric_of
from harbor.evaluation._report.tabular.formatting import in_draws

if TYPE_CHECKING:
    from harbor.evaluation._analysis.power import Games, Power
    from harbor.evaluation._experiments.trial_runs import ArmUsage, DryRun, ModelUse, Usage


def listed(experiment: Experiment) -> dict[str, str | int]:
    """Return one row on an experiment."""
    return {
        "name": experiment.name,
        "question": experiment.question,
        "source": experiment.source,
        "games": trial_count(experiment),
    }


def as_json(experiment: Experiment) -> str:
    """Return an experiment's design as JSON: its fields, the meaning of its metrics, and the models of its slots."""
    extra = {
        "games": trial_count(experiment),
        "metrics": list(_metrics(experiment)),
        "slots": dict(zip(model_slots(experiment), experiment.models, strict=False)),
        "standing_in": substitutes(experiment),
        "people": people(experiment),
        "unheeded": unheeded(experiment),
        "simulated": "simulated" in experiment.models[: len(model_slots(experiment))],
        "unreachable": unreachable(experiment),
    }
    return json.dumps({**experiment.model_dump(mode="json"), **extra})


def design_tables(experiment: Experiment) -> Iterator[Table | str]:
    """Yield the whole design of an experiment, with published numbers and the model of each slot."""
    yield from filter(None, (experiment.title, experiment.question, f"Source: {experiment.source}", experiment.note))
    count = trial_count(experiment)
    yield f"{count} games, {_temperature(experiment)}, seed {experiment.seed}"
    yield from [OWN_NOISE] if experiment.same_seed else []
    yield Table("Bidders", list(_bidders(experiment.auction)))
    yield from (f"A person plays {bidder} in arm {arm}." for arm, bidder in people(experiment).items())
    yield Table("Factors", [_factor(one) for one in experiment.factors])
    yield from filter(None, [aliases(experiment.factors, experiment.crossing)])
    arms = [{"name": one.name} if experiment.factors else _variation(one) for one in experiment.arms]
    yield Table("Arms", arms)
    yield Table("Conditions", [_variation(one) for one in experiment.conditions if len(experiment.conditions) > 1])
    slots = zip(model_slots(experiment), experiment.models, strict=False)
    yield Table("Models", [{"slot": slot, "model": model} for slot, model in slots])
    yield Table("Metrics", list(_metrics(experiment)))
    yield Table("Correlations", [{"of": one, "and": other} for one, other in experiment.correlations])
    compared = [
        {"metric": one.metric, "of": _place(one.of), "minus": _place(one.against)} for one in experiment.comparisons
    ]
    yield Table("Planned comparisons", compared)
    yield from filter(None, [unreachable(experiment)])
    yield Table("Published", list(_published(experiment)))
    yield from dict.fromkeys(one.note for one in experiment.published if one.note)
    yield from (*substitutes(experiment), *unheeded(experiment))
    yield Table("Deviations from the paper", [one.model_dump() for one in experiment.deviations])


def short_design(experiment: Experiment) -> Iterator[Table | str]:
    """Yield the design of an experiment on one screen: its question, its arms, and the number of other parts."""
    yield from filter(None, (experiment.title, experiment.question, f"Source: {experiment.source}"))
    yield f"{trial_count(experiment)} games, {_temperature(experiment)}, seed {experiment.seed}"
    yield from [OWN_NOISE] if experiment.same_seed else []
    yield Table("Bidders", [{**one, "settings": ""} for one in _bidders(experiment.auction)])
    yield from (f"A person plays {bidder} in arm {arm}." for arm, bidder in people(experiment).items())
    yield Table("Factors", [_factor(one) for one in experiment.factors])
    named = [] if experiment.factors else [{"name": one.name, "what": one.label} for one in experiment.arms]
    yield Table("Arms", named)
    conditions = [{"name": one.name, "what": one.label} for one in experiment.conditions]
    yield Table("Conditions", conditions if len(conditions) > 1 else [])
    yield f"Measured: {', '.join(experiment.metrics)}."
    yield from filter(None, [unreachable(experiment)])
    yield from (f"{one[:1].upper()}{one[1:]}." for one in (*substitutes(experiment), *unheeded(experiment)))
    published = sum(len(one.values) for one in experiment.published)
    counts = {
        "planned comparison": len(experiment.comparisons),
        "published number": published,
        "deviation": len(experiment.deviations),
    }
    told = ", ".join(counted(count, what) for what, count in counts.items() if count)
    yield f"{told or 'Nothing else'}; all of it, with every setting: --full"


def power_tables(power: Power) -> Iterator[Table | str]:
    """Yield the number of games that each planned comparison needs, with the pilot behind it."""
    asked = power.question
    notes = dict.fromkeys(one.note for one in power.needs if one.note)
    if not any(one.games for one in power.needs):
        yield from (
            f"No number of games is known: {note}; give a larger pilot, or another metric{simulated(power.simulated)}"
            for note in notes
        )
        return
    rows = [
        {
            "metric": one.metric,
            "difference": f"{_place(one.of)} - {_place(one.against)}",
            "pilot pairs": f"{one.pairs} of {one.pairs + one.missing}{in_draws(one.pairs, one.draws)}",
            "sd of differences": None if one.sd is None else f"{one.sd:.4g}{' by draw' * (one.draws < one.pairs)}",
            "test": one.test,
            "games per side": _games(one.games),
            "by Holm at worst": _games(one.games_holm),
        }
        for one in power.needs
    ]
    yield Table(f"Games to find a difference of {_effect(power)}", rows)
    yield from notes
    yield (
        f"The planned test finds it {asked.power:.0%} of the time at alpha {asked.alpha:g}; at worst, at alpha over"
        f" {power.family}, the number of planned comparisons. It is simulated on the pilot's differences, moved to"
        f" {_effect(power)}. In brackets: if they vary as little or as much as the pilot allows, each limit with 80 %"
        " confidence if differences are normal, and with less if they are skewed, as rare great ones are seldom in a"
        f" pilot; plan the greater, and more for a skewed metric{simulated(power.simulated)}"
    )


def _effect(power: Power) -> str:
    """Return the effect with its unit, if all comparisons have one."""
    effect, units = power.question.effect, {metric_of(one.metric).unit for one in power.needs}
    return " ".join([f"{effect:,.0f}" if effect.is_integer() else f"{effect:,g}", *(units if len(units) == 1 else ())])


def _games(found: Games | None) -> str | None:
    return None if found is None else f"{found.likely} ({found.least} to {found.enough})"


def _bidders(auction: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for bidder in auction.get("bidders", []):
        rest = {key: value for key, value in bidder.items() if key not in ("name", "persona", "model", "person")}
        persona = bidder.get("persona", "")
        yield {
            "bidder": bidder.get("name", ""),
            "persona": persona if isinstance(persona, str) else " + ".join(persona),
            "played by": bidder.get("rule") or _by_somebody(bidder) or bidder.get("model", "simulated"),
            "settings": ", ".join(_flat(rest)),
        }


def _by_somebody(bidder: Mapping[str, Any]) -> str:
    return "a person" if bidder.get("person") else "an agent" if bidder.get("agent") else ""


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


def _factor(factor: Factor) -> dict[str, str]:
    levels = (f"{one.name}: {', '.join(_flat(one.auction)) or 'as in the auction'}" for one in factor.levels)
    return {"factor": factor.name, "levels": "; ".join(levels)}


def _flat(changes: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield nested settings one by one as in TOML, with their paths; for a list of tables, the names."""
    for key, value in changes.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{toml_key(key)}.")
        elif isinstance(value, list):
            names = [one.get("name", "") if isinstance(one, Mapping) else str(one) for one in value]
            yield f"{path}{toml_key(key)} = {' + '.join(names) or 'none'}"
        else:
            yield f"{path}{toml_key(key)} = {as_toml(value)}"


def _metrics(experiment: Experiment) -> Iterator[dict[str, str]]:
    for name in experiment.metrics:
        yield {"name": name, "says": metric_of(name).description, "unit": metric_of(name).unit}


def _place(side: Side | PublishedValue) -> str:
    return ", ".join(part for part in (side.bidder or "the game", side.arm, side.condition) if part)


def _published(experiment: Experiment) -> Iterator[dict[str, str | int | float | None]]:
    for one in experiment.published:
        for value in one.values:
            yield {
                "metric": one.metric,
                "of": _place(value),
                "value": f"{value.value:g}",
                "n": one.games(value),
                "sd": value.sd,
                "source": f"{one.produced_by}: {one.source}",
            }


def _temperature(experiment: Experiment) -> str:
    stated = experiment.temperature
    return "temperature 0 where a model takes one" if stated is None else f"temperature {stated:g}"


def estimate_tables(found: DryRun) -> Iterator[Table | str]:
    """Yield the cost of an experiment by arm, in total and by model, and the basis of the estimate."""
    arms = [
        {"arm": arm.arm, "games": f"{arm.games:,}", **_row(arm.usage), "per game": _range(arm), **_chain(arm.usage)}
        for arm in found.arms
    ]
    whole = {"arm": "total", "games": f"{found.games:,}", **_row(found.usage), "per game": "", **_chain(found.usage)}
    yield Table(f"Estimate of {found.experiment}", [*arms, whole])
    models = [_model(use) for use in found.usage.models]
    yield Table("Models", models)
    yield from _remarks(found)


def auction_tables(name: str, auctions: int, used: Usage) -> Iterator[Table | str]:
    """Yield the cost of an auction or a series by model and in total, and the basis of the estimate."""
    models = [_model(use) for use in used.models]
    total = {"model": "total", **_row(used), "per million in": "", "per million out": ""}
    yield Table(f"Estimate of {name}", [*models, total])
    played = "The auction was" if auctions == 1 else f"{auctions} auctions were"
    yield (
        f"{played} played, on the built-in model (simulated bidders); {used.chain:,.0f} of its calls are in"
        " sequence: they wait for one another."
    )
    yield from _about_tokens_and_prices()


def _remarks(found: DryRun) -> list[str]:
    return [
        f"{found.played} of {found.games} games were played, on the built-in model (simulated bidders), and stand for"
        " the others of their arm and condition. A game takes as long as its calls in sequence, which wait for one"
        " another.",
        *_about_tokens_and_prices(),
    ]


def _about_tokens_and_prices() -> list[str]:
    table = price_table()
    return [
        "Tokens are counted as the built-in model has them, four characters each: another model counts its own, may"
        " think at length, and may go on for more or fewer rounds.",
        f"Prices are those of {table.package} {table.version}, whose newest change is of {table.date}.",
    ]


def _model(use: ModelUse) -> dict[str, str]:
    prices = {
        "per million in": cost_in_words(use.input_price),
        "per million out": cost_in_words(use.output_price),
    }
    return {"model": use.model, **_row(use), **prices}


def _row(used: Usage | ModelUse) -> dict[str, str]:
    read, written = (f"{tokens / 1000:,.0f}k" for tokens in (used.input_tokens, used.output_tokens))
    return {
        "calls": f"{used.calls:,.0f}",
        "tokens in": read,
        "tokens out": written,
        "dollars": cost_in_words(used.cost),
    }


def _chain(used: Usage) -> dict[str, str]:
    return {"in sequence": f"{used.chain:,.0f}"}


def _range(arm: ArmUsage) -> str:
    """Return the costs of the played games, from the least to the most."""
    costs = [usage.cost for usage in arm.played if usage.cost is not None]
    ends = dict.fromkeys(cost_in_words(end) for end in (min(costs), max(costs))) if costs else ["unknown"]
    return " to ".join(ends)
