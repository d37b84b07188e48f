"""The report: one page that needs nothing else, on which every text is data; numbers as their units want them."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor.evaluation._experiments.choices import chosen_arms
from harbor.evaluation._experiments.design import (
    Comparison,
    Experiment,
    Published,
    PublishedValue,
    Side,
    StandIn,
    Variation,
)
from harbor.evaluation._experiments.slots import SLOT
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.built_in import METRICS
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._report import intervals
from harbor.evaluation._report.built_in import FIGURES as BUILT_IN
from harbor.evaluation._report.canvas import LONGEST_LINE, paint, show_unit, wrapped
from harbor.evaluation._report.figures import figures
from harbor.evaluation._report.formatting import (
    MINUS,
    NOTHING,
    legible,
    write,
    write_interval,
    write_p,
    write_printed,
    write_tick,
)
from harbor.evaluation._report.listings import ratings
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.page import commands, render
from harbor.evaluation._report.tables import beside_published, few_games, findings, published_numbers
from support.plugins import install, installed

FIGURES = {figure.name: figure for figure in BUILT_IN}
PLACES = {"priority": ("1", "2"), "bid_increase_share": ("[0, 10)", "[10, 11)"), "strategy_share": ("A", "F")}
ALL = ("profit", *(figure.needs for figure in FIGURES.values()))
NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "$\\frac$",
    "{{7*7}}",
    "{% raw %}",
    "&lt;b&gt;",
    "_hidden",
    "x" * 400,
    "שלום עליכם",
    "\u202eevil",
    "拍卖 🏠",
    "a\x00b\x1bc\nd",
    "]]>",
    "</style><script>",
]
TEXTS = st.one_of(st.sampled_from([*NASTY, "a\x00b\x1bc\ud800"]), st.text(min_size=1, max_size=40))


def design(metrics=("profit",), **changes) -> Experiment:
    """Two arms of two bidders; texts of all kinds can be changed."""
    plain = {
        "name": "small",
        "title": "A small experiment",
        "question": "Who wins?",
        "source": "Nobody 2024",
        "repeats": 3,
        "auction": {"bidders": [{"name": "Ann", "model": "@1"}, {"name": "Ben", "model": "@1"}]},
        "arms": (Variation(name="one"), Variation(name="two", label="second", auction={"seed": 3})),
        "metrics": metrics,
    }
    return Experiment(**plain | changes)


def measured(metric: str, bidders: tuple[str, ...], repeat: int) -> list[Measurement]:
    """A few values of a metric, of the shape that its figure needs."""
    ats = (None,) if metric == "profit" or metric.endswith("_share") else (1, 2, 3)
    found = []
    for seat, bidder in enumerate(bidders):
        for at in ats:
            for about in PLACES.get(metric, ("",)):
                value = math.sin(seat + repeat * 3 + (at or 0)) + 2
                found.append(Measurement(metric, 0.5 if metric.endswith("_share") else value, bidder, about, at))
    return found


def results(experiment: Experiment, bidders=("Ann", "Ben"), player="simulated", repeats=3) -> Results:
    records = [
        TrialRecord(
            arm.name,
            condition.name,
            repeat,
            7,
            "finished",
            players=tuple((bidder, player) for bidder in bidders),
            calls=2,
            input_tokens=1000,
            output_tokens=10,
            cost=0.5,
            measurements=tuple(
                one for metric in experiment.metrics for one in measured(metric, tuple(bidders), repeat)
            ),
        )
        for arm in experiment.arms
        for condition in experiment.conditions
        for repeat in range(1, repeats + 1)
    ]
    return Results(experiment, tuple(records))


class Structure(HTMLParser):
    """The tags of a page with the names of their attributes, the texts, and whatever is linked to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, *(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]

    def handle_endtag(self, tag):
        self.tags.append((f"/{tag}",))

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def page() -> str:
    return render(Loaded(results(design(ALL))))


