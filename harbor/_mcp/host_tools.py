"""The tools of a host's client, and the limits on hosts: the settings they may use and the dollars they may spend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from harbor._config.auction import AuctionConfig, check
from harbor._config.models import BUILT_IN
from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.plugins.finding import check_references
from harbor._house.auctioneer import announce
from harbor._mcp.held_auctions import HeldAuction, HeldAuctions, for_clients, public_events
from harbor._models.budget import check_limit
from harbor._runs.resolve import models_of
from harbor._runs.run import paid_for

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from harbor.evaluation._experiments.design import Experiment

ASKS_MODELS = "asks models, with your keys"
"""The key under which `Named` lists models that cost the user money."""
Named = Callable[[object], Mapping[str, list[str]]]
"""Returns the names in settings that are not Harbor's own, grouped by their effect."""


@dataclass(slots=True)
class Purse:
    """The dollars that all runs of a server may cost together (None: no model that costs money may be asked)."""

    dollars: float | None = None
    kept: float = 0.0

    def take(self, dollars: float) -> None:
        """Reserve dollars for a run.

        Raises:
            ConfigError: too few dollars are left.
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
        """Return the dollars that a run has not used."""
        self.kept -= dollars


@dataclass(frozen=True, slots=True)
class House:
    """The contents and permissions of a server.

    Args:
        runs: the folder for runs.
        presets: returns the files of the presets, by name.
        load: reads a preset.
        named: returns the names in untrusted settings, by their effect.
        trust: True if hosts may name anything that the user of this machine may.
        purse: dollars that runs may cost.
    """

    runs: Path
    presets: Callable[[], Mapping[str, Traversable]]
    load: Callable[[str], AuctionConfig]
    named: Named
    trust: bool = False
    purse: Purse = field(default_factory=Purse)

    def preset(self, name: str) -> AuctionConfig:
        """Read a preset. A host can name no file.

        Raises:
            ConfigError: no preset has that name.
        """
        if name not in self.presets():
            raise ConfigError(unknown("preset", name, self.presets()))
        return self.load(name)

    def settings(self, values: Mapping[str, object]) -> AuctionConfig:
        """Check settings that a host has sent.

        Raises:
            ConfigError: the settings are refused.
        """
        self.check(values, "settings")
        return check(AuctionConfig, dict(values), "settings")

    def check(self, values: Mapping[str, object], where: str) -> None:
        """Refuse code, a command, a server or a folder in a host's values, unless hosts are trusted.

        A model passes, as `purse` limits its cost.

        Raises:
            ConfigError: a value is refused. `where` names the values in the message.
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
    """Refuse models that may cost money without a limit. `limit` is the name of the limit in the message.

    Raises:
        ConfigError: a model may cost money. The message names the model.
    """
    asked = [name for name, settings in models_of(config).items() if settings.use != BUILT_IN]
    if asked and max_cost is None:
        raise ConfigError(f"model {asked[0]!r} may cost money; give {limit}, in dollars, such as 1")


LONGEST_GATHERING = 3_600
"""The longest time in seconds that an auction may wait for its clients."""
MOST_SENTENCES = 200
"""Number of last sentences that `read_standings` returns for a running auction."""
MaxCost = Annotated[
    float | None,
    Field(description="The most that calls of hosted models may cost, in dollars; required if one is asked.", gt=0),
]


