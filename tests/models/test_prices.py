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
        ("openai:gpt-4o-mini", (0.15, 0.6)), ("openai:gpt-4", (30, 60)),
        ("anthropic:claude-sonnet-4-5", (3, 15)),  # which has a dearer one for long prompts
    ],
)  # fmt: skip
def test_a_listed_model_has_its_price_per_million_tokens(model, prices):
    price = price_of(ModelSettings(use=model))
    assert (price.input_price, price.output_price) == pytest.approx(prices)
    assert price.source == model.replace(":", " ")


NOBODYS = ["openai:gpt-nobody-knows", "nobody:gpt-4", "openai:", "given", ""]
ALIKE = ["nvidia:gpt-4o", "huggingface:gpt-4o", "litellm:gpt-4o", "my_openai:gpt-4o", "perplexity:sonar"]


@pytest.mark.parametrize(
    ("model", "url"),
    [
        *((model, None) for model in NOBODYS + ALIKE),  # at Perplexity requests cost, too
        ("openai:gpt-4o", "http://localhost:8000/v1"), ("openai:gpt-4o", "https://proxy.example.com/v1"),
        ("anthropic:claude-sonnet-4-5", "https://proxy.example.com"), ("ollama:llama3", "https://ollama.example.com"),
    ],
)  # fmt: skip
def test_no_price_is_guessed_of_a_model_that_the_table_lacks_or_at_an_address_that_nobody_knows(model, url):
    assert price_of(ModelSettings(use=model, base_url=url)) is None


@pytest.mark.parametrize("model", ["simulated", "ollama:llama3"])
def test_what_runs_here_costs_nothing_and_says_why(model):
    price = price_of(ModelSettings(use=model))
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
    assert (filled.input_price, filled.output_price, filled.temperature) == (7, pytest.approx(0.6), 0.5)


def test_the_built_in_model_costs_nothing_unless_its_settings_say_so():
    assert priced(config("simulated")).models["simulated"].input_price == 0
    dear = ModelSettings(temperature=0, input_price=3, output_price=4)
    found = priced(config("dear", dear=dear)).models["dear"]
    assert (found.input_price, found.cached_price, found.output_price) == (3, None, 4)


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
from harbor import ModelSettings
print(prices.price_of(ModelSettings(use="openai:gpt-4o-mini")).input_price, prices.price_table().version)
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.15", version("genai-prices")]


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        ("google_genai:gemini-2.5-flash", "google gemini-2.5-flash"),
        ("google_vertexai:gemini-2.5-flash", "google gemini-2.5-flash"),
        ("google_anthropic_vertex:claude-sonnet-4-5", "google claude-sonnet-4-5"),
        ("mistralai:mistral-large-latest", "mistral mistral-large"),
        ("azure_openai:gpt-4o", "azure gpt-4o"), ("azure_ai:gpt-4o", "azure gpt-4o"),
        ("bedrock:anthropic.claude-3-5-sonnet-20240620-v1:0", "aws regional.anthropic.claude-3-5-sonnet-20240620-v1:0"),
        ("bedrock_converse:amazon.nova-lite-v1:0", "aws amazon.nova-lite-v1:0"), ("xai:grok-4", "x-ai grok-4-0709"),
        ("openrouter:openai/gpt-4o-mini", "openrouter openai/gpt-4o-mini"),
        ("groq:llama-3.3-70b-versatile", "groq llama-3.3-70b-versatile"),
        ("deepseek:deepseek-chat", "deepseek deepseek-chat"), ("cohere:command-r", "cohere command-r"),
    ],
)  # fmt: skip
def test_a_provider_is_found_in_the_table_by_whatever_name_langchain_has_for_it(model, listed):
    price = price_of(ModelSettings(use=model))
    assert price.source == listed
    assert 0 <= price.cached_price <= price.input_price


def test_every_provider_that_the_table_calls_otherwise_is_one_that_langchain_knows_and_the_table_has():
    from genai_prices.data import providers
    from langchain.chat_models.base import _BUILTIN_PROVIDERS

    assert set(_IN_THE_TABLE) <= set(_BUILTIN_PROVIDERS)
    assert set(_IN_THE_TABLE.values()) <= {one.id for one in providers}


@pytest.mark.parametrize(
    ("model", "url", "source"),
    [
        ("openai:openai/gpt-4o-mini", "https://openrouter.ai/api/v1", "openrouter openai/gpt-4o-mini"),
        ("openai:gpt-4o-mini", "https://api.openai.com/v1", "openai gpt-4o-mini"),
        ("openai:deepseek-chat", "https://api.deepseek.com/v1", "deepseek deepseek-chat"),
        *(("ollama:llama3", f"http://{host}:11434", LOCAL.source) for host in ("localhost", "127.0.0.1", "[::1]")),
    ],
)
def test_a_model_at_an_address_has_the_price_of_whose_address_it_is(model, url, source):
    assert price_of(ModelSettings(use=model, base_url=url)).source == source


def test_an_input_price_of_ones_own_goes_with_no_cached_price_of_the_table():
    own = with_price(ModelSettings(use="openai:gpt-4o-mini", input_price=7))
    assert (own.input_price, own.cached_price, own.output_price) == (7, None, pytest.approx(0.6))
    listed = with_price(ModelSettings(use="openai:gpt-4o-mini"))
    assert listed.cached_price == pytest.approx(0.075)


def test_an_experiment_keeps_the_price_of_one_model_at_two_addresses_apart():
    use, url = "openai:openai/gpt-4o-mini", "https://openrouter.ai/api/v1"
    experiment = with_prices(config("there", there=ModelSettings(use=use, base_url=url)))
    assert set(experiment.prices) == {f"{use} at {url}"}
    assert trials(experiment)[0].config.models["there"].output_price == pytest.approx(0.6)
    assert set(with_prices(config("openai:gpt-4o-mini")).prices) == {"openai:gpt-4o-mini"}


def test_a_design_from_before_cached_prices_charges_cached_input_as_other_input():
    prices = {"openai:gpt-4o-mini": ModelPrice(input_price=1, output_price=2)}
    old = config("openai:gpt-4o-mini").model_copy(update={"prices": prices})
    mine = with_price(priced(old).models["openai:gpt-4o-mini"])
    assert (mine.input_price, mine.cached_price, mine.output_price) == (1, None, 2)


def test_a_single_auction_has_the_prices_of_the_table():
    bidders = [Bidder("Ann", model="openai:gpt-4o-mini"), Bidder("Rob", rule="minimum-raise")]
    resolved = resolve(AuctionConfig(bidders=bidders))
    assert resolved.models["openai:gpt-4o-mini"].output_price == pytest.approx(0.6)
    assert "openai:gpt-4o-mini" not in resolved.config.models, "the files of a run keep what the user wrote"
