"""The log: flushed event by event, read back whole, and never believed when it was touched."""

from __future__ import annotations

import json
import re
import tempfile
import types
import typing
from contextlib import closing
from dataclasses import fields
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor._core.basics.errors import LogError
from harbor._core.log import acts, events, thoughts
from harbor._core.log.acts import PaidSealed, Tried
from harbor._core.log.events import ANALYST, EVERYONE, SCHEMA_VERSION, AnalystEvent, LogOpened, Lot, SharedEvent, Spent
from harbor._core.log.log import Log, read_log, read_whole_lines
from harbor._core.log.log_entries import is_seen_by
from harbor._core.plugins.extensions import HARBOR, Part
from harbor._games.english import events as english
from harbor._games.english.rules import English, ValuedLot
from harbor._house.auctioneer import Sale
from harbor.events import Decided, ItemSold, ModelCalled, PrivateEvent, PublicEvent, SaleClosed, SeatFailed
from support import forging

BASES = (PublicEvent, PrivateEvent, SharedEvent, AnalystEvent)
NAMED = {**vars(events), **vars(thoughts), **vars(acts), **vars(english)}
KINDS = [kind for kind in NAMED.values() if isinstance(kind, type) and issubclass(kind, BASES) and kind not in BASES]
QUICK = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
TEXT = st.text(max_size=12)


