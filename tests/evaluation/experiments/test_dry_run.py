"""What an experiment will take, counted by a dry run, against what it takes in earnest."""

from __future__ import annotations

import json
import socket

import pytest

from harbor import Auction
from harbor._core.basics.errors import ConfigError
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
    values = {
        "name": "small",
        "title": "Small",
        "question": "What does it cost?",
        "source": "none",
        "repeats": 2,
        "metrics": ["profit"],
        "auction": {"items": ITEMS, "bidders": PAIR},
        "arms": [
            {"name": "plain", "auction": {"bidders": {"*": {"planning": "none"}}}},
            {"name": "planned", "repeats": 3},
        ],
        "models": (*models, *["simulated"] * (2 - len(models))),
    }
    return Experiment.model_validate(values | changes)


async def held(experiment: Experiment):
    return [await run_trial(game, ()) for game in trials(experiment)]


async def test_where_every_game_is_played_the_estimate_is_what_the_experiment_takes():
    experiment = chosen(design(), repeats=1)
    records = await held(experiment)
    found = await dry_run(experiment)
    assert found.games == found.played == len(records) == 2
    assert found.usage.calls == sum(record.calls for record in records) > 0
    assert found.usage.input_tokens == sum(record.input_tokens for record in records)
    assert found.usage.output_tokens == sum(record.output_tokens for record in records)


async def test_a_game_that_is_played_stands_for_all_of_its_arm_and_condition():
    conditions = [{"name": "one"}, {"name": "two", "auction": {"items": ITEMS[:1]}}]
    experiment = design(conditions=conditions)
    records = {(record.arm, record.condition): record for record in await held(experiment) if record.repeat == 1}
    found = await dry_run(experiment)
    assert (found.games, found.played) == (10, 4)
    assert found.usage.calls == sum(
        record.calls * {"plain": 2, "planned": 3}[arm] for (arm, _), record in records.items()
    )
    planned = found.arms[1]
    assert planned.games == 6
    assert [usage.calls for usage in planned.played] == [
        records["planned", "one"].calls,
        records["planned", "two"].calls,
    ]
    assert planned.usage.input_tokens == 3 * sum(usage.input_tokens for usage in planned.played)


async def test_repeats_scale_the_estimate():
    once, often = await dry_run(chosen(design(), repeats=1)), await dry_run(chosen(design(), repeats=100))
    assert (once.games, often.games) == (2, 200)
    assert often.usage.output_tokens == 100 * once.usage.output_tokens
    assert often.usage.chain == once.usage.chain


async def test_what_a_seat_is_asked_counts_for_the_model_that_would_play_it():
    models = ("openai:gpt-4o-mini", "anthropic:claude-3-5-haiku-latest")
    found = await dry_run(design(models, repeats=1, arms=[{"name": "planned"}]))
    [game] = trials(design(repeats=1, arms=[{"name": "planned"}]))
    log = (await Auction.model_validate(game.config.model_dump()).arun()).log
    for bidder, model in zip(("Ann", "Ben"), models, strict=True):
        made = [call for call in of_type(log, ModelCalled) if call.bidder == bidder]
        [use] = [use for use in found.usage.models if use.model == model]
        assert use.calls == len(made) > 0
        assert use.input_tokens == sum(call.input_tokens for call in made)
        assert use.output_tokens == sum(call.output_tokens for call in made)
        assert use.cost == pytest.approx(
            (use.input_tokens * use.input_price + use.output_tokens * use.output_price) / 1_000_000
        )
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


async def test_a_series_counts_all_its_auctions():
    arms = [{"name": "one"}]
    auction = {"items": ITEMS, "bidders": PAIR}
    alone = await dry_run(design(auction=auction, arms=arms, repeats=1))
    series = await dry_run(design(auction=auction | {"series": {"auctions": 3}}, arms=arms, repeats=1))
    assert series.usage.calls > 2 * alone.usage.calls
    assert series.usage.chain > 2 * alone.usage.chain


