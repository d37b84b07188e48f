"""What an experiment will take, counted by a dry run, against what it takes in earnest."""

from __future__ import annotations

import json
import socket

import pytest

from harbor import Auction
from harbor._core.log.events import ModelCalled
from harbor._core.log.log import of_type
from harbor.evaluation._experiments.choices import chosen
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trial_runs import dry_run, run_trial
from harbor.evaluation._experiments.trials import trials
from harbor.evaluation._metrics.calls import calls
from support.commands import harbor, mistake

ITEMS = [{"name": name, "start": 1000, "true_value": 2000} for name in ("Vase", "Clock")]
PAIR = [{"name": "Ann", "model": "@1", "budget": 4000}, {"name": "Ben", "model": "@2", "budget": 3000}]


def design(models: tuple[str, ...] = (), **changes) -> Experiment:
    """Two small arms, of which one plans and has more games; the built-in model plays where no other is given."""
    values = {"name": "small", "title": "Small", "question": "?", "source": "none", "metrics": ["profit"], "repeats": 2}
    plain = {"name": "plain", "auction": {"bidders": {"*": {"planning": "none"}}}}
    values |= {"auction": {"items": ITEMS, "bidders": PAIR}, "arms": [plain, {"name": "planned", "repeats": 3}]}
    return Experiment.model_validate(values | {"models": (*models, *["simulated"] * (2 - len(models)))} | changes)


async def test_a_game_that_is_played_stands_for_all_of_its_arm_and_condition():
    conditions = [{"name": "one"}, {"name": "two", "auction": {"items": ITEMS[:1]}}]
    experiment = design(conditions=conditions)
    found = await dry_run(experiment)
    assert (found.games, found.played) == (10, 4)
    records = [await run_trial(game, ()) for game in trials(experiment, 1)]
    stands_for = {"plain": 2, "planned": 3}
    for part in ("calls", "input_tokens", "output_tokens"):
        held = [getattr(record, part) * stands_for[record.arm] for record in records]
        assert getattr(found.usage, part) == sum(held) > 0
    planned = found.arms[1]
    assert planned.games == 6
    assert [usage.calls for usage in planned.played] == [one.calls for one in records if one.arm == "planned"]
    assert planned.usage.input_tokens == 3 * sum(usage.input_tokens for usage in planned.played)
    plain, more = (sum(usage.chain for usage in arm.played) for arm in found.arms)
    assert found.usage.chain == pytest.approx((2 * plain + 3 * more) / 10)
    often = await dry_run(chosen(experiment, repeats=100))
    assert (often.games, often.usage.chain) == (400, pytest.approx((plain + more) / 4))


async def test_what_a_seat_is_asked_counts_for_the_model_that_would_play_it():
    models, arms = ("openai:gpt-4o-mini", "anthropic:claude-3-5-haiku-latest"), [{"name": "planned"}]
    found = await dry_run(design(models, repeats=1, arms=arms))
    [game] = trials(design(repeats=1, arms=arms))
    log = (await Auction.model_validate(game.config.model_dump()).arun()).log
    for bidder, model in zip(("Ann", "Ben"), models, strict=True):
        made = [call for call in of_type(log, ModelCalled) if call.bidder == bidder]
        [use] = [use for use in found.usage.models if use.model == model]
        assert use.calls == len(made) > 0
        assert use.input_tokens == sum(call.input_tokens for call in made)
        assert use.output_tokens == sum(call.output_tokens for call in made)
        dollars = use.input_tokens * use.input_price + use.output_tokens * use.output_price
        assert use.cost == pytest.approx(dollars / 1_000_000)
    assert found.usage.chain == calls(log).chain
    assert found.usage.cost == pytest.approx(sum(use.cost for use in found.usage.models))


