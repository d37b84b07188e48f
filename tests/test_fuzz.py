"""Whatever comes from outside is taken or refused in one line: nothing but Harbor's own errors, whatever it is."""

from __future__ import annotations

import json
import tomllib
import warnings
from contextlib import suppress
from dataclasses import fields
from functools import reduce
from importlib.resources import files
from inspect import isabstract
from operator import getitem
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.store.base import MatchCondition
from pydantic import BaseModel

from harbor._config.auction import AuctionConfig, read_settings
from harbor._core.asking import decisions
from harbor._core.basics.errors import HarborError, MemoryStoreError
from harbor._core.plugins.extensions import KINDS, Found, class_of, fault
from harbor._games import replies
from harbor._models.calls.messages import written
from harbor._models.calls.reply_shapes import read
from harbor._runs.inputs import RunInputs
from harbor._runs.series import prepare
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._experiments.trials import trials
from harbor.memory._store.records import check_filter, has, named_by

NASTY: list[Any] = [
    "", " ", "0", "Ann", "../..", "/", "nan", "a:b", "a.b:C", "‮", "\x00", "é" * 40, "$gt", "x" * 300, 0, 1, -1, 2**31,
    10**30, 0.1, -0.0, 1e308, float("inf"), float("nan"), True, False, None, [], {}, [[]], {"": {}},
]  # fmt: skip
ANYTHING = st.recursive(
    st.one_of(st.sampled_from(NASTY), st.text(max_size=6), st.integers(), st.floats()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)


def presets(package: str) -> list[Any]:
    return sorted((one for one in files(package).iterdir() if one.name.endswith(".toml")), key=str)


AUCTIONS, DESIGNS = presets("harbor._config.presets"), presets("harbor.evaluation._experiments.presets")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List every place in settings, however deep."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))]


@st.composite
def mutated(draw: Any, sources: list[Any]) -> dict[str, Any]:
    """Draw a preset with up to three changes: a value that does not belong there, a key too many, one too few."""
    found = tomllib.loads(draw(st.sampled_from(sources)).read_text(encoding="utf-8"))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(found)))
        value, kind = draw(ANYTHING), draw(st.sampled_from(["put", "put", "add", "drop"]))
        if kind == "add":
            found[draw(st.sampled_from(sorted(AuctionConfig.model_fields)) | st.text(max_size=5))] = value
        elif path:
            *outer, key = path
            inside = reduce(getitem, outer, found)
            inside.__setitem__(key, value) if kind == "put" else inside.__delitem__(key)
    return found


@settings(max_examples=80)
@given(mutated(AUCTIONS))
def test_changed_settings_of_an_auction_are_taken_or_refused(values):
    with suppress(HarborError), warnings.catch_warnings(action="ignore"):
        prepare(AuctionConfig(**values), RunInputs())


@settings(max_examples=30)
@given(mutated(DESIGNS))
def test_a_changed_design_is_taken_or_refused(values):
    with suppress(HarborError), warnings.catch_warnings(action="ignore"):
        next(iter(trials(Experiment(**values))))


@given(st.sampled_from(AUCTIONS + DESIGNS), st.data())
def test_a_damaged_file_of_settings_is_taken_or_refused(preset, data):
    content = bytearray(preset.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    kind = AuctionConfig if preset in AUCTIONS else Experiment
    with TemporaryDirectory() as folder:
        path = Path(folder, "settings.toml")
        path.write_bytes(content)
        with suppress(HarborError):
            read_settings(path, kind)


FIELDS = st.sampled_from(["action", "amount", "reasons", "words", "plan", "x"])
REPLIES = [
    kind
    for module in (decisions, replies)
    for kind in vars(module).values()
    if isinstance(kind, type) and kind.__module__ == module.__name__ and issubclass(kind, BaseModel)
    if not isabstract(kind)
]


@given(st.sampled_from(REPLIES), st.dictionaries(FIELDS, ANYTHING, max_size=4), st.text(max_size=40), st.booleans())
def test_any_reply_is_read_or_complained_of_in_one_line(reply_type, arguments, text, as_tool):
    calls = [{"name": reply_type.__name__, "args": arguments, "id": "1"}] if as_tool else []
    message = AIMessage(text if as_tool else text + json.dumps(arguments) + text, tool_calls=calls)
    found = read(message, reply_type)
    assert (found.reply is None) == bool(found.complaint)
    assert "\n" not in found.complaint
    written(message)


@given(st.dictionaries(st.text(max_size=3), ANYTHING, max_size=3), st.dictionaries(st.text(max_size=3), ANYTHING))
def test_any_filter_of_memories_matches_or_is_refused(value, wanted):
    with suppress(MemoryStoreError):
        check_filter(wanted)
        assert has(value, wanted) in (True, False)


@given(st.sampled_from(["prefix", "suffix"]), st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3)))
def test_any_condition_on_a_namespace_is_met_or_not(kind, path, namespace):
    assert named_by(MatchCondition(kind, tuple(path)), tuple(namespace)) in (True, False)


ODD = st.one_of(ANYTHING, st.just(print), st.just(int), st.just(AuctionConfig), st.just(object()), st.just((1, "a")))


@pytest.mark.parametrize("kind", sorted(KINDS))
@given(data=st.data())
def test_whatever_a_package_brings_is_whole_or_told_what_it_lacks(kind, data):
    made = class_of(kind)
    given_parts = {one.name: data.draw(ODD) for one in fields(made) if one.init and data.draw(st.booleans())}
    with suppress(TypeError):  # a part that has no default was not given: Python's own complaint, where it is written
        value = made(**given_parts)
        assert isinstance(fault(Found(kind, value, "a package", "1")), str)
