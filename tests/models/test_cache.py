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
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harbor import Auction, Bidder, HarborError, ModelSettings
from harbor._models.replies import reply_folder
from harbor._models.replies.cache import NO_PART, CallRequest, GameCache, is_cached, server_of
from harbor._models.replies.reply_folder import CachedReply, ReplyFolder, export_entries, import_entries

HOSTED = ModelSettings(use="openai:gpt-4o-mini", temperature=0)
REQUEST = CallRequest(HOSTED, "tool", {"type": "object"}, [["system", "You bid."], ["human", "Bid."]], 1)
SAID = CachedReply('{"bid": 1200}', 100, 7, 64, 3, "tool_calls", "gpt-4o-mini-2024-07-18")
FIRST, SECOND = (replace(SAID, reply=text) for text in ("first", "second"))


@pytest.fixture
def folder(tmp_path) -> ReplyFolder:
    return ReplyFolder(tmp_path / "replies")


def ask(cache: GameCache, request: CallRequest, reply: CachedReply = SAID) -> tuple[bool, CachedReply]:
    """Ask as a model client does; say whether the reply was there."""
    found = cache.find(request)
    return found is not None, found or cache.keep(request, reply)


def changed(request: CallRequest = REQUEST, **update: Any) -> CallRequest:
    return replace(request, settings=request.settings.model_copy(update=update))


def warm(request: CallRequest = REQUEST) -> CallRequest:
    return changed(request, temperature=1.0)


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
    messages = [[*message] for message in request.messages]
    return replace(changed(request, extra=extra), schema=schema, messages=messages)


@given(REQUESTS, REQUESTS, st.integers(0, 3), LETTERS)
def test_an_equal_request_of_an_equal_game_is_found_and_one_with_any_other_part_is_not(request, other, seed, draw):
    with TemporaryDirectory() as place:
        was_there, kept = ask(GameCache(ReplyFolder(Path(place)), seed, draw), request)
        assert (was_there, words(kept)) == (False, SAID)
        assert ask(GameCache(ReplyFolder(Path(place)), seed, draw), copied(request)) == (True, kept)
        there, _ = ask(GameCache(ReplyFolder(Path(place)), seed, draw), other)
    assert there == (json.dumps(parts(request), sort_keys=True) == json.dumps(parts(other), sort_keys=True))


def parts(request: CallRequest) -> dict[str, Any]:
    return asdict(replace(request, settings=None)) | {"settings": request.settings.model_dump(mode="json")}


CHANGES: dict[str, Any] = {
    "use": "openai:gpt-4o", "base_url": "http://localhost:8000/v1", "temperature": 0.1, "max_tokens": 5,
    "reasoning": "low", "seed": 3, "extra": {"top_p": 0.5}, "headers": {"X-Model": "other"},
}  # fmt: skip
OTHERS = [
    {"form": "json"}, {"schema": None}, {"schema": {"type": "object", "title": "Bid"}}, {"attempt": 2},
    {"messages": [["system", "You bid."], ["human", "Bid!"]]}, {"messages": [["system", "You bid."], ["ai", "Bid."]]},
    {"messages": [["system", "You bid.Bid."]]},
]  # fmt: skip


def test_each_part_of_a_request_is_part_of_the_address_but_what_only_limits_or_prices_a_model(folder):
    ask(GameCache(folder, 7), REQUEST)
    assert {*CHANGES} == {*ModelSettings.model_fields} - (NO_PART - {"headers"})
    others = [changed(**{name: value}) for name, value in CHANGES.items()]
    others += [replace(REQUEST, **other) for other in OTHERS]
    assert not any(map(GameCache(folder, 7).find, others))
    paced = {"max_concurrent": 2, "requests_per_minute": 60.0, "input_price": 1.0, "api_key_env": "MINE", "repairs": 0}
    assert GameCache(folder, 7).find(changed(**paced))


def test_the_server_of_the_environment_is_part_of_the_address(folder, monkeypatch):
    ask(GameCache(folder, 7), REQUEST)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:secret@localhost:8000/v1/?key=secret")
    assert server_of(HOSTED) == "http://localhost:8000/v1"
    assert GameCache(folder, 7).find(REQUEST) is None
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:8000")
    assert GameCache(folder, 7).find(REQUEST)


