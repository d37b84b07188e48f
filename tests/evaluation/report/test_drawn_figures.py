"""What figures draw, by structure: axes inside the scale, a mark per game, lines over what the design varies."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Sheet
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from harbor.evaluation import Loaded, figure
from harbor.evaluation._experiments.design import Comparison, Experiment, Published, PublishedValue, Side, Variation
from harbor.evaluation._experiments.library import presets
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Measurement, metric_of
from harbor.evaluation._metrics.profiling import binned
from harbor.evaluation._metrics.strategy import ACTIONS
from harbor.evaluation._report.drawing.canvas import Drawing, colour, legend, marker
from harbor.evaluation._report.drawing.inline import MOST_PANELS, inlined
from harbor.evaluation._report.drawing.series_marks import OPEN, published_key
from harbor.evaluation._report.page.page import sections
from harbor.evaluation._report.paper.figure_files import FILE_STYLE, WIDTHS, _figure, caption, drawings
from harbor.evaluation._report.paper.paging import TALLEST, legend_height, pages, row_height
from harbor.evaluation._report.plots import forest
from harbor.evaluation._report.plots.built_in import FIGURES
from harbor.evaluation._report.plots.distributions import bins
from harbor.evaluation._report.plots.figures import figures, means, ways_to_draw
from harbor.evaluation._report.plots.heatmaps import FIRST_GAMES, FRAME
from harbor.evaluation._report.plots.mean_lines import scale_of
from support.cases import some
from support.filled import full

GAMES = 5
PAPER = {"source": "A paper, Table 1", "model": "a model", "n": 15}


def held(plan: Experiment, measure) -> Loaded:
    """Games of a design; `measure` gives measurements by arm, the place of the condition, and repeat."""
    records = [
        TrialRecord(arm.name, condition.name, repeat, 7, "finished", measurements=tuple(measure(arm.name, at, repeat)))
        for arm in plan.arms for at, condition in enumerate(plan.conditions) for repeat in range(1, plan.repeats + 1)
    ]  # fmt: skip
    return Loaded(Results(plan, tuple(records)))


def loaded(metrics: dict[str, object], bidders=("Ann", "Ben"), arms=("one", "two"), games=GAMES, **design) -> Loaded:
    """Games of two arms; each metric has a function from repeat and bidder to its measurements."""
    plan = Experiment(
        name="small", title="T", question="Who?", source="S", repeats=games, metrics=tuple(metrics),
        auction={"bidders": [{"name": name, "model": "@1"} for name in bidders]},
        arms=tuple(Variation(name=name) for name in arms), **design,
    )  # fmt: skip

    def measure(_, __, repeat):
        return [one for value in metrics.values() for name in bidders for one in value(repeat, name)]

    return held(plan, measure)


def repeats(metric: str, ats=(None,), **design) -> Loaded:
    """Games in which a metric is the repeat."""
    return loaded({metric: of(metric, lambda repeat, _: repeat, ats=ats)}, **design)


def between(of: dict[str, str], against: dict[str, str]) -> Comparison:
    return Comparison(metric="profit", of=Side(**of), against=Side(**against))


def of(metric: str, value, ats=(None,), abouts=("",)):
    """Measure a metric by a function of repeat and bidder."""
    return lambda repeat, bidder: [
        Measurement(metric, value(repeat, bidder), bidder, about, at) for at in ats for about in abouts
    ]


def drawn(drawing: Drawing, panel: int = 0) -> Axes:
    """Draw a panel as a page does."""
    axes = Sheet(layout="constrained").subplots()
    drawing.panels[panel].drawn(axes)
    return axes


def dots(axes: Axes) -> list[tuple[float, float]]:
    """The faint dots of single games."""
    return [tuple(at) for one in axes.collections if one.get_gid() == "games" for at in one.get_offsets().tolist()]


def opened(axes: Axes) -> list[tuple[float, float]]:
    """The open marks, of published numbers."""
    lines = [line for line in axes.lines if line.get_marker() in OPEN and line.get_markerfacecolor() == "none"]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in lines]


@pytest.fixture(scope="module")
def compared() -> Loaded:
    """Three planned comparisons, of which the paper prints both sides of the first."""
    printed = (("one", "Ann", 2.0), ("two", "Ann", 2.5), ("one", "Ben", 3.0))
    values = tuple(PublishedValue(arm=arm, bidder=name, value=value) for arm, name, value in printed)
    sides = [({"arm": "two", "bidder": name}, {"arm": "one", "bidder": name}) for name in ("Ann", "Ben", "everyone")]
    profit = of("profit", lambda repeat, bidder: repeat * len(bidder) + (bidder == "Ann") * repeat)
    paper = Published(metric="profit", values=values, **PAPER)
    return loaded({"profit": profit}, comparisons=[between(*two) for two in sides], published=[paper])


@pytest.fixture(scope="module")
def uneven() -> Loaded:
    """Two planned comparisons, of which the second has a thousand times the differences of the first."""
    ben, names = {"arm": "one", "bidder": "Ben"}, {"Ann": 1, "Ben": 0, "Cy": 1000}
    profit = of("profit", lambda repeat, bidder: names[bidder] * repeat)
    planned = [between(ben | {"bidder": name}, ben) for name in ("Ann", "Cy")]
    return loaded({"profit": profit}, comparisons=planned, bidders=tuple(names))


def test_planned_comparisons_stand_first_one_row_each_with_a_line_at_zero_and_a_dot_per_pair(compared):
    name, drawing = next(iter(figures(compared).items()))
    axes = drawn(drawing)
    assert (name, drawing.question, len(axes.get_yticks()), len(dots(axes))) == ("differences", "Who?", 3, 3 * GAMES)
    assert any(list(line.get_xdata()) == [0, 0] for line in axes.lines)
    assert dict(drawing.facts)["n"] == f"{GAMES} pairs of games per comparison"


def test_what_lies_beyond_the_axis_has_a_mark_with_its_count_and_the_caption_says_so(compared, uneven):
    plot = figures(uneven)["differences"]
    axes = drawn(plot)
    [low, high], [cut] = axes.get_xlim(), [one.get_text() for one in axes.texts if "pair" in one.get_text()]
    inside = len(dots(axes))
    assert cut.splitlines() == ["to $4,963", f"{2 * GAMES - inside} pairs to $5,000"]
    assert all(low <= x <= high for x, _ in dots(axes))
    marks = [line for line in axes.lines if line.get_marker() in "<>"]
    assert sorted(float(line.get_xdata()[0]) for line in marks) == [high, high]
    assert "single pairs, with how many they are and the farthest" in plot.caption
    assert "beyond the axis" not in figures(compared)["differences"].caption


def test_a_pair_beyond_the_axis_is_counted_though_its_interval_ends_inside():
    one = forest.Row("profit", [], [], 200.0, -1_000.0, 1_400.0, [-2_600.0, 900.0, 900.0, 900.0, 900.0])
    axes = Sheet(layout="constrained").subplots()
    axes.set_xlim(-1_500, 1_500)
    forest._arrows(axes, 0, one)
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["1 pair to \N{MINUS SIGN}$2,600"]
    assert [line.get_marker() for line in axes.lines] == ["<"]


def test_a_published_difference_is_drawn_only_where_the_paper_prints_both_sides(compared):
    drawing = figures(compared)["differences"]
    assert [x for x, _ in opened(drawn(drawing))] == [0.5]
    assert [key.label for key in drawing.legend if not key.filled] == ["published: a model (A paper, Table 1, n = 15)"]


def test_each_dot_of_a_game_leads_to_its_game_and_to_nothing_where_there_is_no_page(compared):
    def addresses(found: Loaded) -> set[str]:
        marks = drawn(means(found, "profit")).collections
        return {url.split()[0] for one in marks if one.get_gid() == "games" for url in one.get_urls() or [] if url}

    assert addresses(compared) == set()
    linked = Loaded(compared.results)
    linked.link_of = lambda arm, _, repeat: f"games/{arm}-{repeat}.html"
    games = [(arm, repeat) for arm in ("one", "two") for repeat in range(1, GAMES + 1)]
    assert addresses(linked) == {f"games/{arm}-{repeat}.html" for arm, repeat in games}


ENDS = {"survived": (0, 1), "rank": (1, 2), "items_won": (0, 3), "health": (0, 10), "water_bid": (0, 90)}


@pytest.mark.parametrize("metric", ENDS)
def test_axes_of_means_and_of_curves_end_where_the_unit_ends(metric):
    curve = next((one.name for one in FIGURES if one.needs == metric), None)
    values = of(metric, lambda repeat, _: ENDS[metric][repeat % 2], ats=(1, 2, 3) if curve else (None,))
    found = loaded({metric: values})
    ends = drawn(figures(found)[curve]).get_ylim() if curve else drawn(means(found, metric)).get_xlim()
    least, most = metric_of(metric).bounds
    assert least <= min(ends) < max(ends) <= (2 if metric == "rank" else most)


def test_each_row_of_means_has_the_name_of_its_bidder_under_that_of_its_arm_and_published_numbers_lie_in_it(compared):
    axes = drawn(means(compared, "profit"))
    labels = [one.get_text() for one in axes.get_yticklabels()]
    assert labels == ["Ann", "Ben", "everyone"] * 2
    assert [one.get_text() for one in axes.texts] == ["one", "two"]
    rows = [f"{arm} {name}" for arm in ("one", "two") for name in labels[:3]]
    places = dict(zip(axes.get_yticks(), rows, strict=True))
    found = {places[min(places, key=lambda row: abs(row - y))]: x for x, y in opened(axes)}
    assert found == {"one Ann": 2.0, "two Ann": 2.5, "one Ben": 3.0}


def test_whiskers_and_open_marks_are_promised_only_where_they_are_drawn(compared):
    bare = means(repeats("profit", arms=("one",)), "profit")
    assert [word in means(compared, "profit").caption for word in ("Open marks", "Whiskers")] == [True, True]
    assert ("Open marks" in bare.caption, opened(drawn(bare))) == (False, [])
    assert all(key.filled for key in bare.legend)


def test_a_derived_number_passes_as_no_published_one():
    number = PublishedValue(bidder="Ann", value=2.3)
    guess = Published(metric="profit", values=(number,), derived=True, **PAPER | {"n": None})
    planned = between({"arm": "one", "bidder": "Ann"}, {"arm": "two", "bidder": "Ann"})
    found = repeats("profit", published=[guess], comparisons=[planned])
    drawing = means(found, "profit")
    [key] = [one for one in drawing.legend if not one.filled]
    assert (key.label, key.marker in OPEN) == ("derived: a model (A paper, Table 1)", False)
    assert key.marker in [line.get_marker() for line in drawn(drawing).lines]
    assert all(one.filled for one in figures(found)["differences"].legend)


def test_published_sources_and_14_series_have_marks_and_signs_of_their_own():
    keys = [published_key(place, "") for place in range(40)]
    assert len({(one.marker, one.colour) for one in keys}) == len({(one.sign, one.colour) for one in keys}) == 40
    assert len({(colour(place), marker(place)) for place in range(14)}) == 14
    assert len({(entry.colour, entry.sign) for entry in legend(map(str, range(14)))}) == 14


def test_a_column_says_the_numbers_that_it_leaves_out_of_the_picture_and_holm_is_named_where_a_p_is(compared, uneven):
    several = [between({"arm": "two"}, {"arm": "one"}) for _ in range(9)]
    many = loaded({"profit": of("profit", lambda repeat, bidder: repeat * len(bidder))}, comparisons=several)
    told = "Cy \N{MINUS SIGN} Ben one: $3,000 [$1,037, $4,963], p = 0.026."
    for found, words in ((uneven, told), (many, "in the table of planned comparisons")):
        drawing = figures(found)["differences"]
        assert [words in caption(found, drawing, WIDTHS[width]) for width in ("column", "page")] == [True, False]
    said, plot = "p is corrected by Holm over the 2 planned comparisons.", figures(uneven)["differences"]
    assert all(said in caption(uneven, plot, width) for width in WIDTHS.values())
    assert "Holm" not in figures(compared)["differences"].reading()  # equal values: there is no p


def test_lines_differ_by_marker_and_dashes_and_are_named_at_their_ends_or_if_too_many_in_the_legend():
    def health(*bidders):
        return figures(repeats("health", (1, 2), bidders=bidders))["health"]

    axes, many = drawn(health("Ann", "Ben", "Cho", "Dee")), health(*(f"Ann {at}" for at in range(20)))
    assert len({(line.get_marker(), line.get_linestyle()) for line in axes.lines}) == 4
    assert {text.get_text() for text in axes.texts} == {"Ann", "Ben", "Cho", "Dee"}
    assert (len(drawn(many).texts), len(many.legend)) == (0, 20)


@pytest.mark.parametrize("kinds", [2, 10])
def test_the_line_of_a_uniform_guess_is_as_high_as_was_measured_and_promised_only_where_it_is_drawn(kinds):
    guess, metric = math.log(kinds), "profiling_error"
    error = {metric: of(metric, lambda repeat, _: repeat / 4, ats=(1, 2), abouts=("Ben",))}
    uniform = {f"uniform_{metric}": of(f"uniform_{metric}", lambda *_: guess, abouts=("Ben",))}
    drawing = figures(loaded(error | uniform))["profiling-error"]
    axes = drawn(drawing)
    level = [line for line in axes.lines if len(set(line.get_ydata())) == 1 and list(line.get_xdata()) == [0, 1]]
    assert [line.get_ydata()[0] for line in level] == [pytest.approx(guess, abs=5e-4)]
    assert any("uniform guess" in text.get_text() for text in axes.texts)
    assert "Dashed lines" in drawing.caption
    assert "Dashed lines" not in figures(loaded(error))["profiling-error"].caption


def test_actions_are_named_and_bars_differ_by_hatch():
    found = loaded({"strategy_share": of("strategy_share", lambda *_: 0.25, abouts=("A", "B", "D", "F"))})
    drawing = figures(found)["strategic-actions"]
    assert [key.label for key in drawing.legend] == [f"{letter}: {ACTIONS[letter]}" for letter in "ABDF"]
    bars = [one for one in drawn(drawing).patches if isinstance(one, Rectangle) and one.get_width() > 0]
    assert len({bar.get_hatch() for bar in bars}) == len({key.sign for key in drawing.legend}) == 4


def matching(metric, *rows):
    """Measure a metric in each game by its repeat: (value, about, at)."""
    return lambda repeat, bidder: [
        Measurement(metric, float(value(repeat) if callable(value) else value), bidder, about, at)
        for value, about, at in rows
    ]


MATCHING = {
    "priority": matching("priority", (2, "1", 1), (3, "2", 1), (3, "2", 2)),
    "persona_match": matching("persona_match", (lambda n: n % 2 == 0, "", 1), (lambda n: n % 2 == 1, "", 2)),
    "engagement": matching("engagement", (1, "house 1", 1), (2, "house 2", 2)),
}


def framed(axes: Axes) -> list[tuple[float, float]]:
    """The left upper corners of the frames of matched items."""
    return [one.get_xy() for one in axes.patches if to_hex(one.get_edgecolor()) == FRAME]


def test_priorities_and_bids_are_shown_game_by_game_with_matched_items_marked():
    shown = figures(loaded(MATCHING, arms=("one",)))
    games = [f"game {game} · {bidder}" for game in range(1, FIRST_GAMES + 1) for bidder in ("Ann", "Ben")]
    assert [panel.heading for panel in shown["priority-heatmap"].panels] == games
    first = drawn(shown["priority-heatmap"])
    assert framed(first) == [(0, 1)]
    assert [text.get_text() for text in first.get_yticklabels()] == ["1", "◆ 2"]
    assert [text.get_text() for text in first.texts] == ["2", "3", "3"]
    assert len(shown["engagement"].panels) == FIRST_GAMES
    assert framed(drawn(shown["engagement"])) == [(1, 0), (1, 1)]


def test_a_figure_says_its_question_its_games_its_unit_and_its_interval_and_a_stranger_s_at_least_games_and_unit():
    reading = figures(repeats("health", (1, 2), arms=("one",)))["health"].reading()
    assert reading.startswith("Who stays healthy, and until when? ")
    assert reading.endswith(" n = 5 games. The unit is health. Intervals are 95 % over games, by t.")
    mine = figure("Mine", "All.", "profit", question="")(lambda *_: "nothing")
    told = mine.drawn(repeats("profit", arms=("one",)), "profit").reading()
    assert told == "All. n = 5 games. The unit is dollars."


BY_PLACE = {
    "series-profits": "series_profit", "earnings-by-run": "earned_by_run", "profit-by-item": "profit_by_item",
    "prices": "prices", "interest-reliability": "interest_reliability", "profile-reliability": "profile_reliability",
}  # fmt: skip


def by_place(name, **games) -> Drawing:
    """Draw a figure over items, runs or bins."""
    metric = BY_PLACE[name]
    counted = [("Ann", tenth / 10, float(nth < tenth)) for tenth in range(11) for nth in range(10)]

    def measure(repeat, bidder):
        if "reliability" in metric:
            return binned(metric, counted) if bidder == "Ann" else []
        abouts = ("price", "highest bid") if metric == "prices" else ("",)
        return [Measurement(metric, float(repeat * at), bidder, about, at) for about in abouts for at in (1, 2, 3)]

    return figures(loaded({metric: measure}, **games))[name]


def test_over_runs_there_is_a_panel_per_bidder_and_a_line_per_arm_or_of_one_arm_a_line_per_bidder():
    for name in ("series-profits", "earnings-by-run"):
        drawing = by_place(name)
        assert [panel.heading for panel in drawing.panels] == ["Ann", "Ben"]
        lines = [line for line in drawn(drawing).lines if len(line.get_xdata()) == 3]
        assert [list(line.get_ydata()) for line in lines] == [[3, 6, 9]] * 2
        assert [key.label for key in by_place(name, arms=("one",)).legend] == ["Ann", "Ben"]


def test_over_items_prices_and_highest_bids_have_a_panel_each_and_profits_have_intervals():
    prices = by_place("prices")
    assert {panel.heading for panel in prices.panels} == {"price", "highest bid"}
    assert [key.label for key in prices.legend] == ["one", "two"]
    [first, *_] = [band.get_paths()[0].vertices for band in drawn(by_place("profit-by-item")).collections]
    assert first[:, 1].min() < 3 < first[:, 1].max()


@pytest.mark.parametrize("name", ["interest-reliability", "profile-reliability"])
def test_a_calibrated_source_lies_on_the_diagonal(name):
    diagonal, *curves = drawn(by_place(name)).lines
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert len(curves) == 2
    for curve in curves:
        np.testing.assert_allclose(curve.get_xydata(), np.arange(11)[:, None] / [10, 10])


def test_bins_are_pooled_over_games_by_what_was_counted_and_intervals_go_by_draws():
    pairs = {1: [("Ann", 0.5, 1.0)] * 3, 2: [("Ann", 0.5, 1.0), ("Ann", 0.5, 0.0)]}
    one = {"interest_reliability": lambda repeat, _: binned("interest_reliability", pairs[repeat])}
    rows = loaded(one, bidders=("Ann",), arms=("one",), games=2).measurements
    [found] = bins(rows).to_dict("records")
    assert (found["predicted"], found["observed"], found["n"]) == (0.5, 0.8, 5)
    assert 0 <= found["low"] < 0.8 < found["high"] <= 1
    assert np.isnan(bins(rows[rows["repeat"] == 2])["low"]).all()  # one draw has no interval


@pytest.mark.parametrize("name", BY_PLACE)
def test_a_figure_of_one_game_is_drawn_without_an_interval(name):
    drawing = by_place(name, arms=("one",), games=1)
    assert not drawing.failure
    assert drawn(drawing).lines


NEAR = 3  # dots of 300 an inch
BUDGETS = [{"bidders": {"*": {"budget": budget}}} for budget in (10_000, 20_000, 40_000)]


def design(changes, labels=(), of="conditions", **others) -> Experiment:
    """A design of two bidders whose conditions (or arms) have these changes and labels."""
    varied = [
        Variation(name=f"level-{place}", label=label, auction=change)
        for place, (change, label) in enumerate(zip(changes, labels or [""] * len(changes), strict=True), 1)
    ]
    filled = {"arms": (Variation(name="one"),), "repeats": 3, "metrics": ("profit",), of: tuple(varied)} | others
    auction = {"bidders": [{"name": name, "model": "@1"} for name in ("Ann", "Ben")]}
    return Experiment(name="small", title="T", question="Who?", source="S", auction=auction, **filled)


def charted(value=None, bidders=("Ann", "Ben"), **changes) -> Drawing:
    """Draw the means of a design whose conditions are budgets."""

    def measure(*game):
        return [Measurement("profit", float((value or over)(*game, name)), name) for name in bidders]

    return means(held(design(BUDGETS, **changes), measure), "profit")


def published(*values: dict[str, object], model="a model", derived=False, metric="profit", source="S") -> Published:
    numbers = tuple(PublishedValue(**one) for one in values)
    return Published(metric=metric, source=source, model=model, derived=derived, values=numbers)


def arms(*names: str) -> tuple[Variation, ...]:
    return tuple(Variation(name=name) for name in names)


def rules(name: str, *values: object) -> list[dict[str, object]]:
    return [{"rules": {name: value}} for value in values]


def over(arm, place, repeat, bidder) -> float:
    return 10 * place + repeat + len(bidder) * (arm == "one") + (bidder == "Ann")


def rivals(count: int, **others) -> dict[str, object]:
    return {"bidders": [{"name": f"Bidder {seat}", "model": "@1", **others} for seat in range(count)]}


def three(axes: Axes) -> list:
    """The lines over three places."""
    return [line for line in axes.lines if len(line.get_xdata()) == 3]


@pytest.mark.parametrize(("changes", "labels", "title", "ticks"), [
    (BUDGETS, ("$10,000", "$20,000", "$40,000"), "budget", ["$10,000", "$20,000", "$40,000"]),
    (BUDGETS, ("$1", "$2", "$4"), "budget", ["10000", "20000", "40000"]),
    (BUDGETS, (), "budget", ["10000", "20000", "40000"]),
    (rules("fee", -2, 2), ("-2 a bid", "2 a bid"), "a bid", ["-2", "2"]),
    (rules("cut", 0.1, 0.25), ("10 % cut", "25 % cut"), "cut", ["10 %", "25 %"]),
    (rules("cut", 0.1, 0.25), ("10 cut", "25 cut"), "cut", ["0.1", "0.25"]),
    ([rivals(2), rivals(3)], ("2 rivals", "3 rivals"), "rivals", ["2", "3"]),
    ([rivals(2), rivals(3)], ("1 rival", "2 rivals"), "number of bidders", ["2", "3"]),
    (rules("supply", "low", "high", "medium"), (), "supply", ["low", "high", "medium"]),
])  # fmt: skip
def test_a_scale_is_read_from_the_settings_and_its_numbers_from_labels_that_say_the_same(changes, labels, title, ticks):
    scale = scale_of(design(changes, labels))
    assert (scale.title, list(scale.ticks.values())) == (title, ticks)


@pytest.mark.parametrize("changes", [
    rules("way", "open", "sealed"), rules("hints", False, True), [{"seed": one} for one in (1, 2)],
    [{}, {"rules": {"fee": 2}}], [{"rules": {"fee": 1, "cut": 1}}, {"rules": {"fee": 2, "cut": 3}}],
    [{"rules": {"fee": 1, "way": "a"}}, {"rules": {"fee": 2, "way": "b"}}], [rivals(2), rivals(3, aim="items")],
    rules("fee", 1, 1),
])  # fmt: skip
def test_what_differs_by_words_by_the_seed_by_nothing_or_by_two_things_at_once_has_no_scale(changes):
    assert scale_of(design(changes)) is None


def test_a_second_setting_parts_the_series_if_each_has_all_numbers():
    changes = [{"rules": {"fee": fee, "way": way}} for fee in (1, 2) for way in ("open", "sealed")]
    scale = scale_of(design(changes, of="arms"))
    assert (scale.of, [*scale.at.values()], [*scale.series.values()]) == ("arm", [1, 1, 2, 2], ["open", "sealed"] * 2)


def test_conditions_with_a_scale_are_one_line_each_bidder_at_their_means_with_intervals_and_games():
    [panel] = charted().panels
    axes = drawn(charted())
    lines = three(axes)
    assert [list(line.get_ydata()) for line in lines] == [[6, 16, 26], [5, 15, 25], [5.5, 15.5, 25.5]]
    assert all(abs(x - budget) < 1_000 for x, budget in zip(lines[0].get_xdata(), (1e4, 2e4, 4e4), strict=True))
    assert sum(len(one.get_segments()) for one in axes.collections if hasattr(one, "get_segments")) == 3 * 3
    assert sum(len(one.get_offsets()) for one in axes.collections if one.get_gid() == "games") == 3 * 2 * 3
    assert axes.get_xlabel() == "budget"
    assert "level-1 Ann $6" in panel.alt


def test_arms_are_lines_of_one_bidder_and_panels_of_several():
    alone, several = (charted(bidders=names, arms=arms("one", "two")) for names in (("Ann",), ("Ann", "Ben")))
    assert [key.label for key in alone.legend] == ["one", "two", "single games"]
    assert "All are of Ann." in alone.caption
    assert [panel.heading for panel in several.panels] == ["one", "two"]
    assert [key.label for key in several.legend][:2] == ["Ann", "Ben"]


def test_a_derived_number_is_a_dashed_level_or_line_named_by_itself_and_a_published_one_an_open_mark():
    guess = published({"bidder": "Ann", "value": 7.5}, model="a guess", derived=True)
    number = published({"bidder": "Ann", "value": 12.5, "condition": "level-2"})
    drawing = charted(bidders=("Ann",), published=[guess, number])
    axes = drawn(drawing)
    assert [line.get_ydata()[0] for line in axes.lines if list(line.get_xdata()) == [0, 1]] == [7.5]
    opened = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert [(line.get_ydata()[0], line.get_color()) for line in opened] == [(12.5, colour(0))]
    assert [key.label for key in drawing.legend if not key.filled] == ["published: a model (S)"]
    assert "a guess, $7.50" in [key.label for key in drawing.legend]

    values = ({"bidder": "Ann", "condition": f"level-{level}", "value": 10.0 * level} for level in (1, 2, 3))
    over_it = charted(bidders=("Ann",), published=[published(*values, model="a guess", derived=True)])
    [line] = [one for one in three(drawn(over_it)) if one.get_linestyle() == "--"]
    assert list(zip(line.get_xdata(), line.get_ydata(), strict=True)) == [(1e4, 10), (2e4, 20), (4e4, 30)]
    assert "a guess" in [key.label for key in over_it.legend]


def test_what_never_varies_is_told_and_not_drawn():
    assert charted(lambda *_: 0.3) is None


def test_a_figure_of_one_game_says_that_it_has_no_intervals():
    said = "There are no intervals, as each mark is of one game."
    assert [(said in one, "Whiskers" in one) for one in (charted(repeats=1).caption, charted().caption)] == [
        (True, False), (False, True),
    ]  # fmt: skip


def test_forty_arms_over_a_scale_are_on_panels_of_seven_lines_of_which_a_page_draws_the_first():
    forty = tuple(Variation(name=f"arm-{at}", label=f"{at} " + "long " * 40) for at in range(40))
    drawing = charted(bidders=("Ann",), arms=forty)
    assert [len(three(drawn(drawing, at))) for at in range(6)] == [7] * 5 + [5]
    check_boxes(charted(bidders=("Ann",), arms=forty[:16]))
    assert len(inlined("x", drawing).charts) == MOST_PANELS < 6


def lie_on_each_other(one: Text, other: Text) -> bool:
    first, second = Text.get_window_extent(one), Text.get_window_extent(other)  # without leader lines
    apart = max(first.x0, second.x0) - min(first.x1, second.x1), max(first.y0, second.y0) - min(first.y1, second.y1)
    return max(apart) < -NEAR


def check_boxes(drawing):
    """Each page is no higher than paper; its texts are inside, at least 7 pt, and do not lie on each other."""
    width = WIDTHS["column"]
    with mpl.rc_context(FILE_STYLE):
        for page in pages(drawing, width):
            assert sum(map(row_height, page.rows)) + legend_height(page.legend, width) <= TALLEST
            sheet = _figure(page, width)
            sheet.draw_without_rendering()
            ticks = list[Text]()
            for axes in sheet.findobj(Axes):
                pairs = combinations([one for one in axes.texts if one.get_text().strip()], 2)
                assert not any(lie_on_each_other(*pair) for pair in pairs), drawing.title
                for axis in (axes.xaxis, axes.yaxis):
                    ticks += axis.get_ticklabels()
                    low, high = sorted(axis.get_view_interval())
                    upright = axis is axes.yaxis
                    labels = [one for one in axis.get_majorticklabels() if low <= one.get_position()[upright] <= high]
                    boxes = [one.get_window_extent() for one in labels if one.get_text()]
                    spans = sorted((one.y0, one.y1) if upright else (one.x0, one.x1) for one in boxes)
                    assert all(one[1] <= other[0] + NEAR for one, other in pairwise(spans)), (drawing.title, labels)
            for text in (one for one in sheet.findobj(Text) if one not in ticks and one.get_text().strip()):
                assert text.get_fontsize() >= 7, text
                box = text.get_window_extent()
                edges = box.x0, box.y0, sheet.bbox.x1 - box.x1, sheet.bbox.y1 - box.y1
                assert min(edges) >= -NEAR or not text.get_in_layout(), (drawing.title, text)


@pytest.mark.slow
@pytest.mark.parametrize("name", some(sorted(presets()), ["english-private"]))
def test_the_texts_of_each_figure_of_a_preset_are_on_the_page_legible_and_apart(name):
    found = Loaded(full(name))
    for drawing in drawings(found).values():
        check_boxes(drawing)
        assert caption(found, drawing, WIDTHS["column"])


@pytest.mark.parametrize(("preset", "first", "more"), [
    ("learning", "ranks", ()), ("persona-behaviour", "priorities-by-match", ()), ("water", "means-survived", ()),
    ("profiling", "means-final_profiling_error", ("profile-reliability",)), ("tom", "differences", ()),
    ("by-item", "profit-by-item", ("prices",)),
])  # fmt: skip
def test_what_answers_the_question_of_a_preset_stands_first_and_is_drawn_beyond_means(preset, first, more):
    ways = [*ways_to_draw(Loaded(full(preset)))]
    assert ways[0] == first
    assert {*more} <= {*ways}


RUNS = ("deviation", "deviation_path", "action")


def in_runs(runs: dict[str, int], metrics=RUNS) -> Loaded:
    """Games of conditions with so many runs each, of which these metrics are measured."""
    plan = design([{}], metrics=metrics).model_copy(update={"conditions": arms(*runs)})
    return held(plan, lambda _, place, repeat: [
        Measurement(metric, float(repeat * run), bidder, "", None if metric == "deviation" else run)
        for metric in metrics for bidder in ("Ann", "Ben") for run in range(1, [*runs.values()][place] + 1)
    ])  # fmt: skip


def test_what_a_figure_shows_from_run_to_run_has_panels_of_several_runs_alone_and_is_not_drawn_as_a_mean_again():
    shown = drawings(in_runs({"once": 1, "often": 4}))
    assert set(shown) >= {"deviations", "actions", "means-deviation"}
    assert not {"means-deviation_path", "means-action"} & set(shown)
    assert [[panel.heading for panel in shown[name].panels] for name in ("deviations", "actions")] == [["often"]] * 2
    single = drawings(in_runs({"once": 1, "never": 1}))
    assert not {"deviations", "actions"} & set(single)
    assert "means-deviation" in single


def test_a_published_number_of_a_metric_that_a_figure_shows_stays_in_its_table():
    found = in_runs({"often": 4}, metrics=("action",))
    number = published({"bidder": "Ann", "value": 4.2}, metric="action")
    plan = found.experiment.model_copy(update={"published": (number,)})
    [section] = [one for one in sections(Loaded(replace(found.results, experiment=plan))) if one.name == "action"]
    assert section.drawing is None
    assert [row[-1].text for row in section.table.rows].count("4.20") == 1
