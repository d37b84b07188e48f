"""The games of the golden set: presets, policies, settings, third-party packages, minds, agents and people."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import harbor
from harbor import Auction, Bidder, use
from harbor._cli.shared import files
from harbor._config.auction import AuctionConfig
from harbor._core.plugins.finding import find, names
from harbor.evaluation._experiments.library import experiment, presets
from harbor.evaluation._experiments.trial_runs import offline
from harbor.evaluation._experiments.trials import trials
from harbor.events import Acted, BiddersAsked
from harbor.games import Bid, Game, Measures, RuleSettings, of_type

ROOT = Path(harbor.__file__).resolve().parents[1]
"""The checkout whose Harbor is imported, with its examples and tests."""
SEEDS = (1, 2)


class Held(NamedTuple):
    """A game: its name, its settings, and the maker of its other inputs, which is called for each game."""

    name: str
    config: AuctionConfig
    given: Callable[[], Mapping[str, Any]] = dict


def games() -> Iterator[Held]:
    """Yield all games."""
    bring()
    for part in (of_policies, of_settings, of_strangers_minds, of_minds, of_auctions, of_experiments, of_others):
        yield from part()


# ---------------------------------------------------------------- packages of strangers


def bring() -> None:
    """Register third-party packages: the examples, and games of the tests."""
    sys.path[:0] = [str(ROOT / place) for place in ("examples/plugin", "examples/bundles", "examples", "tests")]
    for place in STRANGERS:
        module, _, name = place.partition(":")
        use(getattr(import_module(module), name))
    use(lowest_unique(import_module("game")))


STRANGERS = (
    *("clock_auction.game:DUTCH", "clock_auction.node:REFLECT", "clock_auction.metric:patience"),
    *("clock_auction.policy:HALF_VALUE", "clock_auction.catalogue:FLOWERS", "bundle_auction.game:BUNDLES"),
    *("support.third_price:THIRD", "support.bargaining:BARGAINING", "support.bargaining:HALVES"),
    "support.bargaining:part_of_the_pie",
)


class LowestRules(RuleSettings):
    """Only the settings that all games share."""

    game: str = "lowest-unique"


@dataclass(frozen=True, slots=True)
class Pick:
    """A bidder's pick, and True if it won."""

    bidder: str
    pick: Decimal | None
    won: bool


def lowest_unique(module: Any) -> Game:
    """Make a game from the rules of examples/game.py."""

    def standings(entries: Sequence[Any]) -> list[Pick]:
        over = of_type(entries, module.GameOver)
        asked = [name for event in of_type(entries, BiddersAsked)[:1] for name in event.bidders]
        picks = {event.bidder: event.act.amount for event in of_type(entries, Acted) if isinstance(event.act, Bid)}
        return [Pick(name, picks.get(name), name == one.winner) for one in over for name in asked]

    return Game(
        api=1, name="lowest-unique", description="the lowest number that nobody else picked wins", settings=LowestRules,
        build=lambda _, config: module.LowestUnique(tuple(bidder.name for bidder in config.bidders)),
        opening=module.PicksWanted, events=(module.PicksWanted, module.GameOver),
        rational=lambda ask, _: Bid(Decimal(sum(map(ord, ask.bidder)) % 5 + 1)),
        measures=Measures("games", standings, standings),
    )  # fmt: skip


# ---------------------------------------------------------------- scripts

THREE = ("Ann", "Ben", "Cho")
BIDDERS = {"water": ("Alex", "Bob", "Cindy", "David", "Eric"), "bargaining": ("Ann", "Ben")}
ITEMS = (
    {"name": "First House", "start": 1000, "true_value": 2500, "listing": "A small house.", "persona": "downsizing"},
    {"name": "Second House", "start": 1500, "true_value": 3000, "listing": "A flat in town."},
    {"name": "Third House", "start": 900, "true_value": 1000, "listing": "A hut."},
)
OWN: Mapping[str, Mapping[str, Any]] = {
    "english": {}, "english-private": {"runs": 2, "step_share": 0.1}, "first-price": {"runs": 3},
    "second-price": {"runs": 3}, "beauty": {"runs": 3}, "water": {"days": 6},
    "dutch": {}, "bundles": {}, "third-price": {}, "bargaining": {}, "lowest-unique": {},
}  # fmt: skip
MONEY = {"english": 6000, "dutch": 450, "bundles": 200}


