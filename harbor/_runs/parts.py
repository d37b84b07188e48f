"""What a run is made of, for its log: each extension that its settings name, and the package that it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harbor._config.auction import AuctionConfig, ModelSettings
from harbor._config.dialects import PROVIDERS
from harbor._config.models import GIVEN
from harbor._core import thoughts
from harbor._core.extensions import Kind, Part
from harbor._core.finding import found
from harbor.graphs._context.node import ThoughtNode
from harbor.personas._catalog.catalogue import catalogue_of


def parts_of(
    config: AuctionConfig, models: Iterable[ModelSettings], nodes: Iterable[ThoughtNode] = ()
) -> tuple[Part, ...]:
    """Name the game, then nodes, policies and agents of bidders, then models and the catalogue, each once.

    Args:
        config: the settings.
        models: those of the models in use; one that was given as an object, or is of a provider, is no extension.
        nodes: those of the bidders; one whose event the core does not know has to be named for who reads the log.
    """
    own: list[tuple[Kind, str]] = [("node", node.name) for node in nodes if node.event.__module__ != thoughts.__name__]
    named = dict.fromkeys([("game", config.rules.game), *_of_bidders(config), *own, *_of_models(models)])
    parts = dict.fromkeys(found(kind, name).part for kind, name in named)
    return (*parts, *_catalogue(config))


def _of_bidders(config: AuctionConfig) -> Iterator[tuple[Kind, str]]:
    for bidder in config.bidders:
        if bidder.uses_model:
            yield from (("node", name) for name in bidder.nodes)
        if bidder.rule:
            yield "policy", bidder.rule
        if isinstance(bidder.agent, str):
            yield "agent", bidder.agent


def _of_models(models: Iterable[ModelSettings]) -> Iterator[tuple[Kind, str]]:
    for one in models:
        if one.use != GIVEN and one.use.partition(":")[0] not in PROVIDERS:
            yield "model", one.use


def _catalogue(config: AuctionConfig) -> Iterator[Part]:
    """Name the catalogue with its own version where items or personas may be taken from it.

    A run that is resumed has its items listed, so whether they were sampled makes no difference.
    """
    if "items" in found("game", config.rules.game).value.uses or any(bidder.persona for bidder in config.bidders):
        one, catalogue = found("catalogue", config.catalogue.partition("@")[0]), catalogue_of(config.catalogue)
        yield Part("catalogue", f"{one.name}@{catalogue.version}", one.package, one.version)
