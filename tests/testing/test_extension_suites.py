"""The suites for all that extends Harbor find each broken promise, and take a game for as many bidders as it is for."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from itertools import count

import pytest
from pydantic import BaseModel

from harbor import Agent, Item, Model, Simulated, SimulatedChat, use
from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.finding import find
from harbor.evaluation import Figure, Metric, by_bidder, figure, measured, metric
from harbor.evaluation._report.drawing.canvas import Drawing, paint
from harbor.events import BidderSeated, PrivateEvent, SaleClosed, SaleOpened
from harbor.games import of_type
from harbor.graphs import ThoughtNode
from harbor.personas import Catalogue
from harbor.testing import (
    check_agent,
    check_catalogue,
    check_experiment,
    check_figure,
    check_game,
    check_metric,
    check_model,
    check_node,
    check_policy,
    check_seat,
)
from harbor.testing._playing import names_of
from support import foreign as clerks
from support.bargaining import BARGAINING, HALVES, Bargain, part_of_the_pie, parts_of_pies
from support.plugins import parts

pytestmark = pytest.mark.usefixtures("stranger")  # keeps nothing of what these tests bring
NUMBERS = count()


def broken(promise, check, value, *given, **changes):
    with pytest.raises(AssertionError, match=promise):
        check(replace(value, **changes), *given)


def missing(kind):
    return [(f"lacks {part}: ", {part: None}) for part in parts(kind)]


# ---------------------------------------------------------------- agents and models


@pytest.mark.parametrize(("promise", "agent"), [
    *((promise, replace(clerks.CLERK, **changes)) for promise, changes in missing(Agent)),
    ("is a str; give a function of one turn", clerks.GHOST),
    (r"its make failed \(ZeroDivisionError: division by zero\); mend it", clerks.CLUMSY),
    (r"its make failed \(SystemExit: 3\); mend it", replace(clerks.CLUMSY, make=lambda _: sys.exit(3))),
])  # fmt: skip
def test_an_agent_that_breaks_a_promise_is_named(promise, agent):
    broken(promise, check_agent, agent)


def test_an_agent_of_a_strangers_keeps_its_promises_and_one_for_two_bidders_or_with_words_that_are_refused_is_named():
    check_agent(clerks.CLERK)
    one = clerks.CLERK.make("Ann")
    broken("the agent 'clerk' is one for two bidders", check_agent, clerks.CLERK, make=lambda _: one)

    def mumbling(bidder):
        agent = clerks.CLERK.make(bidder)
        answer = agent.on_messages

        async def on_messages(messages, token):
            response = await answer(messages, token)
            response.chat_message.content = "Well, perhaps."
            return response

        agent.on_messages = on_messages
        return agent

    broken("the agent 'clerk' answers in words that are refused", check_agent, clerks.CLERK, make=mumbling)


def simulated(**mistakes):
    return Model(
        name="parrot",
        description="the built-in model under another name",
        make=lambda settings, seed: SimulatedChat(settings=Simulated(**mistakes), seed=seed),
    )


def test_a_model_of_a_strangers_keeps_its_promises_and_each_that_it_breaks_is_named():
    check_model(simulated())
    for promise, changes in missing(Model):
        broken(promise, check_model, simulated(), **changes)
    broken("is a int; make a LangChain chat model", check_model, simulated(), make=lambda settings, seed: 3)
    broken("failed|gives replies that can't be used", check_model, simulated(unreadable_rate=0.1))


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
        *missing(Catalogue),
        ("suits a persona that it does not have: 'downsizing'", with_first(persona="downsizing")),
        ("starts above its true value", with_first(start=2_000_000, true_value=1_000_000)),
        ("have the same listing", with_first(listing=second.listing)),
        (f"no item suits the persona '{persona}'", unsuited),
        ("equal seeds give two samples", {"items": Shuffled(flats.items)}),
    ):
        broken(promise, check_catalogue, flats, **changes)


# ---------------------------------------------------------------- metrics and figures


@metric("letters of a name", "letters", name="letters")
def letters(name, entries):
    """Count the letters of each bidder's name."""
    return by_bidder(name, {seat.bidder: len(seat.bidder) for seat in of_type(entries, BidderSeated)})


