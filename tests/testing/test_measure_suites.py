"""The suites for metrics and figures find each broken promise."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from harbor.evaluation import Figure, Metric, by_bidder, figure, measured, metric
from harbor.evaluation._report.drawing.canvas import Drawing, paint
from harbor.events import BidderSeated, SaleClosed, SaleOpened
from harbor.games import of_type
from harbor.testing import check_figure, check_metric
from support.plugins import parts

pytestmark = pytest.mark.usefixtures("stranger")  # keeps nothing of what these tests bring


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


def test_what_is_a_strangers_keeps_its_promises(stranger):
    check_metric(letters)
    check_metric(stranger("my_metric.metric").my_metric)
    check_figure(drawn)


def missing(kind):
    return [(f"lacks {part}: ", {part: None}) for part in parts(kind)]


@pytest.mark.parametrize(
    ("promise", "changes"),
    [
        *missing(Metric),
        ("'letters' has no docstring that gives its formula", {"measure": lambda name, entries: []}),
        ("no installed game opens with PrivateThing; give", {"of": type("PrivateThing", (SaleOpened,), {})}),
        ("fails where the log breaks off .*KeyError", measuring(lambda *_: {}["nothing"])),
        ("it gave -1.0, and no share", measuring(lambda name, _: [measured(name, -1)])),
        ("and no number", measuring(lambda name, _: [measured(name, float("nan"))])),
        ("it gave a missing value without a reason", measuring(lambda name, _: [measured(name, None)])),
        ("it measured 'profit' under the name 'letters'", measuring(lambda *_: [measured("profit", 1)])),
        ("measures twice otherwise", measuring(lambda name, _: [measured(name, 1 / (1 + next(NUMBERS)))])),
        ("has no value in a whole game", measuring(lambda name, _: [measured(name, None, missing="why not")])),
        ("fails where the log breaks off after .*IndexError", measuring(of_closed_sales)),
    ],
)
def test_a_metric_that_breaks_a_promise_is_named(promise, changes):
    with pytest.raises(AssertionError, match=promise):
        check_metric(replace(letters, **changes))


WORDLESS = "has no words for those who can't see the panel"


@pytest.mark.parametrize(
    ("promise", "changes"),
    [
        *missing(Figure),
        ("the figure 'letters-figure' is refused: unknown metric 'nothing'", {"needs": "nothing"}),
        *((WORDLESS, drawing(lambda axes, values, words=words: words)) for words in ("", None)),
        ("fails with AttributeError", drawing(lambda axes, values: axes.nowhere())),
        ("a panel of it is 16.7 inches high, and a page 9", {"draw": tower}),
        (
            "its function changes the size of the picture",
            drawing(lambda axes, values: axes.get_figure(root=True).set_size_inches(3, 58) or "grown"),
        ),
        ("draws nothing of an experiment that has its metric", {"draw": lambda *_: None}),
        ("is drawn twice otherwise", drawing(lambda axes, values: f"number {next(NUMBERS)}")),
        ("a value is missing|where values are missing", {"draw": without_gaps}),
    ],
)
def test_a_figure_that_breaks_a_promise_is_named(promise, changes):
    with pytest.raises(AssertionError, match=promise):
        check_figure(replace(drawn, **changes))