class HostTools:
    """The tools with which a client holds auctions and hands out their seats."""

    def __init__(self, held: HeldAuctions, house: House) -> None:
        self._held = held
        self._house = house

    async def list_presets(self) -> dict[str, Any]:
        """List the auctions that are ready to be held, with their bidders, and the experiments that can be run.

        Call it first if you want to hold an auction or to run an experiment. It changes nothing and costs nothing.

        It returns {"auctions":[{"name":"demo","game":"english","bidders":["Ann","Ben","Cho"],"about":"Three buyers
        ..."}], "experiments":[{"name":"bidding","games":90,"question":"...","arms":["..."]}]}. Give the name of an
        auction to `hold_auction`, that of an experiment to `run_experiment`, and either to `estimate`.
        """
        from harbor.evaluation._experiments.library import experiment, presets

        return {
            "auctions": [
                self._preset(name, config, file)
                for name, file in self._house.presets().items()
                if (config := self._house.load(name)).series is None
            ],
            "experiments": [_design(one) for one in map(experiment, presets())],
        }

    async def hold_auction(
        self,
        preset: Annotated[str, Field(description='An auction of list_presets, such as "demo"; "" with settings.')] = "",
        seats: Annotated[
            list[str],
            Field(description='The bidders that clients are to play, such as ["Ann"]; the others play by themselves.'),
        ] = [],  # noqa: B006 - it is only read, and the schema shows this default
        settings: Annotated[
            dict[str, Any] | None,
            Field(description="In place of a preset: all settings of an auction, as in a TOML file of Harbor's."),
        ] = None,
        seed: Annotated[int | None, Field(description="Another seed: other items and other chance.", ge=0)] = None,
        wait_seconds: Annotated[
            float, Field(description="How long to wait for clients that have not come.", ge=0, le=LONGEST_GATHERING)
        ] = 300,
        max_cost: MaxCost = None,
    ) -> dict[str, Any]:
        """Hold an auction in which you, or other clients, play some of the bidders. Harbor is the auctioneer.

        Name a preset and the bidders that are for clients. Each of these gets a seat with a secret token: whoever has
        the token plays that bidder with `wait_for_turn`, `answer` and `what_happened`. Play a seat yourself, or give
        its token to one other agent, and to nobody else. The auction begins when every seat has been called for by
        `wait_for_turn`, or after wait_seconds; the seats of clients that never come are out of the bidding.

        It returns at once: {"auction":"20260131T101500Z-demo-1a2b3c", "status":"waiting for clients",
        "seats":{"Ann":"seat-4fJx..."}, "bidders":["Ann","Ben","Cho"], "seconds_per_turn":{"Ann":120.0}}.
        Call `read_standings` with that name to see how it goes.
        """
        config = for_clients(self._settings(preset, settings), seats)
        if seed is not None:
            config = check(AuctionConfig, config.model_dump(exclude_unset=True) | {"seed": seed}, "settings")
        check_cost(config, max_cost)
        if max_cost is None:
            return _seats(self._held.hold(config, wait_seconds))
        self._house.purse.take(max_cost)
        try:
            held = self._held.hold(config, wait_seconds, max_cost, then=lambda one: self._settle(one, max_cost))
        except Exception:
            self._house.purse.give_back(max_cost)
            raise
        return _seats(held)

    async def list_auctions(self) -> dict[str, Any]:
        """List the auctions that this server holds or has held, with the tokens of their seats.

        Call it to find an auction that was begun before you came, or a token that you have lost.

        It returns {"auctions":[{"auction":"20260131T101500Z-demo-1a2b3c","status":"running","seats":{"Ann":
        "seat-4fJx..."},"bidders":["Ann","Ben","Cho"],"seconds_per_turn":{"Ann":120.0}}]}. The status is "waiting for
        clients", "running", "over", or "stopped".
        """
        return {"auctions": [_seats(one) for one in self._held.by_name.values()]}

    async def read_standings(
        self,
        auction: Annotated[
            str, Field(description='The name of an auction: "auction" of hold_auction.', max_length=300)
        ],
    ) -> dict[str, Any]:
        """Read how an auction goes or has ended: what everyone could hear, and at its end who has won what.

        Call it whenever you like; it changes nothing. Secrets of bidders are not told while the auction goes on.

        It returns {"auction":"...", "status":"running", "so_far":"Welcome, Ann, Ben; ..."} as long as it goes on, and
        at the end {"auction":"...", "status":"over", "standings":[{"bidder":"Ann","profit":5400.0,...}],
        "items":[...], "folder":"runs/..."}. If it was stopped, "error" says why.
        """
        held = self._held.auction(auction)
        told: dict[str, Any] = {"auction": held.name, "status": held.status}
        if held.error:
            told["error"] = held.error
        if held.result is not None:
            return told | held.result.metrics().as_json() | {"folder": str(held.folder)}
        said = [sentence for event in public_events(held) if (sentence := announce(event))]
        return told | {"so_far": " ".join(said[-MOST_SENTENCES:])}

    def _settings(self, preset: str, settings: dict[str, Any] | None) -> AuctionConfig:
        if bool(preset) == bool(settings):
            raise ConfigError("give a preset, such as 'demo', or settings: one of the two")
        return self._house.preset(preset) if preset else self._house.settings(settings or {})

    def _settle(self, held: HeldAuction, max_cost: float) -> None:
        """Return the dollars that the models of an auction have not used."""
        self._house.purse.give_back(max(0.0, max_cost - paid_for(held.folder, models_of(held.config))))

    @staticmethod
    def _preset(name: str, config: AuctionConfig, file: Traversable) -> dict[str, Any]:
        first = [line.lstrip("# ") for line in file.read_text(encoding="utf-8").split("\n") if line.startswith("#")]
        bidders = [bidder.name for bidder in config.bidders]
        return {"name": name, "game": config.rules.game, "bidders": bidders, "about": " ".join(first)}


def _design(one: Experiment) -> dict[str, Any]:
    from harbor.evaluation._experiments.trials import trial_count

    arms = [arm.name for arm in one.arms]
    return {"name": one.name, "games": trial_count(one), "question": one.question, "arms": arms}


def _seats(held: HeldAuction) -> dict[str, Any]:
    return {
        "auction": held.name,
        "status": held.status,
        "seats": {seat.bidder: seat.token for seat in held.seats},
        "bidders": [bidder.name for bidder in held.config.bidders],
        "seconds_per_turn": {seat.bidder: seat.timeout_seconds for seat in held.seats},
    }
