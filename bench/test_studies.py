"""What profiling, strategy, theory of mind and memory do for the built-in model, with intervals: `make studies`.

All results are simulated. The unit is the sale; arms of a comparison share items, seats and seeds.
"""

from __future__ import annotations

from importlib.resources import files
from statistics import fmean, stdev

import pytest

from harbor import Auction
from harbor._config.auction import Bidder, Houses, Item, MindSettings, Series, read_settings
from harbor._core.events import BidderLabelled
from harbor._core.log import of_type
from harbor._core.log_lines import Entry
from harbor._core.seeding import stream
from harbor._runs.series import run_series
from harbor.evaluation._analysis.profiler import train
from harbor.evaluation._metrics.profiling import divergence, profiling_errors
from harbor.personas._catalog import traits
from harbor.personas._catalog.homes import HOMES, houses, personas

IDS = tuple(personas())
TEXTS = {persona.id: persona.text for persona in personas().values()}
SALES, PAIRS = 30, 100
NORMAL = 1.96


def interval(values: list[float]) -> str:
    """The mean with its 95 % interval (normal approximation)."""
    return f"{fmean(values):.3f} ± {NORMAL * stdev(values) / len(values) ** 0.5:.3f} (n = {len(values)})"


def profiled_sale(seed: int, matched: int, mixed: bool) -> tuple[Entry, ...]:
    """Two rivals with this many matched houses each, observed by a bidder without a persona."""
    first, second, third, fourth = (IDS[(3 * seed + step) % len(IDS)] for step in (0, 3, 5, 8))
    mixes = [(first, second), (third, fourth)] if mixed else [(first,), (third,)]
    wanted = {
        persona: matched // len(mix) + (place < matched % len(mix))
        for mix in mixes
        for place, persona in enumerate(mix)
    }
    rivals = [Bidder(f"Rival {number}", persona=list(mix)) for number, mix in enumerate(mixes, start=1)]
    items = houses(10, seed, wanted)
    return Auction(seed=seed, items=items, bidders=[Bidder("Master", theory_of_mind="inferred"), *rivals]).run().log


@pytest.mark.parametrize("mixed", [False, True], ids=["single", "mixed"])
@pytest.mark.parametrize("matched", range(5))
def test_divergence_of_profiles(benchmark, figure, matched, mixed):
    logs = benchmark.pedantic(lambda: [profiled_sale(seed, matched, mixed) for seed in range(SALES)], rounds=1)
    curves = []
    for log in logs:
        errors = profiling_errors(log)
        items = list(dict.fromkeys(error.item for error in errors))
        curves.append([fmean(error.divergence for error in errors if error.item == item) for item in items])
    rounds = " ".join(f"{fmean(column):.2f}" for column in zip(*curves, strict=True))
    kind = "mixed" if mixed else "single"
    figure(
        f"KL of profiles, {kind}, {matched} matched, nats",
        "1.61 uniform" if mixed else "2.30 uniform",
        f"{interval([curve[-1] for curve in curves])}; by item: {rounds}",
    )


def test_statistical_profiler_beside_the_models(benchmark, figure):
    """Trained on five personas and their houses, judged on the other five and theirs."""

    def sale(seed: int, pool: tuple[str, ...]) -> tuple[Entry, ...]:
        rivals = [Bidder(f"Rival {step}", persona=pool[(seed + step) % len(pool)]) for step in (0, 2)]
        suited = [item for item in HOMES.items.values() if item.persona in pool]
        items = stream(seed, "study").sample([Item.model_validate(house) for house in suited], 10)
        bidders = [Bidder("Master", theory_of_mind="inferred"), *rivals]
        return Auction(seed=seed, items=items, bidders=bidders).run().log

    known, held_out = IDS[:5], IDS[5:]
    profiler = train([sale(seed, known) for seed in range(SALES)], {persona: TEXTS[persona] for persona in known})
    logs = benchmark.pedantic(lambda: [sale(1000 + seed, held_out) for seed in range(SALES)], rounds=1)
    statistical, models = [], []
    for log in logs:
        labels = [label for label in of_type(log, BidderLabelled) if label.personas]
        statistical.append(
            fmean(
                divergence(
                    traits.truth(label.personas, TEXTS), traits.profile(profiler.profile(log, label.bidder, TEXTS))
                )
                for label in labels
            )
        )
        errors = profiling_errors(log)
        models.append(fmean(error.divergence for error in errors if error.item == errors[-1].item))
    figure("KL, statistical profiler (held-out personas and houses)", "", interval(statistical))
    figure("KL, built-in model on the same sales", "", interval(models))


