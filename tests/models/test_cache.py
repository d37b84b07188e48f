"""The cache of replies: what was asked before, with the same chance, is there; anything else is not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder, HarborError, Item, ModelSettings, ReplyCache
from harbor._models.replies.cache import NO_PART, CallRequest, GameCache, is_cached, server_of
from harbor._models.replies.reply_folder import (
    LONGEST,
    CachedReply,
    ReplyFolder,
    export_entries,
    import_entries,
    own_folder,
    read_entry,
)

HOSTED = ModelSettings(use="openai:gpt-4o-mini", temperature=0)
WARM = HOSTED.model_copy(update={"temperature": 1.0})
REQUEST = CallRequest(HOSTED, "tool", {"type": "object"}, [["system", "You bid."], ["human", "Bid."]], 1)
SAID = CachedReply('{"bid": 1200}', 100, 7, 64, 3, "tool_calls", "gpt-4o-mini-2024-07-18")


@pytest.fixture
def folder(tmp_path) -> ReplyFolder:
    return ReplyFolder(tmp_path / "replies")


def ask(cache: GameCache, request: CallRequest, reply: CachedReply = SAID) -> tuple[bool, CachedReply]:
    """Ask as a model client does; say whether the reply was there."""
    found = cache.find(request)
    return found is not None, found or cache.keep(request, reply)


def warm(request: CallRequest = REQUEST) -> CallRequest:
    return replace(request, settings=WARM)


def words(reply: CachedReply) -> CachedReply:
    return replace(reply, address="")


# ---------------------------------------------------------------- what is the same

LETTERS = st.text(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | LETTERS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(LETTERS, inner, max_size=2),
    max_leaves=4,
)
SETTINGS = st.fixed_dictionaries(
    {"use": st.sampled_from(["openai:a", "openai:b", "anthropic:a"])},
    optional={
        "base_url": st.sampled_from(["http://localhost:1/v1", "http://localhost:2/v1"]),
        "temperature": st.sampled_from([0, 0.5, 1.0]),
        "max_tokens": st.integers(1, 3),
        "seed": st.integers(0, 2),
        "reasoning": st.sampled_from(["low", 1]),
        "headers": st.dictionaries(st.sampled_from(["X-A", "X-B"]), LETTERS, max_size=2),
        "extra": st.dictionaries(st.sampled_from(["top_p", "stop"]), JSON, max_size=2),
    },
).map(lambda values: ModelSettings(**values))
REQUESTS = st.builds(
    CallRequest,
    settings=SETTINGS,
    form=st.sampled_from(["tool", "json", "text"]),
    schema=st.none() | st.dictionaries(LETTERS, JSON, max_size=2),
    messages=st.lists(st.tuples(st.sampled_from(["system", "human", "ai"]), LETTERS).map(list), max_size=3),
    attempt=st.integers(1, 3),
)


def copied(request: CallRequest) -> CallRequest:
    """An equal request that shares nothing with this one, its tables in another order."""
    extra = dict(reversed(json.loads(json.dumps(request.settings.extra)).items()))
    schema = request.schema and dict(reversed(json.loads(json.dumps(request.schema)).items()))
    same = request.settings.model_copy(update={"extra": extra})
    return CallRequest(same, request.form, schema, [[*message] for message in request.messages], request.attempt)


@given(REQUESTS, st.integers(0, 3), LETTERS)
def test_an_equal_request_of_an_equal_game_is_found(request, seed, draw):
    with TemporaryDirectory() as place:
        kept = ask(GameCache(ReplyFolder(Path(place)), seed, draw), request)
        assert kept == (False, kept[1])
        assert ask(GameCache(ReplyFolder(Path(place)), seed, draw), copied(request)) == (True, kept[1])
        assert words(kept[1]) == SAID


@settings(max_examples=60)
@given(REQUESTS, REQUESTS)
def test_a_request_with_any_other_part_is_not_found(one, other):
    with TemporaryDirectory() as place:
        ask(GameCache(ReplyFolder(Path(place)), 7), one)
        there, _ = ask(GameCache(ReplyFolder(Path(place)), 7), other)
    assert there == (json.dumps(parts(one), sort_keys=True) == json.dumps(parts(other), sort_keys=True))


def parts(request: CallRequest) -> dict[str, Any]:
    return {name: getattr(request, name) for name in ("form", "schema", "messages", "attempt")} | {
        "settings": request.settings.model_dump(mode="json")
    }


CHANGES: dict[str, Any] = {
    "use": "openai:gpt-4o", "base_url": "http://localhost:8000/v1", "temperature": 0.1, "max_tokens": 5,
    "reasoning": "low", "seed": 3, "extra": {"top_p": 0.5}, "headers": {"X-Model": "other"},
}  # fmt: skip


@pytest.mark.parametrize("field", sorted(ModelSettings.model_fields))
def test_every_setting_is_part_of_the_address_or_is_named_as_one_that_changes_no_reply(folder, field):
    ask(GameCache(folder, 7), REQUEST)
    if field in NO_PART - {"headers"}:
        assert field not in CHANGES
        return
    other = replace(REQUEST, settings=HOSTED.model_copy(update={field: CHANGES[field]}))
    assert GameCache(folder, 7).find(other) is None


OTHER_MESSAGES = [
    [["system", "You bid."], ["human", "Bid!"]], [["system", "You bid."], ["ai", "Bid."]], [["system", "You bid.Bid."]],
]  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [{"form": "json"}, {"schema": None}, {"schema": {"type": "object", "title": "Bid"}}, {"attempt": 2}]
    + [{"messages": messages} for messages in OTHER_MESSAGES],
)
def test_a_change_of_one_part_of_a_request_is_not_found(folder, change):
    ask(GameCache(folder, 7), REQUEST)
    assert GameCache(folder, 7).find(replace(REQUEST, **change)) is None


def test_what_only_limits_or_prices_a_model_changes_no_address(folder):
    ask(GameCache(folder, 7), REQUEST)
    paced = {"max_concurrent": 2, "requests_per_minute": 60.0, "input_price": 1.0, "api_key_env": "MINE", "repairs": 0}
    assert GameCache(folder, 7).find(replace(REQUEST, settings=HOSTED.model_copy(update=paced)))


def test_the_server_of_the_environment_is_part_of_the_address(folder, monkeypatch):
    ask(GameCache(folder, 7), REQUEST)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:secret@localhost:8000/v1/?key=secret")
    assert server_of(HOSTED) == "http://localhost:8000/v1"
    assert GameCache(folder, 7).find(REQUEST) is None
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:8000")
    assert GameCache(folder, 7).find(REQUEST)


def test_no_header_is_written_word_for_word(folder):
    secret = HOSTED.model_copy(update={"headers": {"X-Project": "confidential"}})
    _, kept = ask(GameCache(folder, 7), replace(REQUEST, settings=secret))
    [(file, _)] = folder.files()
    assert kept.address in file.name
    assert "confidential" not in file.read_text()
    other = HOSTED.model_copy(update={"headers": {"X-Project": "another"}})
    assert GameCache(folder, 7).find(replace(REQUEST, settings=other)) is None


# ---------------------------------------------------------------- chance


@pytest.mark.parametrize(("temperature", "shared"), [(0, True), (None, False), (0.1, False), (1.0, False)])
def test_only_at_temperature_0_games_of_other_seeds_share_replies(folder, temperature, shared):
    request = replace(REQUEST, settings=HOSTED.model_copy(update={"temperature": temperature}))
    ask(GameCache(folder, 1), request)
    assert (GameCache(folder, 2).find(request) is not None) == shared
    assert GameCache(folder, 1).find(request)


def test_two_same_requests_of_a_game_get_two_replies_and_in_a_re_run_the_same_two(folder):
    replies = [replace(SAID, reply=text) for text in ("first", "second")]
    game = GameCache(folder, 1)
    assert [ask(game, warm(), reply)[1].reply for reply in replies] == ["first", "second"]
    again = GameCache(folder, 1)
    assert [words(again.find(warm())) for _ in replies] == replies
    assert again.find(warm()) is None


@settings(max_examples=30)
@given(st.permutations(["a", "b", "b", "c", "c", "c"]), st.permutations(["a", "b", "b", "c", "c", "c"]))
def test_the_order_of_other_requests_changes_no_number(order, other):
    def asked(game: GameCache, names: list[str]) -> Iterator[tuple[str, str]]:
        times = dict.fromkeys("abc", 0)
        for name in names:
            times[name] += 1
            request = warm(replace(REQUEST, messages=[["human", name]]))
            yield (name, ask(game, request, replace(SAID, reply=f"{name}{times[name]}"))[1].reply)

    with TemporaryDirectory() as place:
        first = sorted(asked(GameCache(ReplyFolder(Path(place)), 1), order))
        assert sorted(asked(GameCache(ReplyFolder(Path(place)), 1), other)) == first


def test_a_call_that_is_replayed_counts(folder):
    game = GameCache(folder, 1)
    for text in ("first", "second"):
        ask(game, warm(), replace(SAID, reply=text))
    resumed = GameCache(folder, 1)
    resumed.count(warm())
    assert resumed.find(warm()).reply == "second"


@pytest.mark.parametrize("request_", [REQUEST, warm()])
def test_runs_of_other_draws_share_no_reply_even_at_temperature_0(folder, request_):
    ask(GameCache(folder, 1, "1"), request_)
    assert GameCache(folder, 1, "2").find(request_) is None
    assert GameCache(folder, 1, "1").find(request_)


def test_two_same_requests_that_are_under_way_at_once_keep_a_reply_each(folder):
    game, one, other = GameCache(folder, 1), warm(), warm()
    assert (game.find(one), game.find(other)) == (None, None)
    game.keep(other, replace(SAID, reply="second"))
    game.keep(one, replace(SAID, reply="first"))
    again = GameCache(folder, 1)
    assert [again.find(warm()).reply, again.find(warm()).reply] == ["first", "second"]


# ---------------------------------------------------------------- several at once


def test_of_two_who_ask_the_same_at_once_both_go_on_with_the_reply_that_was_kept_first(folder):
    one, other = GameCache(folder, 1), GameCache(folder, 1)
    mine, theirs = warm(), warm()
    assert (one.find(mine), other.find(theirs)) == (None, None)
    first = one.keep(mine, replace(SAID, reply="first"))
    assert other.keep(theirs, replace(SAID, reply="second")) == first


def at_once(folder: ReplyFolder, *fails: bool) -> tuple[list[Any], int]:
    """Let games of one process ask the same at once, each failing or not; return their replies and the calls made."""
    asked = []

    async def play(fail: bool) -> str:
        request, game = warm(), GameCache(folder, 1)
        async with game.alone(request):
            if (found := game.find(request)) is None:
                asked.append(request)
                await asyncio.sleep(0)
                if fail:
                    raise ConnectionError
                found = game.keep(request, SAID)
            return found.reply

    async def play_all() -> list[Any]:
        return await asyncio.gather(*map(play, fails), return_exceptions=True)

    return asyncio.run(play_all()), len(asked)


def test_games_of_a_process_that_ask_the_same_at_once_ask_once(folder):
    assert at_once(folder, *[False] * 5) == ([SAID.reply] * 5, 1)


def test_whoever_waits_for_a_call_that_fails_asks_itself(folder):
    (failed, reply), asked = at_once(folder, True, False)
    assert isinstance(failed, ConnectionError)
    assert (reply, asked) == (SAID.reply, 2)


KEEP = """
import sys
from dataclasses import replace
from pathlib import Path
from harbor import ModelSettings
from harbor._models.replies.cache import CallRequest, GameCache
from harbor._models.replies.reply_folder import CachedReply, ReplyFolder

