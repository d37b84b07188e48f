"""The settings of what is for sale: a list of items, or a sample of a catalogue's."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from harbor._core.settings import TAG, Dollars, Name, Settings, check_distinct

MOST_ITEMS = 10_000
MOST_SUITED = 100


def _as_persona(suits: Any) -> Any:
    """Take the persona of an item as an id, as several, or as none; give several only where there are several."""
    if not isinstance(suits, list | tuple):
        return suits
    if len(suits) > MOST_SUITED:
        raise ValueError(f"names {len(suits):,} personas; name {MOST_SUITED} at most")
    if twice := [id for id in suits if suits.count(id) > 1]:  # noqa: A001 - the catalogue's word
        raise ValueError(f"names {twice[0]!r} twice; name each persona once")
    return tuple(suits) if len(suits) > 1 else suits[0] if suits else None


class Item(Settings):
    """An item for sale.

    Attributes:
        name: What it is called; no two items share a name.
        start: The starting price.
        true_value: What its buyer gains; bidders know only estimates of it.
        listing: The text that bidders read of it.
        persona: The ground truth of whom it was written for, which no bidder sees: an id, a list of ids for an item
            that suits each of them, or none for one that suits nobody more than another.
    """

    public: ClassVar[frozenset[str]] = frozenset({"name", "start"})

    name: Name
    start: Dollars
    true_value: Dollars
    listing: str = Field("", max_length=4_000)
    persona: Annotated[str | tuple[str, ...] | None, BeforeValidator(_as_persona)] = None

    @property
    def suits(self) -> tuple[str, ...]:
        """The ids of all personas that it was written for."""
        return (self.persona,) if isinstance(self.persona, str) else self.persona or ()


def _distinct(items: tuple[Item, ...]) -> tuple[Item, ...]:
    check_distinct("item", [item.name for item in items])
    return items


OwnItems = Annotated[tuple[Item, ...], Field(max_length=MOST_ITEMS), AfterValidator(_distinct)]
"""Items that a sample is drawn from in place of those of the catalogue; empty for those of the catalogue."""


class Houses(Settings):
    """A sample of items: `count` in all, of which `matched` for each persona among the bidders.

    Attributes:
        count: How many items.
        matched: How many of them suit each persona among the bidders; without it, whatever is drawn.
        of: Items to draw from, in place of those of the catalogue.
    """

    public: ClassVar[frozenset[str]] = frozenset({"count"})

    count: int = Field(10, ge=1, le=MOST_ITEMS)
    matched: int | None = Field(None, ge=0, le=MOST_ITEMS)
    of: OwnItems = ()


def _kind_of_items(items: Any) -> str:
    return f"{TAG}{'list' if isinstance(items, list | tuple) else 'sample'}"


Items = Annotated[
    Annotated[tuple[Item, ...], Field(min_length=1, max_length=MOST_ITEMS), Tag(f"{TAG}list")]
    | Annotated[Houses, Tag(f"{TAG}sample")],
    Discriminator(_kind_of_items),
]
"""What is for sale: a list of items, or a sample of the catalogue's."""
