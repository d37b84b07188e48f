"""What figures draw, by structure: axes inside the scale, a mark per game and comparison, marks that differ in grey."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Sheet
from matplotlib.patches import Rectangle

from harbor.evaluation import figure
from harbor.evaluation._experiments.design import Comparison, Experiment, Published, PublishedValue, Side, Variation
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Measurement, metric_of
from harbor.evaluation._metrics.strategy import ACTIONS
from harbor.evaluation._report.drawing.canvas import Drawing, colour, legend, marker, titled
from harbor.evaluation._report.drawing.series_marks import LEAST_GAP, OPEN, apart, published_key, told_apart
from harbor.evaluation._report.paper.figure_files import WIDTHS, caption, drawings
from harbor.evaluation._report.plots import forest
from harbor.evaluation._report.plots.built_in import FIGURES
from harbor.evaluation._report.plots.figures import figures, means
from harbor.evaluation._report.plots.forest import stacked
from harbor.evaluation._report.plots.heatmaps import FIRST_GAMES, FRAME
from harbor.evaluation._report.tabular.loading import Loaded

GAMES = 5
PAPER = {"source": "A paper, Table 1", "model": "a model", "n": 15}


def loaded(metrics: dict[str, object], bidders=("Ann", "Ben"), arms=("one", "two"), **design) -> Loaded:
    """Games of two arms; each metric has a function from repeat and bidder to its measurements."""
    experiment = Experiment(
        name="small", title="T", question="Who?", source="S", repeats=GAMES, metrics=tuple(metrics),
        auction={"bidders": [{"name": name, "model": "@1"} for name in bidders]},
        arms=tuple(Variation(name=name) for name in arms), **design,
    )  # fmt: skip
    repeats = range(1, GAMES + 1)
    rows = {n: [one for value in metrics.values() for name in bidders for one in value(n, name)] for n in repeats}
    games = [TrialRecord(arm, "all", n, 7, "finished", measurements=tuple(rows[n])) for arm in arms for n in repeats]
    return Loaded(Results(experiment, tuple(games)))


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
    return loaded(
        {"profit": of("profit", lambda repeat, bidder: repeat * len(bidder) + (bidder == "Ann") * repeat)},
        comparisons=[between(*two) for two in sides], published=[Published(metric="profit", values=values, **PAPER)],
    )  # fmt: skip


@pytest.fixture(scope="module")
def uneven() -> Loaded:
    """Two planned comparisons, of which the second has a thousand times the differences of the first."""
    ben = {"arm": "one", "bidder": "Ben"}
    return loaded(
        {"profit": of("profit", lambda repeat, bidder: {"Ann": 1, "Ben": 0, "Cy": 1000}[bidder] * repeat)},
        comparisons=[between(ben | {"bidder": name}, ben) for name in ("Ann", "Cy")], bidders=("Ann", "Ben", "Cy"),
    )  # fmt: skip


def test_planned_comparisons_stand_first_one_row_each_with_a_line_at_zero_and_a_dot_per_pair(compared):
    name, drawing = next(iter(figures(compared).items()))
    axes = drawn(drawing)
    assert name == "differences"
    assert len(axes.get_yticks()) == 3
    assert len(dots(axes)) == 3 * GAMES
    assert any(list(line.get_xdata()) == [0, 0] for line in axes.lines)
    assert drawing.question == "Who?"
    assert dict(drawing.facts)["n"] == f"{GAMES} pairs of games per comparison"


def test_no_pair_is_outside_the_axis_however_far_it_is_from_the_others():
    far = loaded(
        {"profit": of("profit", lambda repeat, bidder: (1e6 if repeat == 1 else -(repeat % 2)) * (bidder == "Ann"))},
        comparisons=[between({"arm": "one", "bidder": "Ann"}, {"arm": "one", "bidder": "Ben"})],
    )
    axes = drawn(figures(far)["differences"])
    low, high = axes.get_xlim()
    assert sorted(x for x, _ in dots(axes)) == [-1.0, -1.0, 0.0, 0.0, 1e6]
    assert low < -1.0 < 1e6 < high


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


def test_pairs_at_one_place_are_stacked_inside_their_row():
    assert stacked([1, 1, 5, 1], 10) == pytest.approx([0.2, 0.3, 0.2, 0.4])
    many = stacked([1] * 50, 10)
    assert len(set(many)) == 50
    assert max(many) <= 0.45 + 1e-9
    assert stacked([], 10) == []


def test_a_published_difference_is_drawn_only_where_the_paper_prints_both_sides(compared):
    drawing = figures(compared)["differences"]
    assert [x for x, _ in opened(drawn(drawing))] == [0.5]
    assert [key.label for key in drawing.legend if not key.filled] == ["published: a model (A paper, Table 1, n = 15)"]


def test_published_numbers_lie_on_the_means_exactly_where_there_are_any(compared):
    assert sorted(x for x, _ in opened(drawn(means(compared, "profit")))) == [2.0, 2.5, 3.0]
    bare = repeats("profit")
    assert opened(drawn(means(bare, "profit"))) == []
    assert all(key.filled for key in means(bare, "profit").legend)


def test_each_dot_of_a_game_leads_to_its_game_and_to_nothing_where_there_is_no_page(compared):
    def addresses(found: Loaded) -> set[str]:
        marks = drawn(means(found, "profit")).collections
        return {url.split()[0] for one in marks if one.get_gid() == "games" for url in one.get_urls() or [] if url}

    assert addresses(compared) == set()
    linked = Loaded(compared.results)
    linked.link_of = lambda arm, _, repeat: f"games/{arm}-{repeat}.html"
    games = [(arm, repeat) for arm in ("one", "two") for repeat in range(1, GAMES + 1)]
    assert addresses(linked) == {f"games/{arm}-{repeat}.html" for arm, repeat in games}


@pytest.mark.parametrize(("metric", "values"), [
    ("survived", (0, 1)), ("rank", (1, 2)), ("items_won", (0, 3)), ("acquisition_rate", (0, 1)), ("health", (0, 10)),
    ("series_rank", (1, 2)), ("water_bid", (0, 90)),
])  # fmt: skip
def test_axes_of_means_and_of_curves_end_where_the_unit_ends(metric, values):
    curve = next((one.name for one in FIGURES if one.needs == metric), None)
    found = loaded({metric: of(metric, lambda repeat, _: values[repeat % 2], ats=(1, 2, 3) if curve else (None,))})
    low, high = sorted(drawn(figures(found)[curve]).get_ylim() if curve else drawn(means(found, metric)).get_xlim())
    least, most = metric_of(metric).bounds
    assert low >= least
    assert high <= (2 if "rank" in metric else most)


def labels(axes: Axes) -> list[str]:
    """The labels of the rows of a chart."""
    return [one.get_text() for one in axes.get_yticklabels()]


def test_each_row_of_means_has_the_name_of_its_bidder_under_that_of_its_arm_and_published_numbers_lie_in_it(compared):
    axes = drawn(means(compared, "profit"))
    assert labels(axes) == ["Ann", "Ben", "everyone"] * 2
    assert [one.get_text() for one in axes.texts] == ["one", "two"]
    rows = [f"{arm} {name}" for arm in ("one", "two") for name in labels(axes)[:3]]
    places = dict(zip(axes.get_yticks(), rows, strict=True))
    found = {places[min(places, key=lambda row: abs(row - y))]: x for x, y in opened(axes)}
    assert found == {"one Ann": 2.0, "two Ann": 2.5, "one Ben": 3.0}


def test_everyone_has_no_row_where_what_one_has_others_lack():
    found = loaded({"rank": of("rank", lambda repeat, bidder: 1 + (len(bidder) + repeat) % 2)}, bidders=("Ann", "Beno"))
    assert labels(drawn(means(found, "rank"))) == ["Ann", "Beno"] * 2


def test_the_mean_of_everyone_is_left_out_where_it_is_that_of_one_and_the_caption_names_the_one():
    all_of, none = of("profit", lambda repeat, _: repeat), []
    drawing = means(loaded({"profit": lambda repeat, who: all_of(repeat, who) if who == "Ann" else none}), "profit")
    assert labels(drawn(drawing)) == ["one", "two"]
    assert "All rows are of Ann." in drawing.caption


def test_the_caption_of_means_promises_whiskers_and_open_marks_only_where_they_are_drawn(compared):
    assert "Open marks" in means(compared, "profit").caption
    assert "Whiskers" in means(compared, "profit").caption
    assert "Open marks" not in means(repeats("profit", arms=("one",)), "profit").caption


def test_a_derived_number_passes_as_no_published_one():
    number = PublishedValue(bidder="Ann", value=2.3)
    guess = Published(metric="profit", values=(number,), derived=True, **PAPER | {"n": None})
    planned = between({"arm": "one", "bidder": "Ann"}, {"arm": "two", "bidder": "Ann"})
    found = repeats("profit", published=[guess], comparisons=[planned])
    drawing = means(found, "profit")
    [key] = [one for one in drawing.legend if not one.filled]
    assert key.label == "derived: a model (A paper, Table 1)"
    assert key.marker not in OPEN
    assert key.marker in [line.get_marker() for line in drawn(drawing).lines]
    assert all(one.filled for one in figures(found)["differences"].legend)


def test_published_sources_and_14_series_have_marks_and_signs_of_their_own():
    keys = [published_key(place, "") for place in range(40)]
    assert len({(one.marker, one.colour) for one in keys}) == len({(one.sign, one.colour) for one in keys}) == 40
    assert len({(colour(place), marker(place)) for place in range(14)}) == 14
    assert len({(entry.colour, entry.sign) for entry in legend(map(str, range(14)))}) == 14


def test_no_axis_says_the_same_as_its_unit():
    assert titled("final_profile_brier") == "Brier score of the last profile"
    assert titled("items_won") == "items that a bidder won"
    assert titled("final_profiling_error").endswith(", nats")


def test_a_column_says_the_numbers_that_it_leaves_out_of_the_picture_and_of_many_where_they_are(uneven):
    several = [between({"arm": "two"}, {"arm": "one"}) for _ in range(9)]
    many = loaded({"profit": of("profit", lambda repeat, bidder: repeat * len(bidder))}, comparisons=several)
    told = "Cy \N{MINUS SIGN} Ben one: $3,000 [$1,037, $4,963], p = 0.026."
    for found, words in ((uneven, told), (many, "in the table of planned comparisons")):
        drawing = figures(found)["differences"]
        assert words in caption(found, drawing, WIDTHS["column"])
        assert words not in caption(found, drawing, WIDTHS["page"])


def test_lines_differ_by_marker_and_dashes_and_are_named_at_their_ends_or_if_too_many_in_the_legend():
    axes = drawn(figures(repeats("health", (1, 2), bidders=("Ann", "Ben", "Cho", "Dee")))["health"])
    assert len({(line.get_marker(), line.get_linestyle()) for line in axes.lines}) == 4
    assert {text.get_text() for text in axes.texts} == {"Ann", "Ben", "Cho", "Dee"}
    many = figures(repeats("health", (1, 2), bidders=tuple(f"Ann {at}" for at in range(20))))["health"]
    assert not drawn(many).texts
    assert len(many.legend) == 20


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
    assert "nats" in axes.get_ylabel()
    assert "Dashed lines" in drawing.caption
    assert "Dashed lines" not in figures(loaded(error))["profiling-error"].caption


def test_actions_are_named_and_bars_differ_by_hatch():
    found = loaded({"strategy_share": of("strategy_share", lambda *_: 0.25, abouts=("A", "B", "D", "F"))})
    drawing = figures(found)["strategic-actions"]
    assert [key.label for key in drawing.legend] == [f"{letter}: {ACTIONS[letter]}" for letter in "ABDF"]
    bars = [one for one in drawn(drawing).patches if isinstance(one, Rectangle) and one.get_width() > 0]
    assert len({bar.get_hatch() for bar in bars}) == 4
    assert len({key.sign for key in drawing.legend}) == 4


MATCHING = {
    "priority": lambda _, bidder: [
        Measurement("priority", float(1 + item % 3), bidder, str(item), now) for now, item in ((1, 1), (1, 2), (2, 2))
    ],
    "persona_match": lambda repeat, bidder: [
        Measurement("persona_match", float(item == 1 + repeat % 2), bidder, "", item) for item in (1, 2)
    ],
    "engagement": lambda _, bidder: [
        Measurement("engagement", float(item), bidder, f"house {item}", item) for item in (1, 2)
    ],
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
    assert len(shown["engagement"].panels) == FIRST_GAMES
    assert framed(drawn(shown["engagement"])) == [(1, 0), (1, 1)]


def test_priorities_without_known_matches_are_means_with_one_scale_for_all_panels():
    drawing = figures(loaded({"priority": MATCHING["priority"]}, arms=("one",)))["priority-heatmap"]
    assert [key.label for key in drawing.legend] == [f"mean priority {mean}" for mean in ("1", "1.5", "2", "2.5", "3")]
    assert len({key.colour for key in drawing.legend}) == 5
    assert len(drawn(drawing).figure.axes) == 1


def test_matched_items_and_others_have_a_dot_per_game_on_one_axis():
    kinds = (("matched_engagement", 2), ("unmatched_engagement", 0))
    both = {name: of(name, lambda repeat, _, plus=plus: repeat % 2 + plus) for name, plus in kinds}
    axes = drawn(figures(loaded(both, arms=("one",)))["engagement-by-match"])
    assert len(dots(axes)) == 2 * 2 * GAMES
    assert axes.get_xlim()[0] >= 0


def test_a_figure_says_its_question_its_games_its_unit_and_its_interval_and_a_stranger_s_at_least_games_and_unit():
    reading = figures(repeats("health", (1, 2), arms=("one",)))["health"].reading()
    assert reading.startswith("Who stays healthy, and until when? ")
    assert reading.endswith(" n = 5 games. The unit is health. Intervals are 95 % over games, by t.")
    mine = figure("Mine", "All.", "profit", question="")(lambda *_: "nothing")
    told = mine.drawn(repeats("profit", arms=("one",)), "profit").reading()
    assert told == "All. n = 5 games. The unit is dollars."


def test_holm_is_named_only_where_a_p_is_printed(compared, uneven):
    plot, said = figures(uneven)["differences"], "p is corrected by Holm over the 2 planned comparisons."
    assert said in caption(uneven, plot, WIDTHS["page"])
    assert said in caption(uneven, plot, WIDTHS["column"])
    assert "Holm" not in figures(compared)["differences"].reading()  # equal values: there is no p


def test_no_figure_reads_as_if_it_came_from_a_paper_and_each_asks_a_question():
    assert not [one.name for one in FIGURES if "Source" in one.caption]
    assert all(one.question.endswith("?") for one in FIGURES)


def test_labels_at_one_height_are_moved_apart_and_stay_inside():
    for heights in ([0.0] * 5, [1.0] * 5, [0.0] + [1.0] * 6, [0.0] * 3 + [0.98] * 4, [0.5, 0.5, 0.52], [0.1, 0.9], []):
        placed = apart(heights)
        assert all(later - earlier >= LEAST_GAP - 1e-3 for earlier, later in pairwise(placed))
        assert all(-1e-9 <= one <= 1 + 1e-9 for one in placed)


def test_labels_leave_out_the_words_that_all_end_with():
    assert told_apart(["0 houses a rival", "1 house a rival"]) == ["0 houses", "1 house"]
    assert told_apart(["2 rivals", "3 rivals"]) == ["2", "3"]
    assert told_apart(["alone"]) == ["alone"]


def test_a_figure_that_is_asked_for_is_drawn_alone_and_nothing_is_analysed_for_others(compared):
    name = next(iter(drawings(compared)))
    anew = Loaded(compared.results)
    assert drawings(anew, "no such figure") == {}
    assert "analysis" not in vars(anew)
    assert [*drawings(anew, name)] == [name]
    assert "ratings" not in vars(anew.analysis)


def test_shades_are_in_the_legend_where_cells_have_no_room_for_numbers():
    many = {"engagement": lambda _, bidder: [Measurement("engagement", 2.0, bidder, "", item) for item in range(1, 31)]}
    wide = figures(loaded(many, arms=("one",)))["engagement"]
    assert [key.label for key in wide.legend] == ["the darker, the more bids"]
    assert not [text for text in drawn(wide).texts if text.get_text() == "2"]
    assert "the darker, the more bids" not in [one.label for one in figures(loaded(MATCHING))["engagement"].legend]
