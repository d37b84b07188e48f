"""The suites for agents, models, catalogues and experiments find each broken promise."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from types import SimpleNamespace

import pytest

from harbor import Agent, Item, Model, Simulated, SimulatedChat
from harbor._core.plugins.finding import find
from harbor.personas import Catalogue
from harbor.testing import check_agent, check_catalogue, check_experiment, check_model
from support.foreign import AGENT


@pytest.fixture(autouse=True)
def _forgotten(stranger):
    """Keep nothing of what these tests bring."""


@pytest.fixture
def clerks():
    """The agents of a stranger."""
    made: dict = {}
    exec(compile(AGENT.replace('"Ready."', '"I withdraw"'), "clerk.py", "exec"), made)
    return SimpleNamespace(**made)


# ---------------------------------------------------------------- agents


def test_an_agent_of_a_strangers_keeps_its_promises(clerks):
    check_agent(clerks.CLERK)


@pytest.mark.parametrize("part", [one.name for one in fields(Agent) if "part" in one.metadata])
def test_a_missing_part_of_an_agent_is_named(part, clerks):
    with pytest.raises(AssertionError, match=f"lacks {part}: "):
        check_agent(replace(clerks.CLERK, **{part: None}))


def test_what_makes_no_agent_is_named(clerks):
    with pytest.raises(AssertionError, match="is a str; give a function of one turn"):
        check_agent(clerks.GHOST)
    with pytest.raises(AssertionError, match=r"its make failed \(ZeroDivisionError: division by zero\); mend it"):
        check_agent(clerks.CLUMSY)
    with pytest.raises(AssertionError, match=r"its make failed \(SystemExit: 3\); mend it"):
        check_agent(replace(clerks.CLUMSY, make=lambda bidder: sys.exit(3)))


def test_one_agent_for_two_bidders_is_named(clerks):
    one = clerks.CLERK.make("Ann")
    with pytest.raises(AssertionError, match="the agent 'clerk' is one for two bidders"):
        check_agent(replace(clerks.CLERK, make=lambda bidder: one))


def test_an_agent_whose_words_are_refused_is_named(clerks):
    def mumbling(bidder):
        agent = clerks.CLERK.make(bidder)
        answer = agent.on_messages

        async def on_messages(messages, token):
            response = await answer(messages, token)
            response.chat_message.content = "Well, perhaps."
            return response

        agent.on_messages = on_messages
        return agent

    with pytest.raises(AssertionError, match="the agent 'clerk' answers in words that are refused"):
        check_agent(replace(clerks.CLERK, make=mumbling))


# ---------------------------------------------------------------- models


def simulated(**mistakes):
    return Model(
        name="parrot",
        description="the built-in model under another name",
        make=lambda settings, seed: SimulatedChat(settings=Simulated(**mistakes), seed=seed),
    )


def test_a_model_of_a_strangers_keeps_its_promises():
    check_model(simulated())


@pytest.mark.parametrize("part", [one.name for one in fields(Model) if "part" in one.metadata])
def test_a_missing_part_of_a_model_is_named(part):
    with pytest.raises(AssertionError, match=f"lacks {part}: "):
        check_model(replace(simulated(), **{part: None}))


def test_what_makes_no_chat_model_is_named():
    with pytest.raises(AssertionError, match="is a int; make a LangChain chat model"):
        check_model(replace(simulated(), make=lambda settings, seed: 3))


def test_a_model_that_gives_replies_of_no_use_is_named():
    with pytest.raises(AssertionError, match=r"failed|gives replies that can't be used"):
        check_model(simulated(unreadable_rate=0.1))


# ---------------------------------------------------------------- catalogues


@pytest.fixture
def flats():
    """A small catalogue of a stranger's."""
    homes = find("catalogue", "homes")
    personas = dict(list(homes.personas.items())[:2])
    items = {f"{key}-{number}": item for key in personas for number, item in enumerate(homes.suiting(key)[:2])}
    return Catalogue(name="flats", description="a few homes", version="1", personas=personas, items=items)


def broken(catalogue, promise, **changes):
    with pytest.raises(AssertionError, match=promise):
        check_catalogue(replace(catalogue, **changes))


def changed(catalogue, **values):
    """Change the first item."""
    first, *_ = catalogue.items
    return {**catalogue.items, first: Item(**{**dict(catalogue.items[first]), **values})}


def test_a_catalogue_of_a_strangers_keeps_its_promises(flats):
    check_catalogue(flats)


@pytest.mark.parametrize("part", [one.name for one in fields(Catalogue) if "part" in one.metadata])
def test_a_missing_part_of_a_catalogue_is_named(part, flats):
    broken(flats, f"lacks {part}: ", **{part: None})


def test_an_item_for_a_persona_of_another_catalogue_is_named(flats):
    broken(flats, "suits a persona that it does not have: 'downsizing'", items=changed(flats, persona="downsizing"))


def test_an_item_that_starts_above_its_true_value_is_named(flats):
    broken(flats, "starts above its true value", items=changed(flats, start=2_000_000, true_value=1_000_000))


def test_a_listing_that_is_there_twice_is_named(flats):
    _, second, *_ = flats.items.values()
    broken(flats, "have the same listing", items=changed(flats, listing=second.listing))


def test_a_persona_that_no_item_suits_is_named(flats):
    first, *_ = flats.personas
    items = {key: item for key, item in flats.items.items() if item.persona != first}
    broken(flats, f"no item suits the persona '{first}'", items=items)


def test_a_catalogue_whose_items_come_in_another_order_each_time_is_named(flats):
    class Shuffled(dict):
        turned = False

        def values(self):
            self.turned = not self.turned
            return [*super().values()][:: -1 if self.turned else 1]

    broken(flats, "equal seeds give two samples", items=Shuffled(flats.items))


# ---------------------------------------------------------------- experiments


@pytest.fixture
def design(begun, tmp_path):
    """Write the design of an experiment that was begun a moment ago, with a text in place of another."""
    text = (begun / "my-experiment" / "experiment.toml").read_text(encoding="utf-8")

    def written(old="", new=""):
        assert old in text
        (tmp_path / "experiment.toml").write_text(text.replace(old, new) if old else text, encoding="utf-8")
        return tmp_path / "experiment.toml"

    return written


def test_an_experiment_that_was_begun_a_moment_ago_keeps_its_promises(design):
    check_experiment(design())


@pytest.mark.parametrize(
    ("old", "new", "promise"),
    [
        ("repeats = 4", "repeat = 4", "is refused: .*unknown key 'repeat'; did you mean 'repeats'?"),
        ('"items_won"]', '"items_wn"]', "unknown metric 'items_wn'; did you mean 'items_won'?"),
        ('Ben = { rule = "truthful" }', 'Ben = { rule = "random" }', "arms 'random' and 'truthful' are equal"),
        (
            '"items_won"]',
            '"water_bid"]',
            "measures a metric without a value in any arm: {'water_bid': 'the log is of another",
        ),
    ],
)
def test_a_design_that_breaks_a_promise_is_named(old, new, promise, design):
    with pytest.raises(AssertionError, match=promise):
        check_experiment(design(old, new))


def test_a_design_that_is_not_there_is_named():
    with pytest.raises(AssertionError, match="the experiment 'nowhere' is refused: unknown experiment 'nowhere'"):
        check_experiment("nowhere")