def values(hint):
    """Any value of an annotation that occurs in events."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return st.sampled_from(inner)
    if origin is tuple:
        return st.lists(values(inner[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(values(inner[0]), values(inner[1]), max_size=3)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*map(values, inner))
    plain = {
        str: TEXT, int: st.integers(-(2**70), 2**70), bool: st.booleans(),
        float: st.floats(allow_nan=False, allow_infinity=False), Decimal: st.decimals(-(10**12), 10**12, places=2),
        type(None): st.none(),
        typing.Any: st.none() | st.booleans() | st.integers(-(2**70), 2**70) | TEXT | st.lists(TEXT, max_size=2),
    }  # fmt: skip
    return plain[hint] if hint in plain else built(hint)


def built(kind):
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{field.name: values(hints[field.name]) for field in fields(kind)})


def opening(schema=SCHEMA_VERSION):
    return LogOpened(schema, "0.1.0", "run", 7, parts=(Part("game", "english", HARBOR, version(HARBOR)),))


def write(path, *happened, first=None):
    """Write a log that opens with its first line; return its lines."""
    with closing(Log(path)) as log:
        for event in (first or opening(), *happened):
            log.append(event)
    return path.read_bytes().splitlines(keepends=True)


def read(path):
    """Read the events of a log after its opening."""
    return [entry.event for entry in read_log(path).entries[1:]]


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


def sold(number=1):
    return ItemSold(f"Item {number}", "Ann", Decimal("47.50"))


# ---------------------------------------------------------------- writing


def test_each_event_can_be_read_before_the_log_is_closed(log):
    with closing(Log(log)) as written:
        for count, event in enumerate([opening(), sold(), SaleClosed()], start=1):
            written.append(event)
            assert [entry.event for entry in read_log(log).entries] == [entry.event for entry in written.entries]
            assert len(read_log(log).entries) == count


def test_every_line_holds_its_number_its_time_its_type_and_its_audience_unless_that_is_everyone(log):
    trade = PaidSealed(("Ann", "Ben"), "Ann", "Ben", "Item 1", Decimal(5))
    lines = write(log, sold(), Tried("Ann", "Item 1", 1, 1, "too low"), trade, SaleClosed())
    parsed = [json.loads(line) for line in lines]
    assert [line["seq"] for line in parsed] == [0, 1, 2, 3, 4]
    audiences = ["analyst", None, "bidder:Ann", 'seats:["Ann", "Ben"]', None]
    assert [line.get("audience") for line in parsed] == audiences
    assert [line["type"] for line in parsed] == ["log_opened", "item_sold", "tried", "paid_sealed", "sale_closed"]
    assert all(isinstance(line["at"], int | float) for line in parsed)
    assert parsed[0]["schema"] == SCHEMA_VERSION


def test_a_field_at_its_default_is_not_written_and_what_stands_within_another_is_whole(log):
    tried = Tried("Ann", "Item 1", 1, 1, "too low")
    fields = ("Ann", "bid", "simulated", "bid-1", 1, "ok", 10, 5, None, False, 0.0, 0.1)
    call, plain = ModelCalled(*fields, probes=Spent(1)), ModelCalled(*fields)
    _, *lines = map(json.loads, write(log, tried, call, plain))
    assert "act" not in lines[0]
    assert lines[1].keys() - lines[2].keys() == {"probes"}
    assert lines[1]["probes"] == {"requests": 1, "input_tokens": 0, "output_tokens": 0, "cost_dollars": 0}
    assert read(log) == [tried, call, plain]


@pytest.mark.parametrize("claimed", ["everyone", "analyst", "bidder:Ben", 'seats:["Ann"]', None, 5])
def test_a_line_that_claims_another_audience_than_its_event_has_is_refused(log, claimed):
    write(log, Tried("Ann", "Item 1", 1, 1, "too low"), SaleClosed())
    lines = forging.lines_of(log)
    assert lines[1]["audience"] == "bidder:Ann"
    forging.write(log, lines)
    assert len(read_log(log).entries) == 3
    lines[1]["audience"] = claimed
    forging.write(log, lines)
    with pytest.raises(LogError, match="line 2 is not an event"):
        read_log(log)


def test_a_line_is_one_line_whatever_the_text_holds_also_if_it_is_no_valid_unicode(log):
    nasty = "a\nb\r\nc\u2028d\x85e\x1b[31m\x00"
    write(log, Decided("Ann", "Item 1", 1, 1, nasty, None), SeatFailed("Ann", "error", "no file '\udcff'"))
    entries = read_log(log).entries
    assert len(entries) == 3
    assert entries[1].event.reasons == nasty
    assert b"\x1b" not in log.read_bytes()


def test_a_log_does_not_write_over_a_file(log):
    write(log)
    with pytest.raises(FileExistsError):
        Log(log)


def test_a_log_keeps_time_from_its_opening():
    ticks = iter([100.0, 100.5, 102.0])
    log = Log(clock=lambda: next(ticks))
    assert [log.append(opening()).at, log.append(sold()).at] == [0.5, 2.0]


# ---------------------------------------------------------------- the round trip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_event_is_read_back_as_it_was_written_and_has_one_audience(kind):
    @QUICK
    @given(built(kind))
    def round_trip(event):
        with tempfile.TemporaryDirectory() as folder:
            write(path := Path(folder) / "log", event)
            [again] = read(path)
        assert again == event
        assert type(again) is kind
        who = event.audience
        if isinstance(event, SharedEvent):
            assert (who[:6], json.loads(who[6:])) == ("seats:", list(event.seats))
        else:
            one = f"bidder:{event.bidder}" if isinstance(event, PrivateEvent) else ANALYST
            assert who == (EVERYONE if isinstance(event, PublicEvent) else one)

    round_trip()


# ---------------------------------------------------------------- logs that can't be trusted


def test_a_log_cut_anywhere_gives_every_whole_line_and_a_warning(log):
    lines = write(log, sold(1), sold(2), SaleClosed())
    whole, cut = b"".join(lines), log.with_name("cut")
    assert read_log(log).warning == ""
    cut.write_bytes(b"".join(lines[:3]))
    assert "before the sale closed" in read_log(cut).warning
    for length in range(len(lines[0]), len(whole)):
        cut.write_bytes(whole[:length])
        reading = read_log(cut)
        assert len(reading.entries) == whole[:length].count(b"\n")
        assert len(reading.warning.splitlines()) == 1
    assert "line 4" in reading.warning
    assert read(cut) == [sold(1), sold(2)]


def test_a_log_of_a_newer_schema_is_refused_by_both_versions(log):
    write(log, first=opening(schema=SCHEMA_VERSION + 41))
    with pytest.raises(LogError, match=f"schema {SCHEMA_VERSION + 41}.* {SCHEMA_VERSION} .*upgrade"):
        read_log(log)


def test_any_changed_byte_is_noticed_and_an_edited_line_is_refused_by_its_number(log):
    write(log, sold(1), SaleClosed())
    whole, forged = log.read_bytes(), log.with_name("forged")
    rng = Random(7)
    for place in range(len(whole) - 1):
        byte = rng.choice([byte for byte in b'09az"{}, ' if byte != whole[place]])
        forged.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        try:
            assert "damaged" in read_log(forged).warning  # a last line that is no JSON any more
            assert place >= whole.rindex(b"\n", 0, -1)
        except LogError:
            pass
    forged.write_bytes(whole.replace(b"47.5", b"47.6"))
    with pytest.raises(LogError, match=r"line 2 .*edited"):
        read_log(forged)


def test_a_line_taken_out_or_put_in_or_moved_is_noticed(log):
    one, two, three, four = write(log, sold(1), sold(2), SaleClosed())
    for forged in ([one, three, four], [one, two, two, three, four], [one, three, two, four], [two, three, four]):
        log.write_bytes(b"".join(forged))
        with pytest.raises(LogError):
            read_log(log)


def test_a_missing_log_or_a_folder_is_refused_by_its_path(tmp_path):
    for path in (tmp_path / "nowhere.jsonl", tmp_path):
        with pytest.raises(LogError, match=rf"{re.escape(path.name)}.* can't be read"):
            read_log(path)


@pytest.mark.parametrize("first", [
    b"", b"\n", b"garbage", b"{}\n", b"5\n", b"\x00\xff\xfe\n", b'{"type": "log_opened"}\n', b"[" * 100_000 + b"\n",
    b'{"type": "item_sold", "schema": 1}\n', b'{"type": "log_opened", "schema": 1e999}\n',
], ids=lambda line: repr(line[:40]))  # fmt: skip
def test_a_file_that_is_no_log_is_refused_in_one_line(log, first):
    log.write_bytes(first)
    with pytest.raises(LogError) as refusal:
        read_log(log)
    assert "\n" not in str(refusal.value)
    assert repr(str(log)) in str(refusal.value)


@pytest.mark.parametrize("end", [
    b"\n", b"\xff\n", b"[" * 100_000 + b"\n", b"garbage\nof a disk\n", b"\0" * 4096, b"\0" * 9 + b'": 5}\n{}\n{"a',
], ids=lambda end: repr(end[:40]))  # fmt: skip
def test_an_end_that_a_power_cut_has_damaged_is_dropped_with_a_warning(log, end):
    whole = b"".join(write(log, sold(1)))
    log.write_bytes(whole + end)
    reading = read_log(log)
    assert (len(reading.entries), reading.size) == (2, len(whole))
    assert re.match("line 3 is (damaged|cut short)", reading.warning)


def test_a_log_of_zeros_has_no_line_and_is_no_log_of_another_kind(log):
    log.write_bytes(b"\0" * 5000 + b"\n")
    assert read_whole_lines(log).entries == ()
    with pytest.raises(LogError, match="no complete line"):
        read_log(log)


@QUICK
@given(st.lists(st.binary(max_size=30) | st.from_regex(rb"[\[\]{}\",:0-9a-z]{0,20}", fullmatch=True), max_size=4))
def test_any_bytes_after_a_good_line_are_read_or_refused(tail):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        first, *_ = write(path)
        path.write_bytes(first + b"\n".join(tail))
        try:
            reading = read_log(path)
        except LogError:
            return
    assert reading.warning


# ---------------------------------------------------------------- who may see what


def a_sale(*names):
    rules = English((ValuedLot(Lot("Item 1", Decimal(10)), Decimal(20)),), dict.fromkeys(names, Decimal(100)))
    return Sale(rules, names, Log(), Random(0))


@QUICK
@given(st.lists(TEXT, unique=True, min_size=1, max_size=6), st.data())
def test_an_event_of_some_seats_is_seen_by_these_and_by_no_name_that_is_like_theirs(names, data):
    seats = tuple(data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1)))
    event, sale = PaidSealed(seats, "", "", "Item 1", Decimal(5)), a_sale(*names)
    sale.record(event)
    assert [name for name in names if tuple(sale.seen_by(name)) == (event,)] == [one for one in names if one in seats]
    for name in {*names, "everyone", "analyst", event.audience, *(f"{one}, {one}" for one in seats)}:
        assert is_seen_by(name, event) is (name in seats)


@pytest.mark.parametrize("name", ["everyone", "analyst", "bidder:Ben", "Be", "Ben1", ""])
def test_no_name_opens_what_is_not_for_it(name):
    sale = a_sale(name, "Ben")
    sale.record(SeatFailed("Ben", "error", "analyst's"))
    sale.record(Tried("Ben", "Item 1", 1, 1, "Ben's"))
    sale.record(ModelCalled("Ben", "bid", "simulated", "bid-1", 1, "ok", 10, 5, None, False, 0.0, 0.1))
    assert tuple(sale.seen_by(name)) == ()


@QUICK
@given(st.lists(st.one_of(*(built(kind) for kind in KINDS if kind not in (english.SaleOpened, ItemSold))), max_size=8))
def test_what_is_seen_is_public_or_ones_own(happened):
    names = ("Ann", "Ben")
    sale = a_sale(*names)
    happened = [event for event in happened if not isinstance(event, PrivateEvent | SharedEvent)]
    mine = [Decided(name, "Item 1", 1, 1, "thought", None) for name in names]
    ours = PaidSealed(names, *names, "Item 1", Decimal(5))
    for event in [*happened, *mine, ours]:
        sale.record(event)
    public = [event for event in happened if isinstance(event, PublicEvent)]
    assert tuple(sale.seen_by("Ann")) == (*public, mine[0], ours)
    assert tuple(sale.seen_by("Ben")) == (*public, mine[1], ours)
