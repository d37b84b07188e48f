"""The suites for agents, models, catalogues and experiments find each broken promise."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from harbor import Agent, Item, Model, Simulated, SimulatedChat
from harbor._core.plugins.finding import find
from harbor.personas import Catalogue
from harbor.testing import check_agent, check_catalogue, check_experiment, check_model
from support import foreign as clerks
from support.plugins import parts

pytestmark = pytest.mark.usefixtures("stranger")  # keeps nothing of what these tests bring


def test_an_agent_of_a_strangers_keeps_its_promises_and_each_that_it_breaks_is_named():
    check_agent(clerks.CLERK)
    one = clerks.CLERK.make("Ann")
    for promise, agent in (
        *((f"lacks {part}: ", replace(clerks.CLERK, **{part: None})) for part in parts(Agent)),
        ("is a str; give a function of one turn", clerks.GHOST),
        (r"its make failed \(ZeroDivisionError: division by zero\); mend it", clerks.CLUMSY),
        (r"its make failed \(SystemExit: 3\); mend it", replace(clerks.CLUMSY, make=lambda _: sys.exit(3))),
        ("the agent 'clerk' is one for two bidders", replace(clerks.CLERK, make=lambda _: one)),
    ):
        with pytest.raises(AssertionError, match=promise):
            check_agent(agent)


def test_an_agent_whose_words_are_refused_is_named():
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


# ---------------------------------------------------------------- agents


# ---------------------------------------------------------------- models


def simulated(**mistakes):
    return Model(
        name="parrot",
        description="the built-in model under another name",
        make=lambda settings, seed: SimulatedChat(settings=Simulated(**mistakes), seed=seed),
    )


def test_a_model_of_a_strangers_keeps_its_promises_and_each_that_it_breaks_is_named():
    check_model(simulated())
    for promise, model in (
        *((f"lacks {part}: ", replace(simulated(), **{part: None})) for part in parts(Model)),
        ("is a int; make a LangChain chat model", replace(simulated(), make=lambda settings, seed: 3)),
        ("failed|gives replies that can't be used", simulated(unreadable_rate=0.1)),
    ):
        with pytest.raises(AssertionError, match=promise):
            check_model(model)


# ---------------------------------------------------------------- catalogues


@pytest.fixture
def flats():
    """A small catalogue of a stranger's."""
    homes = find("catalogue", "homes")
    personas = dict(list(homes.personas.items())[:2])
    items = {f"{key}-{number}": item for key in personas for number, item in enumerate(homes.suiting(key)[:2])}
    return Catalogue(name="flats", description="a few homes", version="1", personas=personas, items=items)


class Shuffled(dict):
    """Items that come in another order each time."""

    turned = False

    def values(self):
        self.turned = not self.turned
        return [*super().values()][:: -1 if self.turned else 1]


def test_a_catalogue_of_a_strangers_keeps_its_promises_and_each_that_it_breaks_is_named(flats):
    check_catalogue(flats)
    (first, item), (_, second), *_ = flats.items.items()
    persona, *_ = flats.personas

    def with_first(**values):
        return {"items": {**flats.items, first: Item(**{**dict(item), **values})}}

    unsuited = {"items": {key: one for key, one in flats.items.items() if one.persona != persona}}
    for promise, changes in (
        *((f"lacks {part}: ", {part: None}) for part in parts(Catalogue)),
        ("suits a persona that it does not have: 'downsizing'", with_first(persona="downsizing")),
        ("starts above its true value", with_first(start=2_000_000, true_value=1_000_000)),
        ("have the same listing", with_first(listing=second.listing)),
        (f"no item suits the persona '{persona}'", unsuited),
        ("equal seeds give two samples", {"items": Shuffled(flats.items)}),
    ):
        with pytest.raises(AssertionError, match=promise):
            check_catalogue(replace(flats, **changes))


# ---------------------------------------------------------------- experiments


def test_an_experiment_that_was_begun_a_moment_ago_keeps_its_promises_and_each_that_it_breaks_is_named(begun, tmp_path):
    begun_one, path = begun / "my-experiment" / "experiment.toml", tmp_path / "experiment.toml"
    check_experiment(begun_one)
    with pytest.raises(AssertionError, match="the experiment 'nowhere' is refused: unknown experiment 'nowhere'"):
        check_experiment("nowhere")
    for old, new, promise in (
        ("repeats = 4", "repeat = 4", "is refused: .*unknown key 'repeat'; did you mean 'repeats'?"),
        ('"items_won"]', '"items_wn"]', "unknown metric 'items_wn'; did you mean 'items_won'?"),
        ('Ben = { rule = "truthful" }', 'Ben = { rule = "random" }', "arms 'random' and 'truthful' are equal"),
        ('"items_won"]', '"water_bid"]', "a metric without a value in any arm: {'water_bid': 'the log is of another"),
    ):
        text = begun_one.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(AssertionError, match=promise):
            check_experiment(path)
