"""What a server does for its hosts: which settings it takes from them, and how much their models may cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from harbor._config.auction import AuctionConfig, check
from harbor._config.models import BUILT_IN
from harbor._core.errors import ConfigError, unknown
from harbor._core.references import check_references
from harbor._models.budget import check_limit
from harbor._runs.resolve import models_of

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

ASKS_MODELS = "asks models, with your keys"
Named = Callable[[object], Mapping[str, list[str]]]
"""Gives the names in settings that are not Harbor's own, by what they make Harbor do."""


@dataclass(slots=True)
class Purse:
    """What all runs of a server may cost, in dollars (None: no model that costs anything may be asked)."""

    dollars: float | None = None
    kept: float = 0.0

    def take(self, dollars: float) -> None:
        """Put money aside for a run.

        Raises:
            ConfigError: there is not so much left.
        """
        check_limit(dollars)
        if self.dollars is None:
            raise ConfigError(
                "this server asks no models that cost money; start it with: harbor mcp --max-cost DOLLARS"
            )
        if self.kept + dollars > self.dollars:
            raise ConfigError(
                f"max_cost {dollars:g} is more than the ${self.dollars - self.kept:.2f} that are left here"
            )
        self.kept += dollars

    def give_back(self, dollars: float) -> None:
        """Put back what a run has not used."""
        self.kept -= dollars


@dataclass(frozen=True, slots=True)
class House:
    """What a server has and allows.

    Args:
        runs: the folder that runs go in.
        presets: the files of the presets, by name.
        load: reads a preset.
        named: what is asked of settings that are not trusted.
        trust: whether hosts may name anything that the user of this machine may.
        purse: what runs may cost.
    """

    runs: Path
    presets: Callable[[], Mapping[str, Traversable]]
    load: Callable[[str], AuctionConfig]
    named: Named
    trust: bool = False
    purse: Purse = field(default_factory=Purse)

    def preset(self, name: str) -> AuctionConfig:
        """Read a preset; a host can name no file.

        Raises:
            ConfigError: there is none of that name.
        """
        if name not in self.presets():
            raise ConfigError(unknown("preset", name, self.presets()))
        return self.load(name)

    def settings(self, values: Mapping[str, object]) -> AuctionConfig:
        """Read settings that a host has sent.

        Raises:
            ConfigError: they are refused.
        """
        self.check(values, "settings")
        return check(AuctionConfig, dict(values), "settings")

    def check(self, values: Mapping[str, object], where: str) -> None:
        """Refuse code, a command, a server or a folder in what a host names, unless hosts are trusted.

        A model is let pass: what it costs is for the purse.

        Raises:
            ConfigError: it is refused; `where` says what the values are of.
        """
        if self.trust:
            return
        check_references(dict(values), where)
        for does, names in self.named(dict(values)).items():
            if does != ASKS_MODELS:
                raise ConfigError(
                    f"{where} names {names[0]!r}, which this server takes from nobody ({does}); leave it out, or start"
                    " the server with: harbor mcp --trust"
                )


def check_cost(config: AuctionConfig, max_cost: float | None, limit: str = "max_cost") -> None:
    """Refuse models that may cost money without a limit; `limit` is what whoever asks gives it by.

    Raises:
        ConfigError: it names the model.
    """
    asked = [name for name, settings in models_of(config).items() if settings.use != BUILT_IN]
    if asked and max_cost is None:
        raise ConfigError(f"model {asked[0]!r} may cost money; give {limit}, in dollars, such as 1")