def told(text: str) -> Loaded:
    """An experiment in which everything that can be text is this one."""
    other = f"{text} too"
    experiment = design(
        title=text,
        question=text,
        source=text,
        note=text,
        auction={"bidders": [{"name": text, "persona": text, "model": text}, {"name": other, "rule": text}]},
        arms=(Variation(name="one", label=text), Variation(name="two", label=other, auction={text: {other: text}})),
        published=(Published(source=text, model=text, metric="profit", values=(PublishedValue(value=1),), note=text),),
        comparisons=(Comparison(metric="profit", of=Side(bidder=text), against=Side(bidder=other)),),
        stand_ins=(StandIn(wants=text, uses=other),),
    )
    held = results(experiment, (text, other), player=text)
    failed = TrialRecord("one", "all", 4, 7, "failed", detail=text, players=((text, text),))
    missing = Measurement("profit", None, text, missing=text)
    unmeasured = TrialRecord("two", "all", 4, 7, "finished", players=((text, text),), measurements=(missing,))
    return Loaded(Results(experiment, (*held.records, failed, unmeasured)))


@pytest.fixture(scope="module")
def plain() -> list[tuple[str, ...]]:
    return Structure(render(told("plain"))).tags


@pytest.mark.parametrize("text", NASTY)
def test_no_nasty_text_changes_the_structure_of_the_page_and_each_is_shown_as_it_is(text, plain):
    structure = Structure(render(told(text)))
    assert structure.tags == plain
    assert structure.text.count(legible(text)) >= 12


@pytest.mark.slow
@settings(max_examples=10)
@given(st.text(min_size=1, max_size=40).filter(lambda text: not SLOT.search(text)))  # a model "@1" is a slot, no text
def test_no_text_changes_the_structure_of_the_page(plain, text):
    assert Structure(render(told(text))).tags == plain


@pytest.mark.slow
@settings(max_examples=25)
@given(TEXTS)
def test_an_image_holds_any_name_as_plain_text(name):
    panel = paint("", "", lambda axes: axes.set_xlabel(legible(name)), 200, 120)
    root = ElementTree.fromstring(b64decode(panel.source.split(",")[1]))
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any(text.strip() == legible(name).strip() for text in texts) or not legible(name).strip()
    assert not {element.tag.split("}")[-1] for element in root.iter()} & {"script", "foreignObject", "image", "a"}


@pytest.mark.slow
def test_p_of_a_correlation_says_that_it_takes_pairs_as_independent():
    experiment = design(ALL, correlations=(("priority_initial", "bids"),))
    said = render(Loaded(results(experiment)))
    assert "as if pairs were independent" in said
    assert "trust the interval" in said


def test_arms_that_were_left_out_are_named_and_their_comparisons_listed_without_a_number():
    wiser = Comparison(metric="profit", of=Side(arm="two"), against=Side(arm="one"))
    arms = (Variation(name="one"), Variation(name="two", label="the other"))
    experiment = chosen_arms(design(arms=arms, comparisons=(wiser,)), ["one"])
    said = render(Loaded(results(experiment)))
    assert "Planned, but not run: two." in said
    assert "arm not run: two" in said


@pytest.mark.slow
def test_equal_figures_are_equal_text(page):
    assert render(Loaded(results(design(ALL)))) == page


def test_nothing_is_loaded_from_anywhere(page):
    structure = Structure(page)
    assert all(link.startswith(("data:", "#")) for link in structure.links)
    assert not re.search(r"url\(|@import", page.split("</style>")[0])
    assert not {tag[0] for tag in structure.tags} & {"script", "iframe", "object", "embed", "form", "base"}
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in page


def test_every_image_says_what_it_shows_and_how_large_it_is(page):
    images = [tag for tag in Structure(page).tags if tag[0] == "img"]
    assert images
    assert all({"alt", "width", "height"} <= set(image) for image in images)
    assert 'alt=""' not in page


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_where_its_metric_was_measured_and_only_there(name):
    metric = FIGURES[name].needs
    assert list(figures(Loaded(results(design((metric,)))))) == [name]
    assert name not in figures(Loaded(results(design(("profit",)))))