async def test_no_model_is_called_and_no_store_of_memories_is_touched(monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    store = tmp_path / "memories"
    auction = {"items": ITEMS, "bidders": [PAIR[0] | {"memory": "list", "learning": True}], "series": {"auctions": 2}}
    auction["memory"] = {"store": str(store)}
    found = await dry_run(design(("openai:gpt-4o",), auction=auction, arms=[{"name": "one"}]))
    assert found.usage.calls > 0
    assert not store.exists()


async def test_a_price_of_ones_own_counts_and_an_unknown_one_leaves_the_cost_unknown():
    mine = {"use": "openai:house-model", "input_price": 10, "output_price": 20}
    auction = {"items": ITEMS, "bidders": [PAIR[0] | {"model": "mine"}, PAIR[1]], "models": {"mine": mine}}
    found = await dry_run(design(("simulated", "openai:nobody-knows"), auction=auction, arms=[{"name": "one"}]))
    costs = {use.model: use.cost for use in found.usage.models}
    assert costs["mine"] > 0
    assert costs["openai:nobody-knows"] is None
    assert found.usage.cost is None
    assert found.usage.calls > 0


# ---------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("estimate") / "small.json"
    path.write_text(design().model_dump_json())
    return str(path)


def test_the_command_gives_one_object_with_models_prices_and_arms_or_a_table_that_says_what_it_rests_on(small):
    model = ("--model", "openai:gpt-4o-mini")
    found = estimated(small, *model, *model, "--repeats", "4", "--arm", "planned")
    assert (found["experiment"], found["games"], found["simulated"]) == ("small", 4, True)
    [model] = found["models"]
    assert (model["model"], model["input_price"], model["output_price"]) == ("openai:gpt-4o-mini", 0.15, 0.6)
    assert model["calls"] == found["calls"] > 0
    dollars = (model["input_tokens"] * 0.15 + model["output_tokens"] * 0.6) / 1e6
    assert found["cost_dollars"] == pytest.approx(dollars, abs=1e-6)
    assert found["prices"].keys() == {"package", "version", "date"}
    assert [arm["arm"] for arm in found["arms"]] == ["planned"]
    done = harbor("estimate", small, "--model", "openai:gpt-nobody-knows")
    assert "2 of 5 games were played, on the built-in model (simulated bidders)" in " ".join(done.stdout.split())
    assert "no price of model 'openai:gpt-nobody-knows' is known" in done.stderr


@pytest.mark.parametrize(("words", "complaint"), [
    ("smal", "unknown experiment 'smal'"), ("tom --arm nine", "unknown arm 'nine'"),
    ("tom --repeats 0", "'--repeats'"), ("tom --model a:b --model simulated", "model 'simulated' is one too many"),
    ("tom --items 2", "--items 2 is for an auction, and 'tom' is an experiment"),
    ("", "nothing is named to be estimated"), ("sale.toml --items 0", "count"),
    ("sale.toml --repeats 2", "'sale.toml' is an auction; drop --repeats"),
    ("sale.toml --arm x", "is an auction; drop"), ("sale.toml --model a:b --model c:d", "is an auction; drop"),
    ("sale.toml --preset demo", "are both given"),
])  # fmt: skip
def test_a_mistake_is_one_line(words, complaint, sale):
    assert complaint in mistake(harbor("estimate", *words.split(), cwd=sale))


# ---------------------------------------------------------------- auctions and series

SALE = """
seed = 5
items = {count = 2}
[[bidders]]
name = "Ann"
[[bidders]]
name = "Ben"
model = "openai:gpt-4o-mini"
"""


@pytest.fixture
def sale(tmp_path):
    (tmp_path / "sale.toml").write_text(SALE)
    (tmp_path / "series.toml").write_text(SALE + "[series]\nauctions = 2\n")
    return tmp_path


def estimated(*words, cwd="."):
    done = harbor("estimate", *words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_auction_takes_what_the_built_in_model_takes_in_its_place_at_the_price_of_each_model(sale):
    found = estimated("sale.toml", cwd=sale)
    assert list(found)[:3] == ["auction", "auctions", "calls"]
    assert {use["model"]: use["input_price"] for use in found["models"]} == {"simulated": 0, "openai:gpt-4o-mini": 0.15}
    held = json.loads(harbor("auction", "sale.toml", "--model", "simulated", "--json", cwd=sale).stdout)["calls"]
    hosted = next(use for use in found["models"] if use["model"] != "simulated")
    assert 0 < hosted["calls"] < found["calls"]
    assert found["calls"] == pytest.approx(held["total"]["count"], rel=0.5)
    assert found["cost_dollars"] == hosted["cost_dollars"] > 0


def test_a_series_takes_what_its_auctions_take_and_options_count(sale):
    series, alone = (estimated(f"{name}.toml", cwd=sale) for name in ("series", "sale"))
    assert (series["auctions"], alone["auctions"]) == (2, 1)
    assert series["calls"] > 1.5 * alone["calls"]
    fewer = estimated("sale.toml", "--items", 1, "--model", "openai:gpt-4o", cwd=sale)
    assert fewer["calls"] < alone["calls"]
    assert [use["model"] for use in fewer["models"]] == ["openai:gpt-4o"]


def test_a_name_that_an_experiment_and_a_preset_have_is_the_experiment_unless_the_preset_is_asked_for(tmp_path):
    assert "experiment" in estimated("second-price", "--arm", "self-play", cwd=tmp_path)
    assert estimated("--preset", "second-price", cwd=tmp_path)["auction"]