# ---------------------------------------------------------------- chance


@pytest.mark.parametrize(("temperature", "shared"), [(0, True), (None, False), (0.1, False)])
def test_only_at_temperature_0_games_of_other_seeds_share_replies_and_runs_of_other_draws_never(
    folder, temperature, shared
):
    request = changed(temperature=temperature)
    ask(GameCache(folder, 1, "1"), request)
    assert (GameCache(folder, 2, "1").find(request) is not None) == shared
    assert GameCache(folder, 1, "2").find(request) is None
    assert GameCache(folder, 1, "1").find(request)


@settings(max_examples=30)
@given(st.permutations(["a", "b", "b", "c", "c", "c"]), st.permutations(["a", "b", "b", "c", "c", "c"]))
def test_each_of_the_same_requests_of_a_game_has_a_reply_of_its_own_whatever_the_order_of_other_requests(order, other):
    def asked(game: GameCache, names: list[str]) -> Iterator[str]:
        for place, name in enumerate(names, start=1):
            request = warm(replace(REQUEST, messages=[["human", name]]))
            yield ask(game, request, replace(SAID, reply=f"{name}{names[:place].count(name)}"))[1].reply

    with TemporaryDirectory() as place:
        for names in (order, other):
            game = GameCache(ReplyFolder(Path(place)), 1)
            assert sorted(asked(game, names)) == ["a1", "b1", "b2", "c1", "c2", "c3"]
        assert game.find(warm(replace(REQUEST, messages=[["human", "a"]]))) is None


def test_two_same_requests_that_are_under_way_at_once_keep_a_reply_each(folder):
    game, one, other = GameCache(folder, 1), warm(), warm()
    assert (game.find(one), game.find(other)) == (None, None)
    game.keep(other, SECOND)
    game.keep(one, FIRST)
    again = GameCache(folder, 1)
    assert [words(again.find(warm())) for _ in "12"] == [FIRST, SECOND]


# ---------------------------------------------------------------- several at once


def test_of_two_who_ask_the_same_at_once_both_go_on_with_the_reply_that_was_kept_first(folder):
    one, other = GameCache(folder, 1), GameCache(folder, 1)
    mine, theirs = warm(), warm()
    assert (one.find(mine), other.find(theirs)) == (None, None)
    assert other.keep(theirs, SECOND) == one.keep(mine, FIRST)


@pytest.mark.parametrize(("fails", "calls"), [([False] * 5, 1), ([True, False], 2)])
async def test_games_of_a_process_that_ask_the_same_at_once_ask_once_or_again_if_that_call_fails(folder, fails, calls):
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

    ends = await asyncio.gather(*map(play, fails), return_exceptions=True)
    assert [isinstance(end, ConnectionError) for end in ends] == fails
    assert {end for end in ends if isinstance(end, str)} == {SAID.reply}
    assert len(asked) == calls


KEEP = """
import sys
from pathlib import Path
from harbor import ModelSettings
from harbor._models.replies.cache import CallRequest, GameCache
from harbor._models.replies.reply_folder import CachedReply, ReplyFolder

folder = ReplyFolder(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    request = CallRequest(ModelSettings(use="openai:a", temperature=0), "tool", None, [["human", str(number)]], 1)
    game = GameCache(folder, 1)
    reply = game.find(request) or game.keep(request, CachedReply(sys.argv[2] * 10_000))
    print(reply.reply[0], end="", flush=True)
"""