def unplaced(metric: str) -> Loaded:
    """A few values of a metric, of which none has a place."""
    held = results(design((metric,)))
    games = [
        replace(game, measurements=tuple(replace(one, at=None) for one in game.measurements)) for game in held.records
    ]
    return Loaded(Results(held.experiment, tuple(games)))


@pytest.mark.parametrize("name", [name for name, figure in FIGURES.items() if figure.by_place])
def test_a_metric_without_places_is_not_handed_to_a_figure_that_goes_by_place(name):
    metric = FIGURES[name].needs
    why = f"figure {name!r} can't be drawn: it is drawn by place, and values of {metric!r} have none"
    with pytest.warns(UserWarning, match=re.escape(why)):
        drawing = figures(unplaced(metric))[name]
    assert drawing.failure.startswith(why)
    assert drawing.panels == ()


@pytest.mark.parametrize("name", [name for name, figure in FIGURES.items() if not figure.by_place])
def test_a_figure_that_does_not_go_by_place_is_drawn_of_a_metric_without_places(name):
    assert figures(unplaced(FIGURES[name].needs))[name].panels


def broken(*_):
    raise ValueError("<b>no\nway</b>")


BROKEN = """
from harbor.evaluation import figure

@figure("A lost figure", "It shows nothing.", "winning_bid")
def lost(axes, values):
    raise ValueError("<b>no\\nway</b>")
"""


def test_a_figure_that_fails_costs_that_figure_and_says_why_in_its_place(tmp_path):
    loaded = Loaded(results(design(("winning_bid", "lowest_bid"))))
    images = render(loaded).count("<img")
    why = "figure 'lost' can't be drawn: ValueError: <b>no way</b>"
    place = install(tmp_path, "losing", {"losing.py": BROKEN}, {"harbor.figures": {"lost": "losing:lost"}})
    with installed(place), pytest.warns(UserWarning, match="lost") as said:
        page = render(loaded)
    assert [str(one.message) for one in said] == [why]
    text = Structure(page).text
    assert text.count(why) == 1
    assert "A lost figure" in text
    assert FIGURES["lowest-bids"].description in text
    assert page.count("<img") == images


@pytest.mark.parametrize(("drawn", "name"), [("dots", "means of profit"), ("trueskill", "trueskill")])
def test_means_or_ratings_that_can_t_be_drawn_cost_their_figure_alone(drawn, name, monkeypatch, rated):
    monkeypatch.setattr(intervals, drawn, broken)
    why = f"figure {name!r} can't be drawn: ValueError: <b>no way</b>"
    with pytest.warns(UserWarning, match=re.escape(why)):
        assert Structure(render(rated if drawn == "trueskill" else Loaded(results(design())))).text.count(why) == 1


@pytest.fixture
def rated() -> Loaded:
    """Two games of each arm, of which Ann wins all."""
    experiment = design(("profit",), trueskill=True)
    ranks = [
        TrialRecord(
            arm.name,
            "all",
            repeat,
            7,
            "finished",
            measurements=(Measurement("rank", 1, "Ann"), Measurement("rank", 2, "Ben")),
        )
        for arm in experiment.arms
        for repeat in (1, 2)
    ]
    return Loaded(Results(experiment, tuple(ranks)))


def test_ratings_are_drawn_where_the_experiment_rates(rated):
    assert "trueskill" in figures(rated)


def test_how_a_rating_spreads_over_orders_never_stands_as_an_interval(rated):
    found = findings("trueskill", rated.analysis)
    beside = beside_published("trueskill", found, {}, rated.results)
    listed = ratings(rated.analysis.ratings, rated.experiment)
    spreads = [cell.below for table in (beside, listed) for row in table.rows for cell in row if cell.below]
    assert len(spreads) == 8
    assert all(re.fullmatch(r"(sigma \d\.\d\d; )?[\d.]+ to [\d.]+ over orders", spread) for spread in spreads)


