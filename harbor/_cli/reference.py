"""Commands that show what there is: personas, houses, and the graph of a bidder."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from harbor._cli import completing
from harbor._cli.configs import load
from harbor._cli.output import Json
from harbor._core.errors import ConfigError, unknown


def graph(
    config: Annotated[
        str,
        typer.Argument(metavar="[CONFIG.toml]", help="A TOML file, or a preset.", autocompletion=completing.auctions),
    ] = "demo",
    bidder: Annotated[str | None, typer.Option(help="Whose graph; default: the first that has one.")] = None,
) -> None:
    """Print the graph of a bidder as Mermaid text. What is switched off is left out."""
    chosen = load(config)
    thinkers = {one.name: one for one in chosen.bidders if one.uses_model}
    if not thinkers:
        raise ConfigError(f"config {config!r} has no bidder with a graph; give one a model instead of a rule")
    name = bidder if bidder is not None else next(iter(thinkers))
    if name not in thinkers:
        raise ConfigError(unknown("bidder with a graph", name, thinkers))
    from langgraph.store.memory import InMemoryStore

    from harbor._models.simulated.chat_model import SimulatedChat
    from harbor.graphs._context.context import BidderContext
    from harbor.graphs._wiring.bidder import GraphBidder
    from harbor.memory._bidder.bidder_memory import BidderMemory

    memory = BidderMemory(InMemoryStore(), name, chosen.name, chosen.memory, chosen.rules.game)
    context = BidderContext.of(thinkers[name], SimulatedChat(), memory=memory, game=chosen.rules.game)
    typer.echo(GraphBidder(context).graph.get_graph().draw_mermaid())


Named = Annotated[str, typer.Option("--catalogue", help="A catalogue by name, or module:NAME.")]


def personas(catalogue: Named = "homes", as_json: Json = False) -> None:
    """List the personas of a catalogue."""
    from harbor._cli.display.render import render
    from harbor.personas._catalog.catalogue import catalogue_of

    found = catalogue_of(catalogue).personas.values()
    if as_json:
        typer.echo(json.dumps([{"id": one.id, "name": one.name, "text": one.text} for one in found]))
        return
    render(line for one in found for line in (f"{one.id}: {one.name}", f"{one.text}\n"))


def houses(catalogue: Named = "homes", as_json: Json = False) -> None:
    """List the houses, or other items, of a catalogue, with their labels; and say how far words alone tell these."""
    from harbor._cli.display.render import render
    from harbor._core.money import as_number, dollars
    from harbor.personas._catalog.catalogue import catalogue_of
    from harbor.personas._catalog.overlap import named_by_words, nearest_in_words

    chosen = catalogue_of(catalogue)
    items, nearest = chosen.items, nearest_in_words(chosen)
    if as_json:
        amounts = {
            key: {"start": as_number(one.start), "true_value": as_number(one.true_value)} for key, one in items.items()
        }
        rows = [
            {"id": key, **one.model_dump(), **amounts[key], "nearest_in_words": nearest.get(key)}
            for key, one in items.items()
        ]
        typer.echo(json.dumps(rows))
        return
    for key, one in items.items():
        label = "".join(f", {persona}" for persona in one.suits)
        worth = f"{key}: {one.name}, from {dollars(one.start)}, worth {dollars(one.true_value)}{label}"
        render([worth, f"{one.listing}\n"])
    named, judged = named_by_words(chosen)
    render([f"Shared words alone name the persona of {named} of the {judged} that suit somebody."])
