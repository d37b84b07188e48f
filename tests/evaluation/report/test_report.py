"""The report: one page that needs nothing else, on which every text is data; numbers as their units want them."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from contextlib import nullcontext
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor._cli.display.finding_tables import finding_tables
from harbor._cli.display.render import Table as Grid
from harbor.evaluation import Loaded, Measurement
from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._experiments.choices import chosen, chosen_arms
from harbor.evaluation._experiments.design import Comparison, Experiment, Published, PublishedValue, Side, Variation
from harbor.evaluation._experiments.library import experiment
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._experiments.variations import SLOT
from harbor.evaluation._report.drawing.canvas import paint
from harbor.evaluation._report.drawing.inline import chart
from harbor.evaluation._report.page.page import commands, render
from harbor.evaluation._report.plots import intervals
from harbor.evaluation._report.plots.built_in import FIGURES as BUILT_IN
from harbor.evaluation._report.plots.figures import figures
from harbor.evaluation._report.tabular import formatting, tables
from harbor.evaluation._report.tabular.formatting import MINUS, NOTHING, legible
from harbor.evaluation._report.tabular.listings import comparisons, ratings
from harbor.evaluation._report.tabular.tables import beside_published, findings, published_numbers
from support.cases import some

FIGURES = {figure.name: figure for figure in BUILT_IN}
PLACES = {"priority": ("1", "2"), "bid_increase_share": ("[0, 10)", "[10, 11)"), "strategy_share": ("A", "F")}
ALL = ("profit", *(figure.needs for figure in FIGURES.values()))
NASTY = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "$\\frac$", "{{7*7}}",
    "{% raw %}", "&lt;b&gt;", "_hidden", "x" * 400, "שלום עליכם", "\u202eevil", "拍卖 🏠", "a\x00b\x1bc\nd", "]]>",
    "</style><script>",
]  # fmt: skip
TEXTS = st.one_of(st.sampled_from([*NASTY, "a\x00b\x1bc\ud800"]), st.text(min_size=1, max_size=40))


def design(metrics=("profit",), **changes) -> Experiment:
    """Two arms of two bidders; texts of all kinds can be changed."""
    plain = {
        "name": "small", "title": "A small experiment", "question": "Who wins?", "source": "Nobody 2024", "repeats": 3,
        "auction": {"bidders": [{"name": name, "model": "@1"} for name in ("Ann", "Ben")]}, "metrics": metrics,
        "arms": (Variation(name="one"), Variation(name="two", label="second", auction={"seed": 3})),
    }  # fmt: skip
    return Experiment(**plain | changes)


def measured(metric: str, bidders: tuple[str, ...], repeat: int) -> list[Measurement]:
    """A few values of a metric, of the shape that its figure needs."""
    is_share = metric.endswith("_share")
    return [
        Measurement(metric, 0.5 if is_share else math.sin(seat + repeat * 3 + (at or 0)) + 2, bidder, about, at)
        for seat, bidder in enumerate(bidders)
        for at in ((None,) if metric == "profit" or is_share else (1, 2, 3))
        for about in PLACES.get(metric, ("",))
    ]


def results(experiment: Experiment, bidders=("Ann", "Ben"), player="simulated", repeats=3) -> Results:
    records = [
        TrialRecord(
            arm.name, condition.name, repeat, 7, "finished", players=tuple((bidder, player) for bidder in bidders),
            calls=2, input_tokens=1000, output_tokens=10, cost=0.5,
            measurements=tuple(one for metric in experiment.metrics for one in measured(metric, bidders, repeat)),
        )
        for arm, condition in experiment.cells for repeat in range(1, repeats + 1)
    ]  # fmt: skip
    return Results(experiment, tuple(records))


def printed(metric="profit", source="Paper", model="m", n=None, **value) -> Published:
    """Return one published number."""
    return Published(source=source, model=model, metric=metric, n=n, values=(PublishedValue(**value),))


def beside(metric: str, loaded: Loaded):
    """Return the table of a metric, with the published numbers beside it."""
    found = findings(metric, loaded.analysis)
    return beside_published(metric, found, published_numbers(metric, found, loaded.experiment), loaded.results)


def compared(of: dict[str, str], against: dict[str, str]) -> tuple[Comparison, ...]:
    """Return one planned comparison of profits."""
    return (Comparison(metric="profit", of=Side(**of), against=Side(**against)),)


DRAWN = re.compile(
    "g|path|use|text|title|defs|clippath|rect|pattern|lineargradient|id|class|href|d|x|y|width|height|transform|"
    "clip-path|opacity|text-anchor|patternunits|xml:space|(fill|stroke|font)(-[a-z]+)?"
)
"""What a figure is made of: no script, no style, nothing that runs or loads."""


class Structure(HTMLParser):
    """The tags of a page with the names of their attributes, texts and links; of figures the kinds of tags alone."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.links, self.drawn = list[tuple[str, ...]](), list[str](), set[str]()
        self.text, self._within = "", False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if self._within:
            self.drawn |= {tag, *(name for name, _ in attrs)}
        else:
            self.tags.append((tag, *(name for name, _ in attrs)))
        self._within = self._within or tag == "svg"
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]

    def handle_endtag(self, tag):
        self._within = self._within and tag != "svg"
        if not self._within:
            self.tags.append((f"/{tag}",))

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def page() -> str:
    """Return the page of an experiment that measures something for each figure."""
    return render(Loaded(results(design(ALL, arms=(Variation(name="one"),)))))


