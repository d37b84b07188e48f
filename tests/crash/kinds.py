"""The kinds of games that the lab stops: small, on the built-in model, with all files that a kind writes to disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crash import agents

PATIENCE = 1.5
"""Seconds per turn for hasty bidders."""
SERVER = "http://agents.invalid/"
"""Placeholder in settings for the address of the agents' server."""

LOTS = """
items = [{name = "Lot A", start = 1000, true_value = 2000}, {name = "Lot B", start = 1000, true_value = 2000}]
"""
PAID = """
models.simulated.input_price = 10.0
models.simulated.output_price = 30.0
"""
ENGLISH = """
name = "english"
seed = 11
items = {count = 2}
bidders = [{name = "Ann", persona = "downsizing", theory_of_mind = "inferred"}, {name = "Ben"},
           {name = "Cho", rule = "minimum-raise"}]
models.simulated.simulated = {unreadable_rate = 0.1, low_bid_rate = 0.1}
"""
WATER = f"""
name = "water"
seed = 3
rules = {{game = "water", supply = "low", days = 5}}
bidders = [{{name = "Alex"}}, {{name = "Bob"}}, {{name = "Cindy"}}, {{name = "David"}}, {{name = "Eric"}}]
{PAID}
"""
SECOND_PRICE = f"""
name = "second-price"
seed = 5
rules = {{game = "second-price", runs = 4, group = "L", show = "actions", history = 3}}
bidders = [{{name = "Bidder 1"}}, {{name = "Bidder 2"}}, {{name = "Bidder 3", rule = "rational"}}]
{PAID}
"""
SERIES = f"""
name = "series"
seed = 5
series = {{auctions = 2}}
bidders = [{{name = "Ann", budget = 4000, memory = "full", learning = true}},
           {{name = "Ben", budget = 4000, memory = "episodes", learning = true}},
           {{name = "Cho", budget = 4000, rule = "minimum-raise"}}]
{LOTS}
{PAID}
"""
EXPERIMENT = f"""
name = "experiment"
title = "An experiment that is stopped"
question = "Is anything lost?"
source = "nobody"
repeats = 2
seed = 5
metrics = ["profit", "profit_ratio"]
arms = [{{name = "adaptive"}}, {{name = "none", auction.bidders.Ann.planning = "none"}}]
[auction]
bidders = [{{name = "Ann", model = "@1", budget = 4000}}, {{name = "Ben", rule = "minimum-raise", budget = 4000}}]
models.simulated.simulated = {{low_bid_rate = 0.1}}
{LOTS}
{PAID}
"""
_PLAYERS = {
    "Ann": "", "Ben": 'agent = "crash.agents:function"', "Cho": f"agent = {{ command = {agents.PROGRAM} }}",
    "Dot": f'agent = {{ url = "{SERVER}" }}', "Eve": 'rule = "minimum-raise"',
}  # fmt: skip
_SEATS = [
    f'[[bidders]]\nname = "{name}"\nbudget = 4000\ntimeout_seconds = {PATIENCE}\n{player}\n'
    for name, player in _PLAYERS.items()
]
HASTY = f"""
name = "hasty"
seed = 5
models.simulated.simulated = {{latency_seconds = 0.1}}
{LOTS}
{"".join(_SEATS)}
"""
CONFIG, OUT = "config.toml", "disk/run"


@dataclass(frozen=True)
class Kind:
    """A kind of game: its settings, and the words that begin and resume it.

    `workers` is True if it has worker processes. `hasty` is True if its bidders' time limit is shorter than a stop, and
    their agents go on meanwhile. `remembers` is True if it leaves memories. `free` is True if its calls cost nothing,
    so that calls lost in a power cut may be made again.
    """

    name: str
    settings: str
    begin: tuple[str, ...] = ("auction",)
    resume: tuple[str, ...] = ("resume",)
    options: tuple[str, ...] = ()
    workers: bool = False
    remembers: bool = False
    free: bool = False
    hasty: bool = False

    @property
    def first(self) -> tuple[str, ...]:
        """The command's words that begin the run."""
        return (*self.begin, CONFIG, "--out", OUT, "--json", *self.options)

    @property
    def again(self) -> tuple[str, ...]:
        """The command's words that resume the run."""
        return (*self.resume, OUT, "--json", *self.options)


def _experiment(executor: str, *options: str) -> Kind:
    words = ("--executor", executor, *options)
    name = "experiment" if executor == "asyncio" else f"experiment-{executor}"
    begin, resume = ("experiment", "run"), ("experiment", "resume")
    return Kind(name, EXPERIMENT, begin, resume, words, workers=executor == "processes")


KINDS = {
    kind.name: kind
    for kind in (
        Kind("english", ENGLISH + PAID),
        Kind("english-free", ENGLISH, free=True),
        Kind("water", WATER),
        Kind("second-price", SECOND_PRICE),
        Kind("series", SERIES, remembers=True),
        Kind("hasty", HASTY, free=True, hasty=True),
        _experiment("asyncio"),
        _experiment("processes", "--jobs", "2"),
        _experiment("ray", "--jobs", "2"),
    )
}
ON_REQUEST = {"experiment-ray"}
"""Kinds that run only if they are named, because a cluster takes ten seconds to begin."""


def chosen(names: Iterable[str]) -> list[Kind]:
    """Return the kinds with these names. Without names, return all but those on request."""
    return [KINDS[name] for name in names] or [kind for name, kind in KINDS.items() if name not in ON_REQUEST]
