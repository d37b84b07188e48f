"""The suites for metrics and figures find each broken promise."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import count

import pytest

from harbor.evaluation import Figure, Metric, by_bidder, figure, measured, metric
from harbor.evaluation._report.drawing.canvas import Drawing, paint
from harbor.events import BidderSeated, SaleClosed, SaleOpened
from harbor.games import of_type
from harbor.testing import check_figure, check_metric


@metric("letters of a name", "letters", name="letters")
def letters(name, entries):
    """Count the letters of each bidder's name."""
    return by_bidder(name, {seat.bidder: len(seat.bidder) for seat in of_type(entries, BidderSeated)})


@figure("Letters", "Mean over games.", "profit", name="letters-figure")
def drawn(axes, values):
    """Draw the profits."""
    axes.bar(range(len(values)), values["value"])
    return f"{len(values)} values"


NUMBERS = count()


@pytest.fixture(autouse=True)
def _forgotten(stranger):
    """Keep nothing of what these tests bring."""


def broken(promise, **changes):
    with pytest.raises(AssertionError, match=promise):
        check_metric(replace(letters, **changes))


def measuring(give):
    """Make a function that measures so."""

    def measure(name, entries):
        """Measure."""
        return give(name, entries)

    return measure


def test_a_metric_of_a_strangers_keeps_its_promises(stranger):
    check_metric(letters)
    check_metric(stranger("my_metric.metric").my_metric)


@pytest.mark.parametrize("part", [one.name for one in fields(Metric) if "part" in one.metadata])
def test_a_missing_part_of_a_metric_is_named(part):
    broken(f"lacks {part}: ", **{part: None})


def test_a_metric_without_a_docstring_is_named():
    broken("'letters' has no docstring that gives its formula", measure=lambda name, entries: [])


@pytest.mark.parametrize(
    ("give", "promise"),
    [
        (lambda name, entries: {}["nothing"], "fails where the log breaks off .*KeyError"),
        (lambda name, entries: [measured(name, -1)], "it gave -1.0, and no share"),
        (lambda name, entries: [measured(name, float("nan"))], "and no number"),
        (lambda name, entries: [measured(name, None)], "it gave a missing value without a reason"),
        (lambda name, entries: [measured("profit", 1)], "it measured 'profit' under the name 'letters'"),
        (lambda name, entries: [measured(name, 1 / (1 + next(NUMBERS)))], "measures twice otherwise"),
        (lambda name, entries: [measured(name, None, missing="why not")], "has no value in a whole game"),
        (
            lambda name, entries: [measured(name, 1)] * len(of_type(entries, SaleClosed)) or [][0],
            "fails where the log breaks off after .*IndexError",
        ),
    ],
)
def test_a_metric_that_breaks_a_promise_is_named(give, promise):
    broken(promise, unit="share", of=SaleOpened, measure=measuring(give))


def test_a_metric_of_what_no_game_opens_with_is_named():
    broken(
        "no installed game opens with PrivateThing; give check_metric a log", of=type("PrivateThing", (SaleOpened,), {})
    )


# ---------------------------------------------------------------- figures


def bad_figure(promise, **changes):
    with pytest.raises(AssertionError, match=promise):
        check_figure(replace(drawn, **changes))


def drawing(draw):
    return figure("Letters", "Mean.", "profit", name="letters-figure")(draw).draw


def test_a_figure_of_a_strangers_keeps_its_promises():
    check_figure(drawn)


@pytest.mark.parametrize("part", [one.name for one in fields(Figure) if "part" in one.metadata])
def test_a_missing_part_of_a_figure_is_named(part):
    bad_figure(f"lacks {part}: ", **{part: None})


def test_a_figure_of_an_unknown_metric_is_named():
    bad_figure("the figure 'letters-figure' is refused: unknown metric 'nothing'", needs="nothing")


@pytest.mark.parametrize("words", ["", None])
def test_a_figure_without_words_is_named(words):
    bad_figure("has no words for those who can't see the panel", draw=drawing(lambda axes, values: words))


def test_a_figure_that_breaks_is_named():
    bad_figure("fails with AttributeError", draw=drawing(lambda axes, values: axes.nowhere()))


def test_a_figure_that_is_taller_than_a_page_is_named():
    def tower(*_):
        return Drawing("Tower", "", (paint("", "high", lambda axes: None, height=2_000),))

    bad_figure("a panel of it is 16.7 inches high, and a page 9", draw=tower)
    grown = drawing(lambda axes, values: axes.get_figure(root=True).set_size_inches(3, 58) or "grown")
    bad_figure("its function changes the size of the picture", draw=grown)


def test_a_figure_that_draws_nothing_is_named():
    bad_figure("draws nothing of an experiment that has its metric", draw=lambda *_: None)


def test_a_figure_that_is_another_each_time_is_named():
    numbers = count()
    bad_figure("is drawn twice otherwise", draw=drawing(lambda axes, values: f"number {next(numbers)}"))


def test_a_figure_that_can_not_do_without_a_value_is_named():
    def draw(loaded, name, title, caption):
        table = loaded.measurements
        assert len(table) == table["value"].notna().sum(), "a value is missing"
        return drawn.draw(loaded, name, title, caption)

    bad_figure("a value is missing|where values are missing", draw=draw)