def told(text: str) -> Loaded:
    """An experiment in which everything that can be text is this one."""
    other = f"{text} too"
    experiment = design(
        **dict.fromkeys(("title", "question", "source", "note"), text),
        auction={"bidders": [{"name": text, "persona": text, "model": text}, {"name": other, "rule": text}]},
        arms=(Variation(name="one", label=text), Variation(name="two", label=other, auction={text: {other: text}})),
        published=(printed(source=text, model=text, value=1).model_copy(update={"note": text}),),
        comparisons=compared({"bidder": text}, {"bidder": other}),
        stand_ins=({"wants": text, "uses": other},),
        deviations=({"what": text, "why": other, "effect": text},),
    )
    held = results(experiment, (text, other), player=text)
    failed = TrialRecord("one", "all", 4, 7, "failed", detail=text, players=((text, text),))
    missing = Measurement("profit", None, text, missing=text)
    unmeasured = TrialRecord("two", "all", 4, 7, "finished", players=((text, text),), measurements=(missing,))
    return Loaded(Results(experiment, (*held.records, failed, unmeasured)))


@pytest.fixture(scope="module")
def plain() -> list[tuple[str, ...]]:
    return Structure(render(told("plain"))).tags


@pytest.mark.parametrize("text", some(NASTY, [*NASTY[:3], "{{7*7}}", "\u202eevil", "</style><script>"]))
def test_no_nasty_text_changes_the_structure_of_the_page_and_each_is_shown_as_it_is(text, plain):
    structure = Structure(render(told(text)))
    assert structure.tags == plain
    assert all(map(DRAWN.fullmatch, structure.drawn))
    assert structure.text.count(legible(text)) >= 12


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples // 10)
@given(st.text(min_size=1, max_size=40).filter(lambda text: not SLOT.search(text)))  # a model "@1" is a slot, no text
def test_no_text_changes_the_structure_of_the_page(plain, text):
    assert Structure(render(told(text))).tags == plain


@pytest.mark.slow
@settings(max_examples=25)
@given(TEXTS)
def test_an_image_holds_any_name_as_plain_text(name):
    panel = paint("", "", lambda axes: axes.set_xlabel(legible(name)), 200, 120)
    root = ElementTree.fromstring(chart(panel, "one").svg)
    texts = [element.text or "" for element in root.iter("text")]
    assert any(text.strip() == legible(name).strip() for text in texts) or not legible(name).strip()
    assert not {element.tag.split("}")[-1] for element in root.iter()} & {"script", "foreignObject", "image", "a"}


def test_what_rivals_gain_or_lose_stands_beside_a_planned_comparison_on_the_page_and_in_the_terminal():
    found = results(design(comparisons=compared({"arm": "two", "bidder": "Ann"}, {"arm": "one", "bidder": "Ann"})))
    assert "rivals of Ann" in Structure(render(Loaded(found))).text
    [(title, [row])] = [(one.title, one.rows) for one in _grids(found) if one.title.startswith("What others gain or")]
    assert (row["of"], row["metric"], row["difference"]) == ("rivals of Ann", "profit", f"second {MINUS} one")
    assert ("no tests" in title, {"p", "p (Holm)"} & set(row)) == (True, set())


