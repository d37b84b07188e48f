"""The rubric: six criteria with levels from 1 to 5; and the published ratings. Both are data files."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from typing import Annotated

from pydantic import Field

from harbor._core.settings import Settings, read_settings

LEVELS = 5


class Criterion(Settings):
    """A question about a transcript, and what each level from 1 to 5 means; `persona_only`: if it has one."""

    id: str
    name: str
    question: str
    levels: Annotated[tuple[str, ...], Field(min_length=LEVELS, max_length=LEVELS)]
    persona_only: bool = False


class Rubric(Settings):
    """All criteria, in the order in which they are asked.

    Source: Mao et al. 2024, sec. 7 and A.5; the words are our own.
    """

    criteria: tuple[Criterion, ...]

    def of(self, persona: bool) -> list[Criterion]:
        """List the criteria that a player with a persona, or without one, is rated on."""
        return [criterion for criterion in self.criteria if persona or not criterion.persona_only]


class PublishedGroup(Settings):
    """Published ratings of one kind of player: who was rated by whom; by criterion, the scores' number and figures."""

    rated: str
    model: str
    scores: dict[str, int]
    first_quartile: dict[str, float]
    median: dict[str, float]
    third_quartile: dict[str, float]
    mean: dict[str, float]
    sd: dict[str, float]


class PublishedRatings(Settings):
    """The ratings that a paper prints."""

    source: str
    groups: tuple[PublishedGroup, ...]


@cache
def rubric() -> Rubric:
    """Read the rubric."""
    with as_file(files("harbor.evaluation._rating") / "rubric.toml") as path:
        return read_settings(path, Rubric)


@cache
def published() -> PublishedRatings:
    """Read the published ratings.

    Source: Mao et al. 2024, Table 3.
    """
    with as_file(files("harbor.evaluation._rating") / "published.toml") as path:
        return read_settings(path, PublishedRatings)
