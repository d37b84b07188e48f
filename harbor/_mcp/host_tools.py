"""The tools of a host's client: what there is, auctions with seats for clients, and what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from harbor._config.auction import AuctionConfig, check
from harbor._core.errors import ConfigError
from harbor._house.auctioneer import announce
from harbor._mcp.allowing import House, check_cost
from harbor._mcp.held_auctions import HeldAuction, HeldAuctions, for_clients, public_events
from harbor._runs.limits import paid_for
from harbor._runs.resolve import models_of

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from harbor.evaluation._experiments.design import Experiment

LONGEST_GATHERING = 3_600
MOST_SENTENCES = 200
"""How many of the last sentences are told of an auction that goes on."""
MaxCost = Annotated[
    float | None,
    Field(description="What the calls of hosted models may cost, in dollars; needed where one is asked.", gt=0),
]


class HostTools:
    """The tools by which a client holds auctions, and hands out their seats."""

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
        ] = [],  # noqa: B006 - it is only read, and a schema shows it
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
        """Put back what the models of an auction have not used."""
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