def test_an_arm_that_was_left_out_is_named_and_its_comparison_has_no_number_but_counts_as_a_test():
    planned = design(comparisons=compared({"bidder": "Ann"}, {"bidder": "Ben"}))
    found = results(chosen_arms(planned, ["one"]))
    table = comparisons(analyse(found).differences, found.experiment)
    assert (table.columns[-1].head.text, table.columns[-1].head.below) == ("p (Holm)", "2 tests")
    assert [(row[1].below, row[3].below) for row in table.rows] == [("one", ""), ("second", "not run")]
    assert "Planned, but not run: two." in render(Loaded(found))


@pytest.mark.parametrize(("other", "heads", "below"), [
    ("Ben", [("Paper", ""), ("Third", "m")], {"Ann": ["A, n = 9", ""], "Ben": ["B", ""], "everyone": ["", ""]}),
    ("Ann", [("Paper", "A"), ("Paper", "B"), ("Third", "m")], {"Ann": ["n = 9", "", ""]}),
])  # fmt: skip
def test_models_of_one_source_share_a_column_unless_two_of_them_have_a_number_at_one_place(other, heads, below):
    one, two = printed(model="A", n=9, value=1, bidder="Ann"), printed(model="B", value=2, bidder=other)
    numbers = one, printed(source="Third", value=7, bidder="Ann"), two
    table = beside("profit", Loaded(results(design(published=numbers))))
    assert [(one.head.text, one.head.below) for one in table.columns[4:]] == heads
    assert {row[1].text: [one.below for one in row[4:]] for row in table.rows}.items() >= below.items()


@pytest.mark.parametrize("player", ["person", "agent (mine:bid)"])
def test_a_person_or_an_agent_is_named_with_the_arms_that_it_played_in_and_beside_simulated_bidders(player):
    def played(*arms):
        seats = (("Ann", player), ("Ben", "simulated"))
        games = [replace(one, players=seats) if one.arm in arms else one for one in results(design()).records]
        return Results(design(), tuple(games))

    some, whole = played("two"), played("one", "two")
    assert tables.models_of(some) == tables.heading(some) == f"{player} (in second), simulated"
    assert tables.models_of(whole) == tables.heading(whole) == f"{player}, simulated"
    assert player != "person" or any("(people and simulated bidders)" in one.title for one in _grids(some))


def _grids(found):
    return [one for one in finding_tables(found, analyse(found)) if isinstance(one, Grid)]


def test_nothing_is_loaded_from_anywhere_and_every_image_has_a_name_and_a_size(page):
    structure = Structure(page)
    assert all(link.startswith(("data:", "#")) for link in structure.links)
    assert not re.search(r"url\(|@import", page.split("</style>")[0])
    assert not {tag[0] for tag in structure.tags} & {"script", "iframe", "object", "embed", "form", "base"}
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in page
    images = [set(tag) for tag in structure.tags if tag[0] == "svg"]
    assert [{"role", "aria-label", "width", "height"} <= image for image in images] == [True] * len(images) != []
    assert 'aria-label=""' not in page


@pytest.mark.parametrize("name", FIGURES)
def test_a_metric_without_places_is_handed_to_its_figure_alone_which_fails_if_it_goes_by_place(name):
    metric, by_place = FIGURES[name].needs, FIGURES[name].by_place
    held = results(design((metric,)))
    bare = [tuple(replace(one, at=None) for one in game.measurements) for game in held.records]
    games = [replace(game, measurements=rows) for game, rows in zip(held.records, bare, strict=True)]
    why = f"figure {name!r} can't be drawn: it is drawn by place, and values of {metric!r} have none"
    with pytest.warns(UserWarning, match=re.escape(why)) if by_place else nullcontext():
        [(each, drawing)] = figures(Loaded(replace(held, records=tuple(games)))).items()
    assert (each, drawing.failure.startswith(why), bool(drawing.panels)) == (name, by_place, not by_place)


def broken(*_):
    raise ValueError("<b>no\nway</b>")


