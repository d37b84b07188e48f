"""The design decides how its means are drawn: over its scale as lines, in rows where there is no order."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import matplotlib as mpl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet
from matplotlib.text import Text

from harbor.evaluation._experiments.design import Experiment, Published, PublishedValue, Variation
from harbor.evaluation._experiments.library import presets
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._report.drawing.canvas import Drawing, colour
from harbor.evaluation._report.drawing.inline import MOST_PANELS, inlined
from harbor.evaluation._report.page.page import sections
from harbor.evaluation._report.paper.figure_files import FILE_STYLE, WIDTHS, _figure, caption, drawings
from harbor.evaluation._report.paper.paging import TALLEST, legend_height, pages, row_height
from harbor.evaluation._report.plots.figures import means, ways_to_draw
from harbor.evaluation._report.plots.mean_lines import scale_of
from harbor.evaluation._report.tabular.loading import Loaded
from support.cases import some
from support.filled import full

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


def played(plan: Experiment, value, bidders=("Ann", "Ben")) -> Loaded:
    """Games of a design; `value` gives a number by arm, the place of the condition, repeat and bidder."""
    records = [
        TrialRecord(arm.name, condition.name, repeat, 7, "finished", measurements=tuple(
            Measurement("profit", float(value(arm.name, place, repeat, bidder)), bidder) for bidder in bidders
        ))
        for arm in plan.arms for place, condition in enumerate(plan.conditions) for repeat in range(1, plan.repeats + 1)
    ]  # fmt: skip
    return Loaded(Results(plan, tuple(records)))


def drawn(value=None, bidders=("Ann", "Ben"), **changes) -> Drawing:
    """Draw the means of a design whose conditions are budgets."""
    return means(played(design(BUDGETS, **changes), value or over, bidders=bidders), "profit")


def published(*values: dict[str, object], model="a model", derived=False, metric="profit", source="S") -> Published:
    numbers = tuple(PublishedValue(**one) for one in values)
    return Published(metric=metric, source=source, model=model, derived=derived, values=numbers)


def arms(*names: str) -> tuple[Variation, ...]:
    return tuple(Variation(name=name) for name in names)


def rules(name: str, *values: object) -> list[dict[str, object]]:
    return [{"rules": {name: value}} for value in values]


def over(arm, place, repeat, bidder) -> float:
    return 10 * place + repeat + len(bidder) * (arm == "one") + (bidder == "Ann")


def axes_of(drawing, panel=0):
    axes = Sheet(layout="constrained").subplots()
    drawing.panels[panel].drawn(axes)
    return axes


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
    [panel] = drawn().panels
    axes = axes_of(drawn())
    lines = three(axes)
    assert [list(line.get_ydata()) for line in lines] == [[6, 16, 26], [5, 15, 25], [5.5, 15.5, 25.5]]
    assert all(abs(x - budget) < 1_000 for x, budget in zip(lines[0].get_xdata(), (1e4, 2e4, 4e4), strict=True))
    assert sum(len(one.get_segments()) for one in axes.collections if hasattr(one, "get_segments")) == 3 * 3
    assert sum(len(one.get_offsets()) for one in axes.collections if one.get_gid() == "games") == 3 * 2 * 3
    assert axes.get_xlabel() == "budget"
    assert "level-1 Ann $6" in panel.alt


def test_arms_are_lines_of_one_bidder_and_panels_of_several():
    alone, several = (drawn(bidders=names, arms=arms("one", "two")) for names in (("Ann",), ("Ann", "Ben")))
    assert [key.label for key in alone.legend] == ["one", "two", "single games"]
    assert "All are of Ann." in alone.caption
    assert [panel.heading for panel in several.panels] == ["one", "two"]
    assert [key.label for key in several.legend][:2] == ["Ann", "Ben"]


def test_a_derived_number_is_a_dashed_level_or_line_named_by_itself_and_a_published_one_an_open_mark():
    guess = published({"bidder": "Ann", "value": 7.5}, model="a guess", derived=True)
    number = published({"bidder": "Ann", "value": 12.5, "condition": "level-2"})
    drawing = drawn(bidders=("Ann",), published=[guess, number])
    axes = axes_of(drawing)
    assert [line.get_ydata()[0] for line in axes.lines if list(line.get_xdata()) == [0, 1]] == [7.5]
    opened = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert [(line.get_ydata()[0], line.get_color()) for line in opened] == [(12.5, colour(0))]
    assert [key.label for key in drawing.legend if not key.filled] == ["published: a model (S)"]
    assert "a guess, $7.50" in [key.label for key in drawing.legend]

    values = ({"bidder": "Ann", "condition": f"level-{level}", "value": 10.0 * level} for level in (1, 2, 3))
    over_it = drawn(bidders=("Ann",), published=[published(*values, model="a guess", derived=True)])
    [line] = [one for one in three(axes_of(over_it)) if one.get_linestyle() == "--"]
    assert list(zip(line.get_xdata(), line.get_ydata(), strict=True)) == [(1e4, 10), (2e4, 20), (4e4, 30)]
    assert "a guess" in [key.label for key in over_it.legend]


def test_what_never_varies_is_told_and_not_drawn():
    assert drawn(lambda *_: 0.3) is None


def test_a_figure_of_one_game_says_that_it_has_no_intervals():
    said = "There are no intervals, as each mark is of one game."
    assert [(said in one, "Whiskers" in one) for one in (drawn(repeats=1).caption, drawn().caption)] == [
        (True, False), (False, True),
    ]  # fmt: skip


def test_forty_arms_over_a_scale_are_on_panels_of_seven_lines_of_which_a_page_draws_the_first():
    forty = tuple(Variation(name=f"arm-{at}", label=f"{at} " + "long " * 40) for at in range(40))
    drawing = drawn(bidders=("Ann",), arms=forty)
    assert [len(three(axes_of(drawing, at))) for at in range(6)] == [7] * 5 + [5]
    check_boxes(drawing)
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
    records = [
        TrialRecord("one", name, repeat, 7, "finished", measurements=tuple(
            Measurement(metric, float(repeat * run), bidder, "", None if metric == "deviation" else run)
            for metric in metrics for bidder in ("Ann", "Ben") for run in range(1, last + 1)
        ))
        for name, last in runs.items() for repeat in range(1, plan.repeats + 1)
    ]  # fmt: skip
    return Loaded(Results(plan, tuple(records)))


def test_what_a_figure_shows_from_run_to_run_has_panels_of_several_runs_alone_and_is_not_drawn_as_a_mean_again():
    drawn = drawings(in_runs({"once": 1, "often": 4}))
    assert set(drawn) >= {"deviations", "actions", "means-deviation"}
    assert not {"means-deviation_path", "means-action"} & set(drawn)
    assert [[panel.heading for panel in drawn[name].panels] for name in ("deviations", "actions")] == [["often"]] * 2
    single = drawings(in_runs({"once": 1, "never": 1}))
    assert not {"deviations", "actions"} & set(single)
    assert "means-deviation" in single


def test_a_published_number_of_a_metric_that_a_figure_shows_stays_in_its_table():
    held = in_runs({"often": 4}, metrics=("action",))
    number = published({"bidder": "Ann", "value": 4.2}, metric="action")
    plan = held.experiment.model_copy(update={"published": (number,)})
    [section] = [one for one in sections(Loaded(replace(held.results, experiment=plan))) if one.name == "action"]
    assert section.drawing is None
    assert [row[-1].text for row in section.table.rows].count("4.20") == 1