folder = ReplyFolder(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    request = CallRequest(ModelSettings(use="openai:a", temperature=0), "tool", None, [["human", str(number)]], 1)
    game = GameCache(folder, 1)
    reply = game.find(request) or game.keep(request, CachedReply(sys.argv[2] * 10_000))
    print(reply.reply[0], end="", flush=True)
"""


def keeping(folder: ReplyFolder, letter: str, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", KEEP, str(folder.path), letter, str(number)]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout.readline() == "ready\n"
    return started


def go(started: subprocess.Popen[str]) -> None:
    started.stdin.write("\n")
    started.stdin.flush()


@pytest.mark.slow
def test_two_processes_that_keep_the_same_go_on_with_the_same_replies(folder):
    both = [keeping(folder, letter, 200) for letter in "ab"]
    for one in both:
        go(one)
    first, second = (one.communicate()[0] for one in both)
    assert len(first) == 200
    assert first == second
    found = [entry for _, entry in folder.files()]
    assert len(found) == 200
    assert sorted(entry.reply.reply[0] for entry in found) == sorted(first)


@pytest.mark.slow
def test_a_kill_in_the_middle_of_writing_leaves_a_cache_that_can_be_used(folder):
    for _ in range(3):
        writing = keeping(folder, "a", 10_000)
        go(writing)
        writing.stdout.read(30)
        writing.send_signal(signal.SIGKILL)
        writing.communicate()
    entries = [(file, entry) for file, entry in folder.files() if file.suffix == ".json"]
    assert entries
    assert all(entry is not None for _, entry in entries)
    finishing = keeping(folder, "b", 400)
    said, _ = finishing.communicate("\n")
    assert said == "a" * (len(said) - said.count("b")) + "b" * said.count("b")
    assert len(said) == 400


# ---------------------------------------------------------------- what is in the folder


def test_only_the_owner_can_read_what_is_kept(folder):
    ask(GameCache(folder, 1), REQUEST)
    assert all(
        stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
        for path in [folder.path, *folder.path.rglob("*")]
    )


def test_an_entry_tells_the_request_and_the_reply_word_for_word(folder):
    _, kept = ask(GameCache(folder, 7, "draw"), warm())
    [(file, _)] = folder.files()
    assert file.relative_to(folder.path).parts == ("v1", kept.address[:2], f"{kept.address}.json")
    said = json.loads(file.read_bytes())
    told = {"messages": REQUEST.messages, "schema": REQUEST.schema, "form": "tool", "attempt": 1}
    told |= {"model": {"use": HOSTED.use, "temperature": 1.0, "base_url": None}, "seed": 7, "number": 1, "draw": "draw"}
    assert {name: said["request"][name] for name in told} == told
    assert said["reply"]["reply"] == SAID.reply
    assert said["when"].startswith("20")


def changed(change: Callable[[dict[str, Any]], Any]) -> Callable[[bytes], bytes]:
    def spoil(line: bytes) -> bytes:
        change(said := json.loads(line))
        return json.dumps(said).encode()

    return spoil


SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda line: line[: len(line) // 2],
    "empty": lambda _: b"", "no object": lambda _: b"[1]", "not text": lambda _: b"\xff\xfe\x00",
    "deep": lambda _: b"[" * 100_000,
    "version": changed(lambda said: said.update(version=2)),
    "reply": changed(lambda said: said["reply"].update(reply='{"bid": 9000}')),
    "request": changed(lambda said: said["request"]["messages"].pop()),
    "tokens": changed(lambda said: said["reply"].update(input_tokens=-1)),
    "lacks": changed(lambda said: said.pop("reply")),
    "more": changed(lambda said: said["reply"].update(more=1)),
}  # fmt: skip


@pytest.mark.parametrize("spoil", SPOILED)
def test_what_is_spoiled_or_of_another_version_is_passed_over_and_replaced(folder, spoil):
    ask(GameCache(folder, 1), REQUEST)
    [(file, _)] = folder.files()
    file.write_bytes(SPOILED[spoil](file.read_bytes()))
    assert [entry for _, entry in folder.files()] == [None]
    there, _ = ask(GameCache(folder, 1), REQUEST)
    assert not there
    assert GameCache(folder, 1).find(REQUEST)


def test_an_entry_under_the_address_of_another_is_passed_over(folder):
    ask(GameCache(folder, 1), REQUEST)
    _, other = ask(GameCache(folder, 1), replace(REQUEST, attempt=2))
    one, two = (file for file, _ in folder.files())
    one.write_bytes(two.read_bytes()) if other.address in two.name else two.write_bytes(one.read_bytes())
    assert GameCache(folder, 1).find(REQUEST) is None


def test_an_address_that_is_no_digest_leads_nowhere(folder):
    assert folder.read("../../etc/passwd") is None
    assert folder.read("") is None


def test_a_folder_that_can_not_be_written_is_warned_of_once_and_the_game_goes_on(tmp_path):
    (tmp_path / "file").write_text("in the way")
    game = GameCache(ReplyFolder(tmp_path / "file" / "replies"), 1)
    with pytest.warns(UserWarning, match="replies can't be kept in .*; make room") as told:
        assert [ask(game, replace(REQUEST, attempt=number)) for number in (1, 2, 3)] == [(False, SAID)] * 3
    assert len(told) == 1


def test_a_reply_that_is_too_long_is_not_kept_and_the_game_goes_on(folder):
    long = replace(SAID, reply="a" * LONGEST)
    with pytest.warns(UserWarning, match="File too large"):
        assert ask(GameCache(folder, 1), REQUEST, long) == (False, long)
    assert list(folder.files()) == []


def test_a_disk_without_links_keeps_replies_too(folder, monkeypatch):
    def refuse(*_: Any) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    _, kept = ask(GameCache(folder, 1), REQUEST)
    assert GameCache(folder, 1).find(REQUEST) == kept
    assert [file.suffix for file, _ in folder.files()] == [".json"]


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"HARBOR_CACHE": "/mine", "XDG_CACHE_HOME": "/caches", "HOME": "/home/me"}, "/mine"),
        ({"XDG_CACHE_HOME": "/caches", "HOME": "/home/me"}, "/caches/harbor/replies"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/home/me"}, "/home/me/.cache/harbor/replies"),
        ({"HARBOR_CACHE": "", "HOME": "/home/me"}, "/home/me/.cache/harbor/replies"),
    ],
)
def test_the_folder_is_the_one_of_harbor_or_where_caches_go(monkeypatch, environment, place):
    for name in ("HARBOR_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert own_folder() == Path(place)


# ---------------------------------------------------------------- whose replies are kept


@pytest.mark.parametrize(
    ("use", "kept"),
    [(use, True) for use in ("openai:gpt-4o-mini", "ollama:llama3:8b", "google_genai:gemini-2.5-flash")]
    + [(use, False) for use in ("simulated", "given", "mine.models:make")],
)
def test_replies_of_hosted_models_are_kept_and_no_other(use, kept):
    assert is_cached(ModelSettings(use=use)) == kept


def test_the_built_in_model_keeps_nothing(folder):
    items = [Item(name="Lot A", start=1_000, true_value=2_000)]
    held = Auction(items=items, bidders=[Bidder("Ann"), Bidder("Ben")]).run(cache=ReplyCache(folder.path))
    assert held.standings
    assert not folder.path.exists()


def test_what_is_no_cache_is_refused_in_one_line():
    with pytest.raises(HarborError, match=r"run\(cache=...\) gives 'here'; give a ReplyCache"):
        Auction(bidders=[Bidder("Ann")]).run(cache="here")


# ---------------------------------------------------------------- export and import


def filled(folder: ReplyFolder) -> ReplyFolder:
    for number in range(5):
        ask(GameCache(folder, 1), replace(REQUEST, messages=[["human", f"Bid {number}, \u00e9\ud83d."]]))
    return folder


@pytest.fixture
def exported(folder, tmp_path) -> Path:
    export_entries((entry for _, entry in filled(folder).files()), tmp_path / "replies.jsonl")
    return tmp_path / "replies.jsonl"


@pytest.mark.parametrize("name", ["replies.jsonl", "replies.jsonl.gz"])
def test_what_is_exported_and_imported_is_the_same_cache(folder, tmp_path, name):
    filled(folder)
    file, other = tmp_path / name, ReplyFolder(tmp_path / "other")
    assert export_entries((entry for _, entry in folder.files()), file) == 5
    assert import_entries(other, file, trust=True) == (5, 0)
    assert [entry.reply.imported for _, entry in other.files()] == [True] * 5
    assert import_entries(other, file) == (0, 5)
    assert import_entries(folder, file) == (0, 5)  # what is one's own stays so
    assert not any(entry.reply.imported for _, entry in folder.files())
    export_entries((entry for _, entry in other.files()), tmp_path / f"again-{name}")
    assert (tmp_path / f"again-{name}").read_bytes() == file.read_bytes()


def test_replies_of_a_file_are_kept_only_if_whoever_wrote_it_is_trusted(exported, tmp_path):
    other = ReplyFolder(tmp_path / "other")
    with pytest.raises(HarborError, match=r"has 5 replies, as of 'openai:.*', .* give --trust") as refused:
        import_entries(other, exported)
    assert "\n" not in str(refused.value)
    assert not other.path.exists()


@pytest.mark.parametrize("spoil", SPOILED)
def test_a_file_with_one_line_that_is_spoiled_is_refused_whole(exported, tmp_path, spoil):
    other, lines = ReplyFolder(tmp_path / "other"), exported.read_bytes().splitlines(keepends=True)
    lines[2] = (SPOILED[spoil](lines[2]) or b"\n").rstrip(b"\n") + b"\n"
    exported.write_bytes(b"".join(lines))
    with pytest.raises(HarborError, match=r"line 3 (is|was) .*; nothing is imported") as refused:
        import_entries(other, exported)
    assert "\n" not in str(refused.value)
    assert (spoil == "version") == ("was written by another version of Harbor" in str(refused.value))
    assert not other.path.exists()


def test_a_line_without_end_is_refused_before_it_fills_the_memory(tmp_path):
    file = tmp_path / "replies.jsonl"
    with file.open("wb") as writing:
        writing.truncate(LONGEST * 4)
    with pytest.raises(HarborError, match=r"line 1 is longer than"):
        import_entries(ReplyFolder(tmp_path / "other"), file)


@pytest.mark.parametrize("name", ["missing.jsonl", "cut.gz", "plain.gz", "."])
def test_a_file_that_can_not_be_read_is_refused_in_one_line(folder, tmp_path, name):
    export_entries((entry for _, entry in filled(folder).files()), tmp_path / "whole.gz")
    (tmp_path / "cut.gz").write_bytes((tmp_path / "whole.gz").read_bytes()[:-20])
    (tmp_path / "plain.gz").write_bytes(b"{}\n")
    with pytest.raises(HarborError, match="can't be read") as refused:
        import_entries(ReplyFolder(tmp_path / "other"), tmp_path / name)
    assert "\n" not in str(refused.value)


def test_no_entry_is_read_that_is_too_long():
    with pytest.raises(ValueError, match="longer"):
        read_entry(b" " * (LONGEST + 1))