@pytest.mark.parametrize(("drawn", "name"), [("dots", "means of profit"), ("rated", "trueskill")])
def test_means_or_ratings_that_can_t_be_drawn_cost_their_figure_alone(drawn, name, monkeypatch, rated):
    monkeypatch.setattr(intervals, drawn, broken)
    why = f"figure {name!r} can't be drawn: ValueError: <b>no way</b>"
    with pytest.warns(UserWarning, match=re.escape(why)):
        assert Structure(render(rated if drawn == "rated" else Loaded(results(design())))).text.count(why) == 1


@pytest.fixture(scope="module")
def rated() -> Loaded:
    """Two games of each arm, of which Ann wins all."""
    ranks = (Measurement("rank", 1, "Ann"), Measurement("rank", 2, "Ben"))
    held = results(design(trueskill=True), repeats=2)
    return Loaded(replace(held, records=tuple(replace(game, measurements=ranks) for game in held.records)))


def test_ratings_of_few_games_say_why_they_have_no_interval_and_equal_ones_have_that_of_their_scale(rated):
    listed = ratings(rated.analysis.ratings, rated.experiment)
    assert {row[3].below for row in listed.rows} == {"fewer than 5 games to resample"}
    assert {row[5].below for row in listed.rows} == {"[22.57, 29.40]", "[20.60, 27.43]"}
    for metric, says in (("trueskill", "resampling games"), ("trueskill_per_game", "by t")):
        assert (len(beside(metric, rated).rows), says in tables.meaning(metric)) == (4, True)


def test_only_simulated_results_carry_a_banner_and_results_of_few_games_are_said_to_be_few():
    of_simulated, of_models = (render(Loaded(results(design(), player=one))) for one in ("simulated", "openai:gpt-4o"))
    assert ["Simulated results." in one for one in (of_simulated, of_models)] == [True, False]
    sentence = "n = 3: intervals of so few games say little"
    assert [tables.few_games(results(design(), repeats=repeats)) for repeats in (3, 5)] == [sentence, ""]
    assert Structure(of_simulated).text.count(sentence) == 1


def test_failed_and_missing_games_are_counted_and_listed_and_a_report_is_of_such_games_alone_too():
    lost = TrialRecord("one", "all", 4, 70, "failed", detail="cut \ud83d short")  # no file can hold it
    missing = [TrialRecord(arm, "all", 4, 71, "unfinished") for arm in ("two", "one")]
    page = render(Loaded(Results(design(), (*results(design()).records, lost, missing[0]))))
    assert page.encode()
    for words in ("Of 8 games 6 are finished, 1 failed and 1 are missing", "cut \ufffd short", "unfinished"):
        assert words in Structure(page).text
    assert "Of 2 games 0 are finished" in render(Loaded(Results(design(ALL), tuple(missing))))


def test_each_column_of_numbers_names_its_model_and_source():
    claude = printed(source="Paper 1", model="Claude", value=0.2345, arm="one")
    gpt = printed(source="Paper 2", model="GPT", value=9, arm="two", sd=2)
    table = beside("profit", Loaded(results(design(published=(claude, gpt)), player="openai:gpt-4o")))
    heads = {column.head.text: column.head.below for column in table.columns}
    named = {"this experiment": "openai:gpt-4o", "n": "games", "Paper 1": "Claude", "Paper 2": "GPT"}
    assert heads == {"arm": "", "bidder": ""} | named
    rows = {(row[0].text, row[1].text): [(one.text, one.below) for one in row[4:]] for row in table.rows}
    assert rows["one", "everyone"] == [("$0.2345", ""), (NOTHING, "")]
    assert rows["second", "everyone"] == [(NOTHING, ""), ("$9", "sd $2")]
    assert rows["one", "Ann"][0] == (NOTHING, "")


# Clopper and Pearson's tables: 1 of 10 is 0.25 % to 44.5 %, 2 of 20 is 1.2 % to 31.7 %
@pytest.mark.parametrize(("metric", "value", "below"), [
    ("survived", {"value": 0.1, "bidder": "Ann"}, "[0.003, 0.445], n = 10"),
    ("survived", {"value": 0.1, "bidder": "Ben", "n": 20, "sd": 0.3}, "[0.012, 0.317], n = 20, sd 0.300"),
    ("survived", {"value": 0.15}, "n = 10"),  # no whole number of games gives it
    ("profit", {"value": 0.1}, "n = 10"),
])  # fmt: skip
def test_a_published_number_says_of_how_many_games_it_is_and_a_share_of_them_has_its_exact_interval(
    metric, value, below
):
    number = Published(source="Paper", model="m", metric=metric, n=10, values=(PublishedValue(**value),))
    loaded = Loaded(results(design((metric,), published=(number,))))
    table = beside_published(metric, [], published_numbers(metric, [], loaded.experiment), loaded.results)
    assert {row[-1].below for row in table.rows} == {below}