def test_profit_of_theory_of_mind(benchmark, figure):
    """Each setting against neither profiling nor strategy, on the same sales."""
    settings = {
        "neither": MindSettings(),
        "(b) true personas": MindSettings(theory_of_mind="true"),
        "strategy alone": MindSettings(strategy="on"),
        "(c) inferred + strategy": MindSettings(theory_of_mind="inferred", strategy="on"),
        "(d) true + strategy": MindSettings(theory_of_mind="true", strategy="on"),
        "second + strategy": MindSettings(theory_of_mind="second", strategy="on"),
    }

    def ratio(seed: int, switches: MindSettings) -> float:
        own, *others = (IDS[(seed + step) % len(IDS)] for step in (0, 3, 6))
        master = Bidder("Master", persona=own, **switches.model_dump())
        rivals = [Bidder(f"Rival {number}", persona=persona) for number, persona in enumerate(others, start=1)]
        result = Auction(seed=seed, items=Houses(count=10, matched=2), bidders=[master, *rivals]).run()
        return next(row.profit_ratio or 0.0 for row in result.standings if row.bidder == "Master")

    ratios = benchmark.pedantic(
        lambda: {name: [ratio(seed, switches) for seed in range(PAIRS)] for name, switches in settings.items()},
        rounds=1,
    )
    for name, values in ratios.items():
        differences = [value - base for value, base in zip(values, ratios["neither"], strict=True)]
        gain = "" if name == "neither" else f"; gain {interval(differences)}"
        figure(f"profit ratio, {name}", "", f"{interval(values)}{gain}")


MEMORIES = ("list", "retrieved", "episodes", "full")
SERIES, AUCTIONS = 20, 5


def test_profit_of_memory(benchmark, figure):
    """One learner among two plain rivals: its profit in all auctions but the first, against having no memory.

    Each arm holds the same series: same items, seats and seeds. An arm learns where learnings are what it recalls.
    """
    items = read_settings(files("harbor._config.presets") / "standard.toml", Auction).items

    def profits(seed: int, memory: str) -> list[float]:
        learner = Bidder("Learner", budget=20_000, memory=memory, learning=memory not in ("none", "episodes"))
        rivals = [Bidder(f"Rival {number}", budget=20_000) for number in (1, 2)]
        config = Auction(seed=seed, items=items, bidders=[learner, *rivals], series=Series(auctions=AUCTIONS))
        rows = [next(row for row in held.standings if row.bidder == "Learner") for held in run_series(config).auctions]
        return [float(row.profit) for row in rows]

    arms = benchmark.pedantic(
        lambda: {memory: [profits(seed, memory) for seed in range(SERIES)] for memory in ("none", *MEMORIES)}, rounds=1
    )
    for memory, series in arms.items():
        later = [fmean(one[1:]) for one in series]
        gains = [mine - base for mine, base in zip(later, (fmean(one[1:]) for one in arms["none"]), strict=True)]
        gain = "" if memory == "none" else f"; gain {interval(gains)}"
        curve = " ".join(f"{fmean(column):,.0f}" for column in zip(*series, strict=True))
        figure(f"dollars an auction, memory {memory}", "", f"{interval(later)}{gain}; by auction: {curve}")
