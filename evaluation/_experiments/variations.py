"""Arms, conditions and factors of an experiment, the crossing of factors, and the slots in settings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from itertools import combinations, product
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from harbor._config.thinking import with_texts
from harbor._core.files.layout import DEVICE
from harbor._core.settings import Settings, check_distinct

SLOT = re.compile(r"@[1-9][0-9]?")
"""A slot for a persona or a model: "@1" to "@99"."""


def slots_of_models(settings: Iterable[object]) -> tuple[str, ...]:
    """List the slots that stand for a `model` anywhere in settings, or in changes to them, in order."""
    return tuple(sorted({model for model in named("model", settings) if SLOT.fullmatch(model)}, key=number))


def number(slot: str) -> int:
    """Return the number of a slot, from 1.

    >>> number("@2")
    2
    """
    return int(slot[1:])


def named(key: str, settings: object) -> Iterator[str]:
    """Yield every name under a key at any depth of settings, or of changes to them. Lists and mixes yield each name.

    >>> list(named("model", {"bidders": [{"model": "@1"}, {"model": "@2"}]}))
    ['@1', '@2']
    """
    if isinstance(settings, (list, tuple)):
        for one in settings:
            yield from named(key, one)
    elif isinstance(settings, Mapping):
        own = settings.get(key)
        several = own if isinstance(own, (list, tuple, Mapping)) else [own]
        yield from (one for one in several if isinstance(one, str))
        for one in settings.values():
            yield from named(key, one)


def _slug(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ValueError("names a folder; write words in lower case joined by hyphens, such as 'low-supply'")
    if DEVICE.fullmatch(name):
        raise ValueError(f"names a folder, and {name!r} is a device on some systems; name it otherwise")
    return name


def _finite(settings: Any, path: str = "") -> Any:
    """Refuse nan and inf. A design is kept as JSON, which has neither, and a limit of inf would be none."""
    parts = settings.items() if isinstance(settings, Mapping) else enumerate(settings, 1)
    for key, value in parts:
        if isinstance(value, Mapping | list | tuple):
            _finite(value, f"{path}{key}.")
        elif isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{path}{key} {value!r}: must be a finite number")
    return settings


MOST_CELLS, MOST_GAMES = 1_000, 100_000
"""The most cells (arms times conditions) and games of a design: all are listed before the first is run."""
AuctionSettings = Annotated[dict[str, Any], AfterValidator(with_texts), AfterValidator(_finite)]
"""Settings of an auction. They are checked when a trial is built from them."""
Slug = Annotated[str, Field(max_length=60), AfterValidator(_slug)]
"""A name that can be a folder: words in lower case joined by hyphens."""
Order = Literal["given", "random", "ascending", "descending"] | tuple[str, ...]
"""Order of sale: a rule by starting price or chance, or the names of all items."""
Crossing = Literal["whole", "half"]
Path = tuple[str, ...]
"""The keys that lead to a setting, outermost first."""


class Variation(Settings):
    """An arm, a condition or the level of a factor: a name, and its changes to the common settings.

    Attributes:
        name: Name, also of a folder.
        label: Name in tables and figures; by default `name`.
        repeats: Its repeats, in place of the experiment's.
        order: Its order of items, in place of the experiment's.
        auction: The changes. In it `bidders` is a table of changes by name ("*": every bidder), a list of names
            (the others leave), or a list of new bidders. Tables are merged; every other value replaces the common
            one.
    """

    public: ClassVar[frozenset[str]] = frozenset({"name", "repeats"})

    name: Slug
    label: str = ""
    repeats: int | None = Field(None, ge=1)
    order: Order | None = None
    auction: AuctionSettings = Field(default_factory=dict)


class Factor(Settings):
    """A factor that is crossed with other factors.

    Attributes:
        name: Name.
        levels: Two levels or more, each with its changes, written as arms are.
    """

    public: ClassVar[frozenset[str]] = frozenset({"levels", "name"})

    name: Slug
    levels: tuple[Variation, ...]

    @model_validator(mode="after")
    def _varies(self) -> Factor:
        if (found := len(self.levels)) < 2:
            raise ValueError(f"factor {self.name!r} has {found} levels; give it two or more as [[factors.levels]]")
        if self.name == CONDITION:
            raise ValueError(f"factor {self.name!r} is called as conditions are; name it otherwise")
        check_distinct(f"factor {self.name!r}: level", [level.name for level in self.levels])
        return self


CONDITION = "condition"
"""Name of the conditions in tables with factors, so no factor may have it."""


def crossed(factors: Sequence[Factor], crossing: Crossing) -> tuple[Variation, ...]:
    """Make an arm from each combination of levels. The levels make its name, such as "tool-fresh-json".

    Raises:
        ValueError: factors contradict each other, there are too few for a half, or they make too many arms.
    """
    check_distinct("factor", [factor.name for factor in factors])
    check_count("arms", math.prod(len(factor.levels) for factor in factors), 2 * MOST_CELLS)  # a half may be left out
    for one, other in combinations(factors, 2):
        _refuse_contradiction(one, other)
    return tuple(_arm(levels) for levels in combined(factors, crossing))


def check_products(cells: int, games: Callable[[], int], places: int) -> None:
    """Refuse a design with too many cells, games, or comparisons and published numbers, before any of it is listed.

    Raises:
        ValueError: the message names the number.
    """
    check_count("arms under conditions", cells, MOST_CELLS)
    check_count("games", games(), MOST_GAMES)
    check_count("comparisons and published numbers in all cells", places * cells, MOST_GAMES)


def check_count(things: str, count: int, most: int) -> None:
    """Refuse more things than a design may have. Small numbers can have a large product.

    Raises:
        ValueError: the message names the number.
    """
    if count > most:
        shown = f"{count:,}" if count < 10**15 else f"{Decimal(count):.1e}"
        raise ValueError(f"the design makes {shown} {things}, and at most {most:,} are planned; plan fewer")


def combined(factors: Sequence[Factor], crossing: Crossing) -> Iterator[tuple[Variation, ...]]:
    """Combine the levels of factors: all combinations, or half of them.

    The half leaves out combinations with an odd number of second levels among the factors with two levels. Then the
    effect of any of these factors has an alias: the interaction of all others of them.
    Source: Box, Hunter and Hunter, Statistics for Experimenters, ch. 6 (half fractions of the highest resolution).

    Raises:
        ValueError: there are too few factors for a half.
    """
    halved = [place for place, factor in enumerate(factors) if factor in _halved(factors)]
    if crossing == "half" and len(halved) < 3:
        raise ValueError(f"crossing 'half' needs three factors of two levels, not {len(halved)}; take 'whole'")
    for numbered in product(*(enumerate(factor.levels) for factor in factors)):
        if crossing == "whole" or sum(numbered[place][0] for place in halved) % 2 == 0:
            yield tuple(level for _, level in numbered)


def aliases(factors: Sequence[Factor], crossing: Crossing) -> str:
    """Name the effects that half of a crossing can't tell apart. Return "" for a whole crossing."""
    names = [factor.name for factor in _halved(factors)]
    if crossing == "whole":
        return ""
    return (
        f"Half of the crossing: of the factors with two levels ({', '.join(names)}) an arm has the second level an even"
        f" number of times. So the effect of one can't be told from the interaction of the other {len(names) - 1}, nor"
        f" that of a pair from the interaction of the other {len(names) - 2}."
    )