def config_of(game: str, seats: Sequence[Mapping[str, Any]], seed: int, **rules: Any) -> AuctionConfig:
    """Seat as many bidders as a game takes, in order."""
    called = BIDDERS.get(game, THREE)
    purse = {"budget": MONEY[game]} if game in MONEY else {}
    bidders = [{"name": name, **purse, **seat} for name, seat in zip(called, cycle(seats), strict=False)]
    sold: dict[str, Any] = {"english": {"items": ITEMS}, "dutch": {"catalogue": "flowers@1", "items": {"count": 3}}}
    told = {"game": game, **OWN[game], **rules}
    return Auction(name=game, rules=told, bidders=bidders, seed=seed, **sold.get(game, {}))


def ruled(*policies: str, **more: Any) -> list[dict[str, Any]]:
    """Return seats for scripts."""
    return [{"rule": policy, **more} for policy in policies]


def of_policies() -> Iterator[Held]:
    """Yield each policy in each game that takes it, among copies of itself and among others."""
    for policy in names("policy"):
        taken = find("policy", policy)
        for game in OWN:
            if not taken.games or game in taken.games:
                for seed in SEEDS:
                    where = f"policy/{policy}/{game}"
                    yield Held(f"{where}/alike/{seed}", config_of(game, ruled(policy), seed))
                    yield Held(f"{where}/mixed/{seed}", config_of(game, ruled(policy, "rational", "random"), seed))


TABLES = {"play": ruled("rational", "random"), "err": ruled("adversary", "random", "rational")}
EXTENTS = ("nothing", "actions", "actions and values")
SHOWN = [{"show": show, "history": history} for show in EXTENTS for history in (3, 0)]
VALUED = [
    *SHOWN, {"show": "actions and values", "draw": "once", "group": "M"},
    {"values": {"Ann": [40], "Ben": [40], "Cho": [25]}, "show": "actions"},
    {"rational_rivals": True, "entrance_fee_share": 0.5}, {"equal_rivals": True, "entrance_fee_share": 0, "reasks": 0},
]  # fmt: skip
VARIED: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "english": [
        *({"reveal": reveal, "lowerings": times} for reveal in ("price", "true value") for times in (0, 2)),
        {"lowerings": 3, "lowering_share": 0.9, "reveal": "price"},
        {"increment_share": 0.4, "reasks": 0},
    ],
    "first-price": VALUED, "second-price": VALUED, "english-private": VALUED,
    "beauty": [*SHOWN, {"fraction": "1", "group": "M"}, {"fraction": "1/2", "prize": 1, "show": "actions"}],
    "water": [
        {"history": 0}, {"history": "all", "supply": "low"}, {"days": 3, "supplies": [10, 30, 0]},
        {"supply": "high", "reasks": 0},
    ],
    "dutch": [{"step_share": 0.1}, {"first_multiple": 1}],
    "bundles": [{"synergy": 2}, {"items": ["a", "b"], "most_value": 3}],
}  # fmt: skip


def of_settings() -> Iterator[Held]:
    """Yield games under all kinds of settings, with scripts that play, that err, and that tie."""
    tables = {**TABLES, "tie": ruled("minimum-raise"), "fail": ruled("adversary")}
    for game, variants in VARIED.items():
        for number, rules in enumerate(variants):
            for table, seats in tables.items():
                for seed in SEEDS:
                    yield Held(f"settings/{game}/{number}/{table}/{seed}", config_of(game, seats, seed, **rules))
    for seed in SEEDS:
        for budget in (400, 950, 1600):
            poor = config_of("english", ruled("minimum-raise", "random", budget=budget), seed, lowerings=2)
            yield Held(f"settings/english/poor/{budget}/{seed}", poor)


# ---------------------------------------------------------------- minds

PERSONAS = ("urban-dwellers", "rural-home-seekers", "eco-conscious-buyers")
MINDS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"bidding": "call"}, "second": {"theory_of_mind": "second", "strategy": "on"},
    "words": {"theory_of_mind": "inferred", "strategy": "on", "reply": "text"},
    "dialogue": {"theory_of_mind": "second", "strategy": "fused", "context": "dialogue"},
    "placebo": {"theory_of_mind": "inferred", "placebo": "shuffled", "correct_beliefs": "model", "bidding": "call"},
    "limit": {"memory": "full", "learning": True},
}  # fmt: skip


def of_minds() -> Iterator[Held]:
    """Yield ascending auctions among minds of each kind."""
    for mind, settings in MINDS.items():
        for seed in SEEDS:
            seats = [{"persona": persona, "budget": 6000, **settings} for persona in PERSONAS]
            yield Held(f"mind/{mind}/{seed}", config_of("english", seats, seed, increment_share=0.2))


