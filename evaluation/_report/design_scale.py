"""The scale of a design: the one number by which its conditions or its arms differ, and what else parts them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any, Literal

from harbor.evaluation._experiments.design import Experiment, Variation

Path = tuple[str, ...]
Of = Literal["condition", "arm"]
NUMBER = re.compile(r"(?<![\w.])[-\N{MINUS SIGN}]?\$?\d+(?:,\d{3})*(?:\.\d+)?(?: ?%)?(?!\w|\.\d)")
"""A number in a label, with its sign and unit, such as "$10,000" or "50 %"."""
APART = "bidders", "items"
"""Settings that are lists of what can be counted."""
RISING = "low", "medium", "high"
"""Words that have an order."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Where each condition (or arm) lies on an axis, and which series it belongs to (empty: there is one series).

    `ticks` are the numbers as the labels of the design write them; `title` names the axis.
    """

    of: Of
    title: str
    at: Mapping[str, float]
    ticks: Mapping[float, str]
    series: Mapping[str, str]


def scale_of(experiment: Experiment) -> Scale | None:
    """Find the scale of an experiment: that of its conditions, or else of its arms; None: they have no order.

    They have one if they differ by a single setting with numbers, or by it and a second one, which parts the series.
    A setting may be at several places with equal values, as the budgets of all bidders are.
    """
    shared = dict(_leaves(experiment.auction)) | {("order",): experiment.order}
    return _scale("condition", experiment.conditions, shared) or _scale("arm", experiment.arms, shared)


def _scale(
    of: Literal["condition", "arm"], variations: Sequence[Variation], shared: Mapping[Path, Any]
) -> Scale | None:
    varied = _varied(variations, shared)
    for path, values in varied.items():
        found, others = _numbers(path, values), [other for other in varied if other != path]
        if found is None or len(others) > 1 or any("seed" in one for one in varied):
            continue
        names = [_named(other[-1], value) for other in others for value in varied[other]] or [""] * len(found)
        places = set(zip(found, names, strict=True))
        if len(places) < len(found) or len(places) < len(set(found)) * len(set(names)):  # series need all numbers
            continue
        at = {one.name: number for one, number in zip(variations, found, strict=True)}
        title, ticks = _axis([one.label for one in variations], found, path, values)
        return Scale(of, title, at, ticks, {one.name: name for one, name in zip(variations, names, strict=True)})
    return None


def _varied(variations: Sequence[Variation], shared: Mapping[Path, Any]) -> dict[Path, list[Any]]:
    """Map each setting by which they differ to its values; places with equal values are one, named by their start."""
    own = [
        {**shared, **({("order",): one.order} if one.order else {}), **dict(_leaves(one.auction))} for one in variations
    ]
    columns: dict[str, tuple[list[Path], list[Any]]] = {}
    for path in dict.fromkeys(path for one in own for path in one):
        values = [one.get(path) for one in own]
        if any(value != values[0] for value in values):
            columns.setdefault(repr(values), ([], values))[0].append(path)
    return {_start(paths): values for paths, values in columns.values()}


def _start(paths: Sequence[Path]) -> Path:
    """Give what all paths begin with, or the first if they have nothing in common."""
    shared = takewhile(lambda names: len({*names}) == 1, zip(*paths, strict=False))
    return tuple(names[0] for names in shared) or paths[0]


def _leaves(settings: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name), value


def _numbers(path: Path, values: Sequence[Any]) -> list[float] | None:
    """Give the numbers of a setting, the ranks of its words, or the lengths of its lists where each begins the longer.

    None: it has no order.
    """
    if all(one in RISING for one in values):
        return [float(RISING.index(one)) for one in values]
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in values):
        return [float(one) for one in values]
    if path[-1] not in APART or not all(isinstance(one, list | tuple) for one in values):
        return None
    rising = sorted(([_nameless(entry) for entry in one] for one in values), key=len)
    begins = (long[: len(short)] == short for short, long in pairwise(rising))
    return [float(len(one)) for one in values] if all(begins) else None


def _nameless(entry: Any) -> Any:
    return {key: value for key, value in entry.items() if key != "name"} if isinstance(entry, Mapping) else entry


def _named(setting: str, value: Any) -> str:
    """Name a series by the value of the setting that parts it; words speak for themselves."""
    said = value if isinstance(value, str) else f"{setting} {value}"
    return str(said).replace("_", " ")


def _axis(
    labels: Sequence[str], numbers: Sequence[float], path: Path, values: Sequence[Any]
) -> tuple[str, dict[float, str]]:
    """Title an axis, and write its numbers, as the labels do if each holds just its own; else by the setting."""
    setting, counted = path[-1].replace("_", " "), isinstance(values[0], list | tuple)
    title = f"number of {setting}" * counted or setting
    told = [one if isinstance(one, str) else f"{number:g}" for one, number in zip(values, numbers, strict=True)]
    plain = dict(zip(numbers, told, strict=True))
    written = [NUMBER.findall(label) for label in labels]
    if not all(len(one) == 1 and _says(one[0], number) for one, number in zip(written, numbers, strict=True)):
        return title, plain
    last = labels[max(range(len(numbers)), key=numbers.__getitem__)].split(", ")
    words = next(part for part in last if NUMBER.search(part))
    said = NUMBER.sub("…", words).removeprefix("…").strip()
    return said or title, {number: one[0] for one, number in zip(written, numbers, strict=True)}


def _says(written: str, number: float) -> bool:
    """Tell whether a number in a label is that of its setting, or a share of it in percent."""
    said = float(re.sub(r"[$,% ]", "", written).replace("\N{MINUS SIGN}", "-"))
    return said in (number, round(100 * number, 9)) if "%" in written else said == number