def keeping(folder: ReplyFolder, letter: str, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", KEEP, str(folder.path), letter, str(number)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_kill_in_the_middle_of_writing_leaves_a_cache_that_can_be_used_by_two_at_once(folder):
    for _ in range(2):
        writing = keeping(folder, "a", 10_000)
        writing.stdout.read(30)
        writing.send_signal(signal.SIGKILL)
        writing.communicate()
    entries = [entry for file, entry in folder.files() if file.suffix == ".json"]
    assert entries
    assert None not in entries
    first, second = (one.communicate()[0] for one in [keeping(folder, letter, 400) for letter in "bc"])
    assert (first, len(first)) == (second, 400)
    assert first.startswith("a" * min(len(entries), 400))


# ---------------------------------------------------------------- what is in the folder


def test_an_entry_that_its_owner_alone_can_read_tells_the_request_and_the_reply_but_no_header(folder):
    _, kept = ask(GameCache(folder, 7, "draw"), warm(changed(headers={"X-Project": "confidential"})))
    [(file, _)] = folder.files()
    assert file.relative_to(folder.path).parts == ("v1", kept.address[:2], f"{kept.address}.json")
    said = json.loads(file.read_bytes())
    told = {"messages": REQUEST.messages, "schema": REQUEST.schema, "form": "tool", "attempt": 1}
    told |= {"seed": 7, "number": 1, "draw": "draw"}
    assert told.items() <= said["request"].items()
    assert {"use": HOSTED.use, "temperature": 1.0, "base_url": None}.items() <= said["request"]["model"].items()
    assert (said["reply"]["reply"], said["when"][:2]) == (SAID.reply, "20")
    assert "confidential" not in file.read_text()
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in [folder.path, *folder.path.rglob("*")]}
    assert modes == {(True, 0o700), (False, 0o600)}


def spoiling(change: Callable[[dict[str, Any]], Any]) -> Callable[[bytes], bytes]:
    def spoil(line: bytes) -> bytes:
        change(said := json.loads(line))
        return json.dumps(said).encode()

    return spoil


SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda line: line[: len(line) // 2],
    "empty": lambda _: b"", "no object": lambda _: b"[1]", "not text": lambda _: b"\xff\xfe\x00",
    "deep": lambda _: b"[" * 100_000,
    "version": spoiling(lambda said: said.update(version=2)),
    "reply": spoiling(lambda said: said["reply"].update(reply='{"bid": 9000}')),
    "request": spoiling(lambda said: said["request"]["messages"].pop()),
    "tokens": spoiling(lambda said: said["reply"].update(input_tokens=-1)),
    "lacks": spoiling(lambda said: said.pop("reply")),
    "more": spoiling(lambda said: said["reply"].update(more=1)),
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


def test_an_entry_under_the_address_of_another_and_an_address_that_is_no_digest_lead_nowhere(folder):
    ask(GameCache(folder, 1), REQUEST)
    _, other = ask(GameCache(folder, 1), replace(REQUEST, attempt=2))
    two, one = sorted((file for file, _ in folder.files()), key=lambda file: other.address not in file.name)
    one.write_bytes(two.read_bytes())
    assert GameCache(folder, 1).find(REQUEST) is None
    assert (folder.read("../../etc/passwd"), folder.read("")) == (None, None)


def test_a_folder_that_can_not_be_written_is_warned_of_once_and_the_game_goes_on(tmp_path):
    (tmp_path / "file").write_text("in the way")
    game = GameCache(ReplyFolder(tmp_path / "file" / "replies"), 1)
    with pytest.warns(UserWarning, match="replies can't be kept in .*; make room") as told:
        assert [ask(game, replace(REQUEST, attempt=number)) for number in (1, 2, 3)] == [(False, SAID)] * 3
    assert len(told) == 1


def test_a_reply_that_is_too_long_is_neither_kept_nor_read_and_the_game_goes_on(folder):
    long = replace(SAID, reply="a" * reply_folder.LONGEST)
    with pytest.warns(UserWarning, match="File too large"):
        assert ask(GameCache(folder, 1), REQUEST, long) == (False, long)
    assert list(folder.files()) == []
    with pytest.raises(ValueError, match="longer"):
        reply_folder.read_entry(b" " * (reply_folder.LONGEST + 1))


def test_a_disk_without_links_keeps_replies_too(folder, monkeypatch):
    def refuse(*_: Any) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    _, kept = ask(GameCache(folder, 1), REQUEST)
    assert GameCache(folder, 1).find(REQUEST) == kept
    assert [file.suffix for file, _ in folder.files()] == [".json"]


@pytest.mark.parametrize(
    ("mine", "caches", "place"),
    [
        ("/mine", "/caches", "/mine"), ("", "/caches", "/caches/harbor/replies"),
        ("", "relative", "/me/.cache/harbor/replies"), ("", "", "/me/.cache/harbor/replies"),
    ],
)  # fmt: skip
def test_the_folder_is_the_one_of_harbor_or_where_caches_go(monkeypatch, mine, caches, place):
    for name, value in {"HARBOR_CACHE": mine, "XDG_CACHE_HOME": caches, "HOME": "/me"}.items():
        monkeypatch.setenv(name, value)
    assert reply_folder.own_folder() == Path(place)


def test_replies_of_hosted_models_are_kept_and_no_other_in_a_cache_that_is_one():
    hosted = ["openai:gpt-4o-mini", "ollama:llama3:8b", "google_genai:gemini-2.5-flash"]
    uses = [*hosted, "simulated", "given", "mine.models:make"]
    assert [use for use in uses if is_cached(ModelSettings(use=use))] == hosted
    with pytest.raises(HarborError, match=r"run\(cache=...\) gives 'here'; give a ReplyCache"):
        Auction(bidders=[Bidder("Ann")]).run(cache="here")


# ---------------------------------------------------------------- export and import


def written(folder: ReplyFolder, file: Path) -> Path:
    """Keep five replies, unless they are there, and write all that is in the folder to a file."""
    for number in range(5):
        ask(GameCache(folder, 1), replace(REQUEST, messages=[["human", f"Bid {number}, \u00e9\ud83d."]]))
    assert export_entries((entry for _, entry in folder.files()), file) == 5
    return file


@pytest.mark.parametrize("name", ["replies.jsonl", "replies.jsonl.gz"])
def test_what_is_exported_and_imported_if_its_writer_is_trusted_is_the_same_cache(folder, tmp_path, name):
    file, other = written(folder, tmp_path / name), ReplyFolder(tmp_path / "other")
    with pytest.raises(HarborError, match=r"^[^\n]* has 5 replies, as of 'openai:.*', .* give --trust[^\n]*$"):
        import_entries(other, file)
    assert not other.path.exists()
    assert import_entries(other, file, trust=True) == (5, 0)
    assert import_entries(other, file) == (0, 5)
    assert import_entries(folder, file) == (0, 5)  # what is one's own stays so
    assert [one.reply.imported for own in (other, folder) for _, one in own.files()] == [True] * 5 + [False] * 5
    assert written(other, tmp_path / f"again-{name}").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("spoil", SPOILED)
def test_a_file_with_one_line_that_is_spoiled_is_refused_whole(folder, tmp_path, spoil):
    file, other = written(folder, tmp_path / "replies.jsonl"), ReplyFolder(tmp_path / "other")
    lines = file.read_bytes().splitlines(keepends=True)
    lines[2] = (SPOILED[spoil](lines[2]) or b"\n").rstrip(b"\n") + b"\n"
    file.write_bytes(b"".join(lines))
    with pytest.raises(HarborError, match=r"^[^\n]*line 3 (is|was) [^\n]*; nothing is imported[^\n]*$") as refused:
        import_entries(other, file)
    assert (spoil == "version") == ("was written by another version of Harbor" in str(refused.value))
    assert not other.path.exists()


def test_a_file_that_can_not_be_read_or_has_a_line_without_end_is_refused_in_one_line(folder, tmp_path):
    (tmp_path / "cut.gz").write_bytes(written(folder, tmp_path / "whole.gz").read_bytes()[:-20])
    (tmp_path / "plain.gz").write_bytes(b"{}\n")
    with (tmp_path / "endless.jsonl").open("wb") as writing:
        writing.truncate(reply_folder.LONGEST * 4)
    said = dict.fromkeys(["missing.jsonl", "cut.gz", "plain.gz", "."], "can't be read")
    for name, words in (said | {"endless.jsonl": "line 1 is longer than"}).items():
        with pytest.raises(HarborError, match=rf"^[^\n]*{words}[^\n]*$"):
            import_entries(ReplyFolder(tmp_path / "other"), tmp_path / name)