def _halved(factors: Sequence[Factor]) -> list[Factor]:
    return [factor for factor in factors if len(factor.levels) == 2]


def name_of(levels: Sequence[Variation]) -> str:
    """Return the name of the arm for a combination of levels."""
    return "-".join(level.name for level in levels)


def _arm(levels: Sequence[Variation]) -> Variation:
    changes = [level.model_dump(exclude_defaults=True, exclude={"name", "label"}) for level in levels]
    labelled = any(level.label for level in levels)
    label = ", ".join(level.label or level.name for level in levels) if labelled else ""
    return Variation(name=name_of(levels), label=label, **reduce(_united, changes))


def _united(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Unite two changes without contradictions."""
    both = {key: _united(one[key], other[key]) for key in one.keys() & other.keys()}
    return {**one, **other, **both}


def _refuse_contradiction(one: Factor, other: Factor) -> None:
    for path, with_path in product(_paths(one), _paths(other)):
        if all(a == b or "*" in (a, b) for a, b in zip(path, with_path, strict=False)):
            key = ".".join(path if len(path) > len(with_path) else with_path)
            raise ValueError(f"factors {one.name!r} and {other.name!r} both change {key}; leave it to one of them")


def _paths(factor: Factor) -> set[Path]:
    changes = (level.model_dump(exclude_defaults=True, exclude={"name", "label"}) for level in factor.levels)
    return {path for change in changes for path in _leaves(change)}


def _leaves(changes: Mapping[str, Any], place: Path = ()) -> Iterator[Path]:
    for key, value in changes.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, (*place, key))
        else:
            yield (*place, key)