def test_every_figure_needs_a_metric_that_there_is():
    assert {figure.needs for figure in FIGURES.values()} <= {metric.name for metric in METRICS}


def test_simulated_results_carry_a_banner_and_others_do_not():
    assert "Simulated results." in render(Loaded(results(design())))
    assert "Simulated results." not in render(Loaded(results(design(), player="openai:gpt-4o")))


def test_failed_and_missing_games_are_counted_and_each_is_listed():
    held = results(design())
    lost = (
        TrialRecord("one", "all", 4, 70, "failed", detail="no usable reply of a model for Ann"),
        TrialRecord("two", "all", 4, 71, "unfinished"),
    )
    text = Structure(render(Loaded(Results(held.experiment, (*held.records, *lost))))).text
    assert "Of 8 games 6 are finished, 1 failed and 1 are missing" in text
    assert "no usable reply of a model for Ann" in text
    assert "unfinished" in text


def test_a_reason_that_no_file_can_hold_is_shown_all_the_same():
    failed = TrialRecord("one", "all", 1, 7, "failed", detail="cut \ud83d short")
    page = render(Loaded(Results(design(), (failed, TrialRecord("two", "all", 1, 7, "unfinished")))))
    assert "cut \ufffd short" in page
    assert page.encode()


def test_an_experiment_none_of_whose_games_was_held_has_a_report():
    experiment = design(ALL)
    none = [TrialRecord(arm.name, "all", 1, 7, "unfinished") for arm in experiment.arms]
    assert "Of 2 games 0 are finished" in render(Loaded(Results(experiment, tuple(none))))


def test_each_column_of_numbers_names_its_model_and_source():
    printed = (
        Published(source="Paper 1", model="Claude", metric="profit", values=(PublishedValue(value=0.2345, arm="one"),)),
        Published(source="Paper 2", model="GPT", metric="profit", values=(PublishedValue(value=9, arm="two", sd=2),)),
    )
    loaded = Loaded(results(design(published=printed), player="openai:gpt-4o"))
    found = findings("profit", loaded.analysis)
    table = beside_published("profit", found, published_numbers("profit", found, loaded.experiment), loaded.results)
    heads = {column.head.text: column.head.below for column in table.columns}
    assert heads == {
        "arm": "",
        "bidder": "",
        "this experiment": "openai:gpt-4o",
        "n": "games",
        "Paper 1": "Claude",
        "Paper 2": "GPT",
    }
    rows = {(row[0].text, row[1].text): row for row in table.rows}
    assert rows["one", "everyone"][4].text == "$0.2345"
    assert rows["one", "everyone"][5].text == rows["second", "everyone"][4].text == NOTHING
    assert (rows["second", "everyone"][5].text, rows["second", "everyone"][5].below) == ("$9", "sd $2")
    assert rows["one", "Ann"][4].text == NOTHING


def test_a_published_number_that_names_no_arm_stands_beside_every_arm():
    printed = (Published(source="Paper", model="m", metric="profit", values=(PublishedValue(value=5),)),)
    loaded = Loaded(results(design(published=printed)))
    found = findings("profit", loaded.analysis)
    (values,) = published_numbers("profit", found, loaded.experiment).values()
    assert {(place.arm, place.bidder) for place in values} == {("one", "everyone"), ("two", "everyone")}