@figure("Letters", "Mean over games.", "profit", name="letters-figure")
def drawn(axes, values):
    """Draw the profits."""
    axes.bar(range(len(values)), values["value"])
    return f"{len(values)} values"


AUCTION = {
    "items": [{"name": "Vase", "start": 100, "true_value": 300}],
    "bidders": [{"name": name, "rule": "minimum-raise", "budget": 500} for name in ("Ann", "Ben")],
}
"""A small auction, of which figures are drawn."""


def measuring(give):
    """Change a metric so that it measures so."""

    def measure(name, entries):
        """Measure."""
        return give(name, entries)

    return {"unit": "share", "of": SaleOpened, "measure": measure}


def drawing(draw):
    """Change a figure so that it is drawn so."""
    return {"draw": figure("Letters", "Mean.", "profit", name="letters-figure")(draw).draw}


def tower(*_):
    return Drawing("Tower", "", (paint("", "high", lambda axes: None, height=2_000),))


def without_gaps(loaded, name, title, caption):
    table = loaded.measurements
    assert len(table) == table["value"].notna().sum(), "a value is missing"
    return drawn.draw(loaded, name, title, caption)


def of_closed_sales(name, entries):
    return [measured(name, 1)] * len(of_type(entries, SaleClosed)) or [][0]


def test_a_metric_and_a_figure_of_a_strangers_keep_their_promises(stranger):
    check_metric(letters)
    check_metric(stranger("my_metric.metric").my_metric)
    check_figure(drawn)


@pytest.mark.parametrize(("promise", "changes"), [
    *missing(Metric),
    ("'letters' has no docstring that gives its formula", {"measure": lambda name, entries: []}),
    ("no installed game opens with PrivateThing; give", {"of": type("PrivateThing", (SaleOpened,), {})}),
    ("measures twice otherwise", measuring(lambda name, _: [measured(name, 1 / (1 + next(NUMBERS)))])),
    ("has no value in a whole game", measuring(lambda name, _: [measured(name, None, missing="why not")])),
    ("fails where the log breaks off after .*IndexError", measuring(of_closed_sales)),
])  # fmt: skip
def test_a_metric_that_breaks_a_promise_is_named(promise, changes):
    broken(promise, check_metric, letters, **changes)


def growing(axes, values):
    axes.get_figure(root=True).set_size_inches(3, 58)
    return "grown"


@pytest.mark.parametrize(("promise", "changes"), [
    *missing(Figure),
    ("the figure 'letters-figure' is refused: unknown metric 'nothing'", {"needs": "nothing"}),
    ("has no words for those who can't see the panel", drawing(lambda axes, values: "")),
    ("has no words for those who can't see the panel", drawing(lambda axes, values: None)),
    ("fails with AttributeError", drawing(lambda axes, values: axes.nowhere())),
    ("a panel of it is 16.7 inches high, and a page 9", {"draw": tower}),
    ("its function changes the size of the picture", drawing(growing)),
    ("draws nothing of an experiment that has its metric", {"draw": lambda *_: None}),
    ("is drawn twice otherwise", drawing(lambda axes, values: f"number {next(NUMBERS)}")),
    ("a value is missing|where values are missing", {"draw": without_gaps}),
])  # fmt: skip
def test_a_figure_that_breaks_a_promise_is_named(promise, changes):
    broken(promise, check_figure, drawn, AUCTION, **changes)


# ---------------------------------------------------------------- thoughts


class Lesson(BaseModel):
    """What an item taught."""

    lesson: str


@dataclass(frozen=True, slots=True)
class LessonDrawn(PrivateEvent):
    """What a bidder told itself."""

    item: str
    lesson: str


PROMPT = "What does `item`, sold at `price`, teach you?\n\n<facts>\n${facts}\n</facts>\n"
PARTS = {
    "name": "ponder",
    "description": "after an item, say what it taught",
    "occasions": ("closed",),
    "event": LessonDrawn,
    "facts": lambda view: {"item": view.results[-1].item, "price": view.results[-1].price},
    "reply": Lesson,
    "answer": lambda facts, settings, chance: {"lesson": f"{facts['item']} cost {facts['price']}"},
    "conclude": lambda reply, view: LessonDrawn(view.name, view.results[-1].item, reply.lesson),
    "fold": lambda note, event: event.lesson,
    "tells": "`ponder`, if it is there, is what the last item taught you.",
}