def of_strangers_minds() -> Iterator[Held]:
    """Yield each other game among the built-in model, a rational player and one that errs."""
    for game in OWN:
        if game not in ("english", "lowest-unique"):
            for seed in SEEDS:
                yield Held(f"model/{game}/{seed}", config_of(game, [{}, *ruled("rational", "adversary")], seed))
    for seed in SEEDS:
        seats = [{"nodes": ["reflect"], "budget": 6000}, *ruled("rational")]
        yield Held(f"model/reflecting/{seed}", config_of("english", seats, seed, increment_share=0.2))
        for place in ("plugin", "bundles"):
            values = tomllib.loads((ROOT / "examples" / place / "auction.toml").read_text(encoding="utf-8"))
            yield Held(f"example/{place}/{seed}", Auction(**values, seed=seed))


# ---------------------------------------------------------------- presets


def of_auctions() -> Iterator[Held]:
    """Yield the preset auctions in a short form."""
    from support.small import brief

    for name, path in files.presets().items():
        for seed in SEEDS:
            values = {**tomllib.loads(path.read_text(encoding="utf-8")), "seed": seed}
            yield Held(f"auction/{name}/{seed}", brief(offline(Auction(**values))))


def of_experiments() -> Iterator[Held]:
    """Yield one short game of each arm under each condition of the preset experiments."""
    from support.small import brief

    for name in presets():
        for seed in SEEDS:
            for trial in trials(experiment(name).model_copy(update={"seed": seed}), 1):
                place = f"experiment/{name}/{trial.arm}/{trial.condition}/{seed}"
                yield Held(place, brief(offline(trial.config)))


# ---------------------------------------------------------------- agents and people


def of_others() -> Iterator[Held]:
    """Yield a series with memories, and auctions with an agent, with a broken agent, and with a person."""
    from support.steady import decide

    for seed in SEEDS:
        yield Held(f"other/series/{seed}", series(seed))
        agent = [{"agent": True}, {"budget": 6000}, *ruled("rational")]
        yield Held(f"other/agent/{seed}", config_of("english", agent, seed), lambda: {"agents": {"Ann": decide}})
        yield Held(f"other/broken/{seed}", config_of("english", agent, seed), lambda: {"agents": {"Ann": Broken()}})
        for game in ("second-price", "water"):
            first = BIDDERS.get(game, THREE)[0]
            seats = [{"agent": True}, *islice(cycle(ruled("rational", "random")), 4)]
            given = {"agents": {first: Broken(odd=True)}}
            yield Held(f"other/broken-{game}/{seed}", config_of(game, seats, seed), lambda given=given: given)
        person = [{"person": True}, *ruled("rational", "minimum-raise")]
        yield Held(f"other/person/{seed}", config_of("english", person, seed), lambda: {"people": {"Ann": reader()}})


def series(seed: int) -> AuctionConfig:
    """Return a series of three auctions, with memories of each kind."""
    minds = [{"memory": "full", "learning": True}, {"memory": "episodes", "learning": True}]
    bidders = [Bidder(name, budget=4000, **mind) for name, mind in zip(THREE, minds, strict=False)]
    bidders.append(Bidder("Cho", budget=4000, rule="minimum-raise"))
    return Auction(name="in a row", seed=seed, series={"auctions": 3}, items=ITEMS[:2], bidders=bidders)


class Broken:
    """Bids the minimum, bids too much, withdraws (`odd`: asks a question) and raises an error, in turn."""

    def __init__(self, odd: bool = False) -> None:
        self._turns, self._odd = 0, odd

    def __call__(self, turn: Mapping[str, Any]) -> Any:
        """Answer a turn."""
        self._turns += 1
        match self._turns % 4:
            case 0:
                raise RuntimeError("it broke")
            case 1:
                return {"action": "bid", "amount": turn["space"]["minimum"]}
            case 2:
                return {"action": "bid", "amount": turn["space"]["maximum"] + 1}
            case _:
                return "What was the question?" if self._odd else {"action": "withdraw"}


SAID = ("1200", "I bid $1,350.", "I'd rather not", "a lot", "withdraw", "I bid 2000 dollars", "I withdraw.")


def reader() -> Any:
    """Make a person who reads answers from a list."""
    from harbor import Person

    class Reader(Person):
        """Repeats the answers of the list."""

        lines = cycle(SAID)

        async def act(self, ask: Any, seen: Any) -> str | None:
            """Return the next answer, or None for a pause."""
            return next(self.lines) if hasattr(ask, "space") else None

    return Reader()
