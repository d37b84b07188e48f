"""What models cost, from a table that ships with a package."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime
from importlib.metadata import version

import pytest

from harbor._config.auction import AuctionConfig, ModelSettings
from harbor._core.errors import ConfigError
from harbor._models.prices import price_of, price_table
from harbor.evaluation._experiments.choices import with_prices
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import trials


def config(model: str, **models: ModelSettings) -> Experiment:
    bidders = [{"name": "Ann", "model": model}, {"name": "Rob", "rule": "minimum-raise"}]
    own = {name: settings.model_dump(exclude_unset=True) for name, settings in models.items()}
    return Experiment(
        name="dear",
        title="Dear",
        question="How much?",
        source="none",
        repeats=1,
        auction={"bidders": bidders, "models": own},
        arms=[{"name": "one"}],
        metrics=["profit"],
    )


def priced(experiment: Experiment) -> AuctionConfig:
    """The settings of a game of an experiment that has the prices of today."""
    return trials(with_prices(experiment))[0].config


@pytest.mark.parametrize(("model", "prices"), [("openai:gpt-4o-mini", (0.15, 0.6)), ("openai:gpt-4", (30, 60))])
def test_a_listed_model_has_its_price_per_million_tokens(model, prices):
    price = price_of(model)
    assert price is not None
    assert (price.input_price, price.output_price) == pytest.approx(prices)
    assert price.source == model.replace(":", " ")


def test_a_model_with_a_dearer_price_for_long_prompts_has_that_of_short_ones():
    price = price_of("anthropic:claude-sonnet-4-5")
    assert price is not None
    assert (price.input_price, price.output_price) == pytest.approx((3, 15))


@pytest.mark.parametrize("model", ["openai:gpt-nobody-knows", "nobody:gpt-4", "openai:", "given", ""])
def test_a_model_that_the_table_lacks_has_no_price(model):
    assert price_of(model) is None


@pytest.mark.parametrize("model", ["simulated", "ollama:llama3"])
def test_what_runs_here_costs_nothing_and_says_why(model):
    price = price_of(model)
    assert price is not None
    assert (price.input_price, price.output_price) == (0, 0)
    assert price.source


def test_the_table_names_its_version_and_a_day_that_has_come():
    table = price_table()
    assert (table.package, table.version) == ("genai-prices", version("genai-prices"))
    assert date(2025, 1, 1) < date.fromisoformat(table.date) <= datetime.now(UTC).date()


def test_prices_fill_what_the_settings_of_the_models_in_use_lack():
    filled = priced(config("openai:gpt-4o-mini"))
    assert filled.models["openai:gpt-4o-mini"].input_price == pytest.approx(0.15)
    assert filled.models["openai:gpt-4o-mini"].output_price == pytest.approx(0.6)
    assert "openai:gpt-4" not in filled.models, "a rule calls no model"


def test_a_price_of_ones_own_stays():
    mine = ModelSettings(use="openai:gpt-4o-mini", temperature=0.5, input_price=7)
    filled = priced(config("mine", mine=mine)).models["mine"]
    assert filled.input_price == 7
    assert filled.output_price == pytest.approx(0.6)
    assert filled.temperature == 0.5


def test_the_built_in_model_costs_nothing_unless_its_settings_say_so():
    assert priced(config("simulated")).models["simulated"].input_price == 0
    dear = ModelSettings(temperature=0, input_price=3, output_price=4)
    assert priced(config("dear", dear=dear)).models["dear"] == dear


def test_an_unknown_price_stays_unknown_and_an_unknown_model_is_refused():
    assert priced(config("openai:gpt-nobody-knows")).models["openai:gpt-nobody-knows"].input_price is None
    with pytest.raises(ConfigError, match="unknown model 'simulate'; did you mean 'simulated'"):
        priced(config("simulate"))


def test_prices_need_no_network_and_load_only_when_asked_for():
    code = """
import socket, sys
def refuse(*_, **__): raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = refuse
import harbor._models.prices as prices
assert not any(name.startswith("genai_prices") for name in sys.modules)
print(prices.price_of("openai:gpt-4o-mini").input_price, prices.price_table().version)
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.15", version("genai-prices")]