def test_a_published_number_of_everyone_stands_beside_that_of_the_game():
    printed = (Published(source="Paper", model="m", metric="survivors", values=(PublishedValue(value=3, arm="one"),)),)
    experiment = design(("survivors",), published=printed)
    games = [
        TrialRecord("one", "all", repeat, 7, "finished", measurements=(Measurement("survivors", 2.0 + repeat),))
        for repeat in (1, 2)
    ]
    found = findings("survivors", Loaded(Results(experiment, tuple(games))).analysis)
    (values,) = published_numbers("survivors", found, experiment).values()
    assert [place.bidder for place in values] == [""]


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [
        (1234.5, "dollars", "$1,234"),
        (-1234.5, "dollars", f"{MINUS}$1,234"),
        (47.5, "dollars", "$47.50"),
        (0.2344, "share", "0.234"),
        (-0.0001, "share", "0.000"),
        (12345, "tokens", "12,345"),
        (None, "share", NOTHING),
    ],
)
def test_numbers_are_written_as_their_units_want(value, unit, written):
    assert write(value, unit) == written


def test_both_ends_of_an_interval_have_equal_places():
    assert write_interval(5, 1500, "dollars") == "[$5, $1,500]"
    assert write_interval(None, 2, "share") == ""


def test_a_published_number_keeps_the_places_it_was_printed_with():
    assert [write_printed(value, "share") for value in (0.2345, 0.5, 1.0)] == ["0.2345", "0.500", "1.000"]


@pytest.mark.parametrize(
    ("value", "span", "written"),
    [
        (-10_000, 30_000, f"{MINUS}$10k"),
        (2_500, 10_000, "$2.5k"),
        (1_500_000, 2_000_000, "$1.5M"),
        (-1e-9, 30_000, "$0"),
        (-400, 1_000, f"{MINUS}$400"),
        (0.25, 1, "$0.25"),
    ],
)
def test_ticks_of_dollars_are_short_and_begin_with_their_sign(value, span, written):
    assert write_tick(value, span) == written


@pytest.mark.parametrize("ends", [(-250_000, 40_000), (-9_000, 900_000), (3, 999), (-1_600_000, -200)])
@pytest.mark.parametrize("width", [200, 300, 440, 520])
def test_ticks_of_dollars_along_an_axis_keep_clear_of_each_other(ends, width):
    boxes = []

    def draw(axes):
        axes.set_xlim(*ends)
        show_unit(axes, "dollars", vertical=False)
        axes.figure.draw_without_rendering()
        boxes.extend(one.get_window_extent() for one in axes.get_xticklabels() if one.get_text())

    paint("", "", draw, width, 120)
    assert len(boxes) >= 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


@given(st.text(max_size=80))
def test_a_label_of_an_axis_has_two_lines_at_most(text):
    lines = wrapped(text).split("\n")
    assert len(lines) <= 2
    assert all(len(line) <= LONGEST_LINE for line in lines)


def test_a_label_of_an_arm_is_told_in_full():
    assert wrapped("(c) inferred personas and strategies") == "(c) inferred personas\nand strategies"


def test_results_of_few_games_are_said_to_be_few():
    sentence = "n = 3: intervals of so few games say little"
    assert few_games(results(design(), repeats=3)) == sentence
    assert Structure(render(Loaded(results(design(), repeats=3)))).text.count(sentence) == 1
    assert few_games(results(design(), repeats=5)) == ""


def test_a_tiny_p_is_a_bound():
    assert [write_p(p) for p in (0.0004, 0.04, None)] == ["< 0.001", "0.040", NOTHING]


def test_an_own_experiment_is_held_again_from_its_design():
    assert commands(design()) == ["harbor experiment run experiment.json"]


def test_a_published_experiment_is_held_again_by_its_name_too():
    from harbor.evaluation._experiments.choices import chosen
    from harbor.evaluation._experiments.library import experiment

    held = chosen(experiment("tom"), ["openai:gpt-4o"], ["none", "true"], 2, 9)
    assert commands(held)[1] == (
        "harbor experiment run tom --model openai:gpt-4o --arm none --arm true --repeats 2 --seed 9"
    )
    assert len(commands(held.model_copy(update={"title": "Another"}))) == 1
