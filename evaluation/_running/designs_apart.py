"""How the design of an experiment differs from that of another: each setting, arms and bidders by their names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.differences import Json, differing, short

WORDS = frozenset({"title", "question", "source", "note", "published", "deviations", "stand_ins"})
"""What a design says of itself: it changes no game."""


@dataclass(frozen=True, slots=True)
class SettingApart:
    """A setting that differs in `experiment`, with its value there and in what it is compared with, in words."""

    experiment: str
    setting: str
    value: str
    against: str


def designs_apart(name: str, of: Experiment, against: Experiment) -> Iterator[SettingApart]:
    """List the settings of a design, shown by `name`, that differ from those of another."""
    ours, theirs = (_by_name(one.model_dump(mode="json", exclude=set(WORDS))) for one in (of, against))
    for setting, its, own in differing("", theirs, ours):
        yield SettingApart(name, setting, short(own), short(its))


def _by_name(value: Json) -> Json:
    """Put whatever has a name under it, so that arms are compared with their like wherever they stand."""
    if isinstance(value, list) and value and all(isinstance(one, dict) and "name" in one for one in value):
        return {str(one["name"]): _by_name(one) for one in value if isinstance(one, dict)}
    return {key: _by_name(one) for key, one in value.items()} if isinstance(value, dict) else value