@pytest.fixture
def ponder(stranger, tmp_path):
    """A thought of a stranger's; nothing of it is kept."""
    (tmp_path / "ponder.md").write_text(PROMPT)
    return ThoughtNode(**PARTS, prompt=tmp_path / "ponder.md")


def numbered(reply, view):
    return LessonDrawn(view.name, "", f"{next(NUMBERS)}")


def test_a_thought_of_a_strangers_keeps_its_promises_and_is_tried_with_the_settings_that_switch_it_on(ponder):
    check_node(ponder)
    check_node(replace(ponder, on=lambda mind, memory: mind.strategy == "fused", uses=("strategy", "planning")))


@pytest.mark.parametrize(("promise", "changes"), [
    # None for a missing part, but for what it tells: then only facts speak of its note
    *((f"lacks {part}: ", {part: "" if part == "tells" else None}) for part in (*PARTS, "prompt")),
    ("the node 'ponder' is off with all that it uses", {"on": lambda mind, memory: False}),
    ("has a place in no installed game: .*needs a node that is not there", {"needs": ("nothing",)}),
    (r"'ponder' does not explain these facts in backticks: \['weather'\]",
     {"facts": lambda view: {"item": "Vase", "weather": "fine", "price": 1}}),
    ("'ponder' found no such fact in the game 'english'.*KeyError", {"facts": lambda view: {}["nothing"]}),
    ("the thought 'ponder' of 'Ann' failed", {"answer": lambda *_: {"words": "none"}}),
    ("'ponder' has a mistake in its code.*give a LessonDrawn", {"conclude": lambda *_: LessonDrawn("Z", "", "")}),
    ("'ponder' notes nothing that later prompts tell", {"adapt": lambda node, _: replace(node, fold=None)}),
    ("the node 'ponder' is on, and no LessonDrawn is in the log", {"when": lambda view, ask: False}),
    ("resumed differ|two equal runs differ", {"conclude": numbered}),
])  # fmt: skip
def test_a_thought_that_breaks_a_promise_is_named(promise, changes, ponder):
    broken(promise, check_node, ponder, **changes)


def test_a_prompt_that_can_not_be_filled_is_named(ponder):
    ponder.prompt.write_text("What of ${item}?")
    broken("has a prompt that can't be filled", check_node, ponder)


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


# ---------------------------------------------------------------- a game for as many bidders as it is for


def half(_):
    return {"action": "bid", "amount": 5}


def for_so_many(number):
    """Build rules for this number of bidders and for no other."""

    def build(_, config):
        if len(config.bidders) != number:
            raise ConfigError(f"bargaining is for {number}; name as many bidders")
        return Bargain(tuple(bidder.name for bidder in config.bidders))

    return build


@pytest.fixture
def bargaining(stranger):
    use(BARGAINING)
    use(part_of_the_pie)


@pytest.mark.usefixtures("bargaining")
@pytest.mark.parametrize(("check", "given"), [
    (check_game, (BARGAINING,)), (check_policy, (HALVES,)),
    (check_metric, (part_of_the_pie,)), (check_figure, (parts_of_pies,)),
    (check_agent, (Agent(name="half", description="demands half", make=lambda _: half), "bargaining")),
    (check_seat, (half, "bargaining")), (check_model, (find("model", "simulated"), "bargaining")),
    (check_node, (find("node", "plan"), "bargaining")),
], ids=lambda one: getattr(one, "__name__", ""))  # fmt: skip
def test_a_game_for_two_passes(check, given):
    check(*given)


@pytest.mark.parametrize("number", [2, 6])
def test_as_many_bidders_are_seated_as_a_game_takes(number, bargaining):
    use(replace(BARGAINING, build=for_so_many(number)))
    assert len(names_of(find("game", "bargaining"))) == number


def test_residents_are_named_as_the_settings_name_them():
    assert names_of(find("game", "water")) == ("Alex", "Bob", "Cindy", "David", "Eric")


def test_of_a_metric_whose_game_no_suite_can_play_it_is_said_why(bargaining):
    use(replace(BARGAINING, build=for_so_many(7)))
    with pytest.raises(AssertionError, match=r"'bargaining' can't be played here \(.*bargaining is for 7; .*\); give"):
        check_metric(part_of_the_pie)