async def test_a_price_of_ones_own_counts_and_an_unknown_one_leaves_the_cost_unknown():
    mine = {"use": "openai:house-model", "input_price": 10, "output_price": 20}
    auction = {"items": ITEMS, "bidders": [PAIR[0] | {"model": "mine"}, PAIR[1]], "models": {"mine": mine}}
    found = await dry_run(design(("simulated", "openai:nobody-knows"), auction=auction, arms=[{"name": "one"}]))
    costs = {use.model: use.cost for use in found.usage.models}
    assert costs["mine"] > 0
    assert costs["openai:nobody-knows"] is None
    assert found.usage.cost is None
    assert found.usage.calls > 0


async def test_a_model_that_nobody_provides_is_refused():
    with pytest.raises(ConfigError, match="unknown model 'gpt-4o'; choose one of: PROVIDER:MODEL"):
        await dry_run(design(("gpt-4o",)))


# ---------------------------------------------------------------- the command


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("estimate") / "small.json"
    path.write_text(design().model_dump_json())
    return str(path)


def test_the_command_gives_one_object_with_models_prices_and_arms(small):
    model = ("--model", "openai:gpt-4o-mini")
    done = harbor("estimate", small, *model, *model, "--repeats", "4", "--arm", "planned", "--json")
    found = json.loads(done.stdout)
    assert (found["experiment"], found["games"], found["simulated"]) == ("small", 4, True)
    [model] = found["models"]
    assert (model["model"], model["input_price"], model["output_price"]) == ("openai:gpt-4o-mini", 0.15, 0.6)
    assert model["calls"] == found["calls"] > 0
    assert found["cost_dollars"] == pytest.approx(
        (model["input_tokens"] * 0.15 + model["output_tokens"] * 0.6) / 1e6, abs=1e-6
    )
    assert found["prices"].keys() == {"package", "version", "date"}
    assert [arm["arm"] for arm in found["arms"]] == ["planned"]


def test_the_command_says_where_prices_come_from_and_that_the_bidders_are_simulated(small):
    done = harbor("estimate", small, "--model", "openai:gpt-nobody-knows")
    words = " ".join(done.stdout.split())
    assert "unknown" in words
    assert "2 of 5 games were played, on the built-in model (simulated bidders)" in words
    assert "Prices are those of genai-prices" in words
    assert "four characters each" in words
    assert "no price of model 'openai:gpt-nobody-knows' is known" in done.stderr
    assert "input_price" in done.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("smal",), "unknown experiment 'smal'"),
        (("tom", "--arm", "nine"), "unknown arm 'nine'"),
        (("tom", "--repeats", "0"), "'--repeats'"),
        (("tom", "--model", "a:b", "--model", "simulated"), "model 'simulated' is one too many"),
    ],
)
def test_a_mistake_is_one_line(words, complaint):
    assert complaint in mistake(harbor("estimate", *words))


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


def estimated(*words, cwd):
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
    assert series["calls"] > alone["calls"]
    fewer = estimated("sale.toml", "--items", 1, "--model", "openai:gpt-4o", cwd=sale)
    assert fewer["calls"] < alone["calls"]
    assert [use["model"] for use in fewer["models"]] == ["openai:gpt-4o"]


def test_a_name_that_an_experiment_and_a_preset_have_is_the_experiment_unless_the_preset_is_asked_for(tmp_path):
    assert "experiment" in estimated("second-price", "--repeats", 1, cwd=tmp_path)
    assert estimated("--preset", "second-price", cwd=tmp_path)["auction"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "nothing is named to be estimated"),
        (("sale.toml", "--repeats", "2"), "'sale.toml' is an auction; drop --repeats"),
        (("sale.toml", "--arm", "x"), "is an auction; drop"),
        (("sale.toml", "--model", "a:b", "--model", "c:d"), "is an auction; drop"),
        (("sale.toml", "--items", "0"), "count"),
        (("tom", "--items", "2"), "--items 2 is for an auction, and 'tom' is an experiment"),
        (("sale.toml", "--preset", "demo"), "are both given"),
    ],
)
def test_an_option_that_does_not_belong_is_refused(words, complaint, sale):
    assert complaint in mistake(harbor("estimate", *words, cwd=sale))


def test_the_table_of_an_auction_says_where_its_numbers_come_from(sale):
    words = " ".join(harbor("estimate", "sale.toml", cwd=sale).stdout.split())
    assert "of its calls are in sequence: they wait for one another." in words
    assert "Prices are those of genai-prices" in words