def test_a_design_says_what_deviates_from_the_paper_and_replaces_what_it_had_only_where_something_does():
    deviation = {"what": "Calls are <two>.", "why": "We plan.", "effect": "More thought."}
    other = {"stand_ins": ({"wants": "GPT-4", "uses": "a rule"},), "deviations": (deviation,)}
    own, replaced = (render(Loaded(results(design(models=("simulated",), **more)))) for more in ({}, other))
    assert "model slot @1 is filled by the built-in model" in own
    heads = "Deviations from the paper", "What the published experiment had and this one replaces:"
    for words in (*heads, "Calls are &lt;two&gt;.", "We plan.", "More thought."):
        assert (words in replaced, words in own) == (True, False)


def test_a_published_number_that_names_no_arm_stands_beside_every_arm_and_one_of_the_game_beside_that_of_the_game():
    def places(metric, value):
        plan = design((metric,), published=(printed(metric, **value),))
        game = TrialRecord("one", "all", 1, 7, "finished", measurements=(Measurement(metric, 3.0),))
        held = Results(plan, (game, replace(game, repeat=2))) if metric == "survivors" else results(plan)
        (values,) = published_numbers(metric, findings(metric, analyse(held)), plan).values()
        return {(place.arm, place.bidder) for place in values}

    assert places("profit", {"value": 5}) == {("one", "everyone"), ("two", "everyone")}
    assert places("survivors", {"value": 3, "arm": "one"}) == {("one", "")}


# fmt: off
WRITTEN = {
    "write": {
        (1234.5, "dollars"): "$1,234", (-1234.5, "dollars"): f"{MINUS}$1,234", (47.5, "dollars"): "$47.50",
        (0.2344, "share"): "0.234", (-0.0001, "share"): "0.000", (12345, "tokens"): "12,345", (None, "share"): NOTHING,
    },
    "write_interval": {(5, 1500, "dollars"): "[$5, $1,500]", (None, 2, "share"): ""},  # both ends have equal places
    "write_printed": {(0.2345, "share"): "0.2345", (0.5, "share"): "0.500", (1.0, "share"): "1.000"},
    "write_p": {
        (0.0004,): "< 0.001", (0.04,): "0.040", (None,): NOTHING,
        (0.0498,): "0.0498", (0.05,): "0.050", (0.04999999,): "< 0.05",
    },
    "write_tick": {
        (-10_000, 30_000): f"{MINUS}$10k", (2_500, 10_000): "$2.5k", (1_500_000, 2_000_000): "$1.5M",
        (-1e-9, 30_000): "$0", (-400, 1_000): f"{MINUS}$400", (0.25, 1): "$0.25",
    },
}
# fmt: on


@pytest.mark.parametrize("way", WRITTEN)
def test_numbers_are_written_as_their_units_want(way):
    assert {given: getattr(formatting, way)(*given) for given in WRITTEN[way]} == WRITTEN[way]


@given(st.floats(0, 1))
def test_a_p_is_printed_on_its_side_of_the_level(p):
    written = formatting.write_p(p)
    assert written.startswith("<") or (float(written) < 0.05) == (p < 0.05)
    assert p < 0.05 or not written.startswith("<")


def test_an_own_experiment_is_held_again_from_its_design_and_a_published_one_by_its_name_too():
    held = chosen(experiment("tom"), ["openai:gpt-4o"], ["none", "true"], 2, 9)
    by_name = "harbor experiment run tom --model openai:gpt-4o --arm none --arm true --repeats 2 --seed 9"
    assert commands(held)[1] == by_name
    assert len(commands(held.model_copy(update={"title": "Another"}))) == 1
    assert commands(design()) == ["harbor experiment run experiment.json"]
