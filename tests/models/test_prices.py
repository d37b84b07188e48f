"""What models cost, from a table that ships with a package."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime
from importlib.metadata import version

import pytest

from harbor._config.auction import AuctionConfig, Bidder, ModelSettings
from harbor._core.basics.errors import ConfigError
from harbor._models.prices import _IN_THE_TABLE, LOCAL, price_of, price_table, with_price
from harbor._runs.resolve import resolve
from harbor.evaluation._experiments.choices import with_prices
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.design_parts import ModelPrice
from harbor.evaluation._experiments.trials import trials


def config(model: str, **models: ModelSettings) -> Experiment:
    bidders = [{"name": "Ann", "model": model}, {"name": "Rob", "rule": "minimum-raise"}]
    own = {name: settings.model_dump(exclude_unset=True) for name, settings in models.items()}
    about = {"name": "dear", "title": "Dear", "question": "How much?", "source": "none", "metrics": ["profit"]}
    return Experiment(**about, repeats=1, auction={"bidders": bidders, "models": own}, arms=[{"name": "one"}])


def priced(experiment: Experiment) -> AuctionConfig:
    """The settings of a game of an experiment that has the prices of today."""
    return trials(with_prices(experiment))[0].config


@pytest.mark.parametrize(
    ("model", "prices"),
    [
        ("openai:gpt-4o-mini", (0.15, 0.6)), ("openai:gpt-4", (30, 60)), ("ollama:llama3", (0, 0)),
        ("anthropic:claude-sonnet-4-5", (3, 15)),  # which has a dearer one for long prompts
    ],
)  # fmt: skip
def test_a_model_has_its_price_per_million_tokens_of_the_table_of_today(model, prices):
    price = price_of(ModelSettings(use=model))
    assert (price.input_price, price.output_price) == pytest.approx(prices)
    table = price_table()
    assert (table.package, table.version) == ("genai-prices", version("genai-prices"))
    assert date(2025, 1, 1) < date.fromisoformat(table.date) <= datetime.now(UTC).date()


@pytest.mark.parametrize(
    ("model", "url"),
    [
        *((one, None) for one in ("openai:gpt-nobody-knows", "nobody:gpt-4", "openai:", "given", "", "litellm:gpt-4o")),
        ("perplexity:sonar", None),  # where requests cost, too
        ("openai:gpt-4o", "http://localhost:8000/v1"), ("ollama:llama3", "https://ollama.example.com"),
    ],
)  # fmt: skip
def test_no_price_is_guessed_of_a_model_that_the_table_lacks_or_at_an_address_that_nobody_knows(model, url):
    assert price_of(ModelSettings(use=model, base_url=url)) is None


def test_prices_fill_what_the_settings_of_the_models_in_use_lack_and_one_of_ones_own_stays():
    def found(model, **models):
        return priced(config(model, **models)).models[model]

    filled = found("openai:gpt-4o-mini")
    assert (filled.input_price, filled.output_price) == pytest.approx((0.15, 0.6))
    assert "openai:gpt-4" not in priced(config("openai:gpt-4o-mini")).models, "a rule calls no model"
    mine = found("mine", mine=ModelSettings(use="openai:gpt-4o-mini", temperature=0.5, input_price=7))
    assert (mine.input_price, mine.output_price, mine.temperature) == (7, pytest.approx(0.6), 0.5)
    assert found("simulated").input_price == 0
    dear = found("dear", dear=ModelSettings(temperature=0, input_price=3, output_price=4))
    assert (dear.input_price, dear.cached_price, dear.output_price) == (3, None, 4)
    assert found("openai:gpt-nobody-knows").input_price is None
    with pytest.raises(ConfigError, match="unknown model 'simulate'; did you mean 'simulated'"):
        found("simulate")


def test_prices_need_no_network_and_load_only_when_asked_for():
    code = """
import socket, sys
def refuse(*_, **__): raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = refuse
import harbor._models.prices as prices
assert not any(name.startswith("genai_prices") for name in sys.modules)
from harbor import ModelSettings
print(prices.price_of(ModelSettings(use="openai:gpt-4o-mini")).input_price, prices.price_table().version)
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.15", version("genai-prices")]


OWN, OPENROUTER = "openai:gpt-4o-mini", "https://openrouter.ai/api/v1"


@pytest.mark.parametrize(
    ("model", "url", "listed"),
    [
        ("google_anthropic_vertex:claude-sonnet-4-5", None, "google claude-sonnet-4-5"),
        ("mistralai:mistral-large-latest", None, "mistral mistral-large"), ("xai:grok-4", None, "x-ai grok-4-0709"),
        ("bedrock_converse:amazon.nova-lite-v1:0", None, "aws amazon.nova-lite-v1:0"),
        ("google_genai:gemini-2.5-flash", None, "google gemini-2.5-flash"),
        ("azure_openai:gpt-4o", None, "azure gpt-4o"),
        ("openai:openai/gpt-4o-mini", OPENROUTER, "openrouter openai/gpt-4o-mini"),
        (OWN, "https://api.openai.com/v1", "openai gpt-4o-mini"),
        *(("ollama:llama3", f"http://{host}:11434", LOCAL.source) for host in ("localhost", "127.0.0.1", "[::1]")),
    ],
)  # fmt: skip
def test_a_provider_is_found_in_the_table_by_whatever_name_langchain_has_for_it_or_by_its_address(model, url, listed):
    price = price_of(ModelSettings(use=model, base_url=url))
    assert price.source == listed
    assert 0 <= price.cached_price <= price.input_price


def test_every_provider_that_the_table_calls_otherwise_is_one_that_langchain_knows_and_the_table_has():
    from genai_prices.data import providers
    from langchain.chat_models.base import _BUILTIN_PROVIDERS

    assert set(_IN_THE_TABLE) <= set(_BUILTIN_PROVIDERS)
    assert set(_IN_THE_TABLE.values()) <= {one.id for one in providers}


def test_an_input_price_of_ones_own_goes_with_no_cached_price_of_the_table_also_in_a_design_from_before_these():
    own = with_price(ModelSettings(use=OWN, input_price=7))
    assert (own.input_price, own.cached_price, own.output_price) == (7, None, pytest.approx(0.6))
    assert with_price(ModelSettings(use=OWN)).cached_price == pytest.approx(0.075)
    old = config(OWN).model_copy(update={"prices": {OWN: ModelPrice(input_price=1, output_price=2)}})
    mine = with_price(priced(old).models[OWN])
    assert (mine.input_price, mine.cached_price, mine.output_price) == (1, None, 2)


def test_an_experiment_keeps_the_price_of_one_model_at_two_addresses_apart():
    use = "openai:openai/gpt-4o-mini"
    experiment = with_prices(config("there", there=ModelSettings(use=use, base_url=OPENROUTER)))
    assert {*experiment.prices} == {f"{use} at {OPENROUTER}"}
    assert trials(experiment)[0].config.models["there"].output_price == pytest.approx(0.6)
    assert {*with_prices(config(OWN)).prices} == {OWN}


def test_a_single_auction_has_the_prices_of_the_table():
    resolved = resolve(AuctionConfig(bidders=[Bidder("Ann", model=OWN), Bidder("Rob", rule="minimum-raise")]))
    assert resolved.models[OWN].output_price == pytest.approx(0.6)
    assert OWN not in resolved.config.models, "the files of a run keep what the user wrote"
