"""Commands that show what there is: personas, houses, and the graph of a bidder."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from harbor._cli.configs import load
from harbor._cli.output import Json
from harbor._core.errors import ConfigError, unknown


def graph(
    config: Annotated[str, typer.Argument(metavar="[CONFIG.toml]", help="A TOML file, or a preset.")] = "demo",
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

    memory = BidderMemory(InMemoryStore(), name, chosen.name, chosen.memory)
    context = BidderContext.of(thinkers[name], SimulatedChat(), memory=memory, game=chosen.rules.game)
    typer.echo(GraphBidder(context).graph.get_graph().draw_mermaid())


def personas(as_json: Json = False) -> None:
    """List the personas of the catalog."""
    from harbor.personas._catalog.catalog import personas as catalog

    if as_json:
        typer.echo(json.dumps([{"id": one.id, "name": one.name, "text": one.text} for one in catalog().values()]))
        return
    for one in catalog().values():
        typer.echo(f"{one.id}: {one.name}\n  {one.text}\n")


def houses(as_json: Json = False) -> None:
    """List the houses of the catalog, with their labels."""
    from harbor._core.money import as_number, dollars
    from harbor.personas._catalog.catalog import catalog_houses

    if as_json:
        rows = [
            {
                "id": house.id,
                **house.item.model_dump(),
                "start": as_number(house.item.start),
                "true_value": as_number(house.item.true_value),
            }
            for house in catalog_houses().values()
        ]
        typer.echo(json.dumps(rows))
        return
    for house in catalog_houses().values():
        item = house.item
        typer.echo(
            f"{house.id}: {item.name}, from {dollars(item.start)}, worth {dollars(item.true_value)}, {item.persona}"
        )
        typer.echo(f"  {item.listing}\n")
