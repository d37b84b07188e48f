"""What is drawn of a game, as data: pictures, and the marks that events add to them. Whoever draws them knows no game.

Marks are a fold over what a viewer may see, as a board is, so a picture can't show more than its viewer knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple, get_args

from harbor._core.errors import ConfigError

Kind = Literal["line", "step", "point", "bar", "band"]
Scale = Literal["dollars", "number", "share"]
Number = Decimal | float
MOST = 10**15
"""The largest number that is drawn: above it, a double has no cents, and all else on the picture is flat."""

OF_THOUGHTS = "beliefs", "expected", "profiles"
"""The names of the pictures of what bidders thought, which every game has."""


class Picture(NamedTuple):
    """A picture: its name, title, the titles of x and y, whether each part has its own, and how numbers are written.

    A part is an item, a run or a day; of a picture `of_part` the page shows that of the moment. Where a game has a
    picture called "bids", the limits that bidders set are drawn in it. `scale` writes y, `x_scale` writes x.
    """

    name: str
    title: str
    x: str
    y: str
    scale: Scale = "dollars"
    of_part: bool = False
    x_scale: Scale = "number"


class Mark(NamedTuple):
    """A mark that an event adds to a picture.

    Marks of one series, role and panel belong together: a "line" joins them by x, a "step" holds each y up to the next,
    a "band" goes from y to `high`, and the last "bar" or level at a place replaces those before it there.

    Attributes:
        picture: The name of its picture.
        series: Whose it is: a bidder, who has one colour on all pictures, or something of the game, such as "price".
        role: What it is, such as "bid" or "limit"; it names a column of the table of the picture.
        kind: How it is drawn.
        y: Where it is; None ends what was drawn so far.
        x: Where it is along the picture, a number or a name; None: everywhere, as a level.
        high: The upper end of a band.
        panel: Whose picture it is, where each bidder has its own, such as "Ann" or "Ann of Ben"; one is shown.
    """

    picture: str
    series: str
    role: str
    kind: Kind
    y: Number | None
    x: Number | str | None = None
    high: Number | None = None
    panel: str = ""


def checked_marks(marks: Iterable[Mark], pictures: Sequence[Picture]) -> list[Mark]:
    """Refuse what can't be drawn.

    Raises:
        ConfigError: it says what is wrong.
    """
    found = list(marks)
    for mark in found:
        if not isinstance(mark, Mark):
            raise ConfigError(f"a board draws {mark!r}; give a Mark")
        if mark.picture not in [one.name for one in pictures]:
            raise ConfigError(f"a mark is of the picture {mark.picture!r}; name it among the board's pictures")
        if mark.kind not in get_args(Kind):
            raise ConfigError(f"a mark is drawn as {mark.kind!r}; choose one of: {', '.join(get_args(Kind))}")
        if not all(isinstance(one, str) for one in (mark.series, mark.role, mark.panel)):
            raise ConfigError(f"the series, the role or the panel of {mark!r} is no text; write it as one")
        if not is_drawable(mark):
            raise ConfigError(f"{mark!r} does not stand at finite numbers up to {MOST:,}; mend y, x or high")
    return found


def checked_pictures(pictures: Sequence[Picture]) -> list[Picture]:
    """Refuse what can't be announced to a page.

    Raises:
        ConfigError: it says what is wrong.
    """
    found, names = list(pictures), set(OF_THOUGHTS)
    for one in found:
        if not isinstance(one, Picture) or not all(isinstance(text, str) for text in one[:4]):
            raise ConfigError(f"a board has the picture {one!r}; give a Picture with texts")
        if one.scale not in get_args(Scale) or one.x_scale not in get_args(Scale):
            raise ConfigError(f"the picture {one.name!r} has no scale of: {', '.join(get_args(Scale))}; choose one")
        if one.name in names:
            raise ConfigError(f"the picture {one.name!r} is there already; call it something else")
        names.add(one.name)
    return found


def is_drawable(mark: Mark) -> bool:
    """Say whether a mark stands at finite numbers that are not too large; what it lacks does not matter."""
    return all(
        one is None or _is_number(one) for one in (mark.y, mark.high, None if isinstance(mark.x, str) else mark.x)
    )


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float | Decimal) or isinstance(value, bool):
        return False
    return not (isinstance(value, Decimal) and value.is_nan()) and -MOST <= value <= MOST
