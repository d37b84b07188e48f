"""Commands that estimate the cost of a run and the games that an experiment needs, before a model is paid."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harbor._cli.shared import shell
from harbor._cli.shared.arguments import Arms, Changes, Named, Repeats, Set, in_experiment
from harbor._cli.shared.files import chosen_config, is_experiment, load_experiment, override, presets
from harbor._cli.shared.shell import Json, say
from harbor._core.basics.errors import ConfigError
from harbor._core.files.layout import check_experiment

if TYPE_CHECKING:
    from harbor._config.auction import AuctionConfig
    from harbor.evaluation._experiments.design import Comparison, Experiment
    from harbor.evaluation._experiments.trial_records import Results
    from harbor.evaluation._experiments.trial_runs import ArmUsage, DryRun, ModelUse, Usage
    from harbor.evaluation._experiments.trials import Trial


def estimate(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE.toml]",
            help="A published experiment, a preset, or a TOML file of either.",
            autocompletion=shell.either,
        ),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="A preset, if an experiment has the same name.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="The model of every bidder that has one; of an experiment, that of the next slot."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Replace the seed.")] = None,
    items: Annotated[int | None, typer.Option(help="Replace the number of items of an auction.")] = None,
    repeats: Repeats = None,
    arm: Arms = None,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """Estimate the calls, tokens and dollars of an auction, a series or an experiment; the built-in model plays."""
    if preset is None and name is None:
        raise ConfigError("nothing is named to be estimated; name an experiment or a TOML file, or give --preset NAME")
    if preset is None and name is not None and not _is_auction(name):
        if items is not None:
            raise ConfigError(f"--items {items} is for an auction, and {name!r} is an experiment; drop it")
        _estimate_experiment(_design(name, model or [], arm or [], repeats, seed, set_ or []), as_json)
        return
    if repeats is not None or arm or (model and len(model) > 1):
        raise ConfigError(f"{preset or name!r} is an auction; drop --repeats, --arm and a second --model")
    changes = Changes(seed, model[0] if model else None, items)
    _estimate_auction(override(chosen_config(name, preset), changes, set_ or ()), as_json)


def _is_auction(name: str) -> bool:
    """Return whether a name is that of an auction; a name that an experiment also has means the experiment."""
    from harbor.evaluation._experiments.library import presets as experiments

    if name in experiments():
        return False
    return name in presets() or (Path(name).is_file() and not is_experiment(Path(name)))


def _design(
    name: str, model: list[str], arm: list[str], repeats: int | None, seed: int | None, set_: list[str]
) -> Experiment:
    design = load_experiment(name)  # before the frameworks are imported
    from harbor.evaluation._experiments.choices import chosen

    return in_experiment(chosen(design, model, arm, repeats, seed), set_)


def _estimate_experiment(design: Experiment, as_json: bool) -> None:
    import asyncio

    from harbor._cli.display.designs import estimate_tables
    from harbor._cli.display.render import render
    from harbor.evaluation._analysis.levels import unreachable
    from harbor.evaluation._experiments.trial_runs import dry_run
    from harbor.evaluation._experiments.trials import trials

    if beyond := unreachable(design):
        say(f"warning: {beyond}")
    found = asyncio.run(dry_run(design, _shown_at_work))
    _warn(found.usage, [trial.config for trial in trials(design, 1)])
    if as_json:
        typer.echo(json.dumps(_as_json(found)))
    else:
        render(estimate_tables(found))


def _estimate_auction(config: AuctionConfig, as_json: bool) -> None:
    import asyncio

    from harbor._cli.display.designs import auction_tables
    from harbor._cli.display.render import render
    from harbor._models.prices import price_table
    from harbor.evaluation._experiments.trial_runs import play_offline

    used, auctions = asyncio.run(play_offline(config)), config.series.auctions if config.series else 1
    _warn(used, [config])
    if as_json:
        whole = {"auction": config.name, "auctions": auctions, **_amounts(used), "chain": used.chain}
        rest = {"models": _models(used), "prices": asdict(price_table()), "simulated": True}
        typer.echo(json.dumps(whole | rest))
    else:
        render(auction_tables(config.name, auctions, used))


def _warn(used: Usage, configs: Sequence[AuctionConfig]) -> None:
    for unpriced in (use for use in used.models if use.cost is None):
        say(
            f"warning: no price of model {unpriced.model!r} is known, so no cost; "
            "give its settings in [models] an input_price and an output_price, in dollars per million tokens"
        )
    for thinking in (use for use in used.models if use.thoughts):
        say(f"model {thinking.model!r} thinks before it answers: its thoughts are {thinking.thoughts}")
    for name in dict.fromkeys(bidder.name for config in configs for bidder in config.bidders if bidder.agent):
        say(f"warning: the agent of {name!r} is not asked, and what it calls itself is not in the estimate")


def _shown_at_work(games: Sequence[Trial]) -> Iterable[Trial]:
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    unseen = not sys.stderr.isatty()
    return track(games, "playing", console=console, transient=True, disable=unseen)


def _as_json(found: DryRun) -> dict[str, Any]:
    from harbor._models.prices import price_table

    arms = [
        {"arm": arm.arm, "games": arm.games, **_amounts(arm.usage), "chain": arm.usage.chain} | _spread(arm)
        for arm in found.arms
    ]
    whole = {"experiment": found.experiment, "games": found.games, "played": found.played, **_amounts(found.usage)}
    rest = {"chain": found.usage.chain, "models": _models(found.usage), "arms": arms, "prices": asdict(price_table())}
    return whole | rest | {"simulated": True}


def _models(used: Usage) -> list[dict[str, Any]]:
    return [
        {"model": use.model, **_amounts(use), "reasoning_tokens": round(use.reasoning_tokens)}
        | {"input_price": use.input_price, "output_price": use.output_price}
        for use in used.models
    ]


def _amounts(used: Usage | ModelUse) -> dict[str, int | float | None]:
    """Return whole calls and tokens, and dollars to a millionth."""
    return {
        "calls": round(used.calls),
        "input_tokens": round(used.input_tokens),
        "output_tokens": round(used.output_tokens),
        "cost_dollars": None if used.cost is None else round(used.cost, 6),
    }


def _spread(arm: ArmUsage) -> dict[str, dict[str, int | float | None]]:
    """Return the amounts of the smallest and the largest game that was played, by tokens."""
    ranked = sorted(arm.played, key=lambda usage: usage.input_tokens + usage.output_tokens)
    return {"least": _amounts(ranked[0]), "most": _amounts(ranked[-1])}


Effect = Annotated[
    float, typer.Option(help="The difference to find, in the unit of the metric; its sign does not matter.")
]


def power(
    name: Named,
    effect: Effect,
    metric: Annotated[str | None, typer.Option(help="Only the comparisons of this metric.")] = None,
    pilot: Annotated[
        Path | None, typer.Option(help="The folder of a pilot; default: one is played with the built-in model.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=2, help="The repeats of the pilot, if one is played.")] = 10,
    power: Annotated[float, typer.Option(help="The power: the share of true differences that are found.")] = 0.8,
    alpha: Annotated[float, typer.Option(help="The level: the share of false alarms if nothing differs.")] = 0.05,
    as_json: Json = False,
) -> None:
    """Say how many games the planned comparisons need. The variance comes from a pilot."""
    from harbor.evaluation._analysis.levels import Question

    question = Question(effect, power, alpha)  # before the experiment is read, and the statistics are imported
    experiment = load_experiment(name)
    if pilot:
        check_experiment(pilot)
    from pydantic import TypeAdapter

    from harbor._cli.display.designs import power_tables
    from harbor._cli.display.render import render
    from harbor.evaluation._analysis.power import Power, games_needed, planned

    comparisons = planned(experiment, metric)
    results = _read(experiment, pilot) if pilot else _played(experiment, comparisons, repeats)
    found = games_needed(results, comparisons, question)
    if as_json:
        typer.echo(TypeAdapter(Power).dump_json(found))
    else:
        render(power_tables(found))


def _read(experiment: Experiment, folder: Path) -> Results:
    """Read a pilot's records; the plan is that of the current experiment."""
    from harbor.evaluation._running.experiment_folder import read_results

    found = read_results(folder)
    if found.experiment.name != experiment.name:
        other, wanted = found.experiment.name, experiment.name
        remedy = f"give a folder of {wanted!r}, or name {other!r}"
        raise ConfigError(f"pilot {str(folder)!r} is of experiment {other!r}; {remedy}")
    if found.experiment.same_seed:
        raise ConfigError(f"pilot {str(folder)!r} was run with --same-seed, so it has no pairs; give one without")
    return replace(found, experiment=experiment)


def _played(experiment: Experiment, comparisons: Sequence[Comparison], repeats: int) -> Results:
    import asyncio

    from harbor.evaluation._analysis.power import pilot

    say(f"no --pilot is given: the built-in model plays {repeats} repeats; games of another model may vary otherwise")
    return asyncio.run(pilot(experiment, comparisons, repeats))
