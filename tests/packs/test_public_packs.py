"""What a public pack has, and that nothing private is in it: canaries in every private field of every game."""

from __future__ import annotations

import asyncio
import json
import warnings
from dataclasses import dataclass, fields
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow.parquet as pq
import pytest

from harbor import Auction, run_series
from harbor._config.auction import AuctionConfig, Bidder
from harbor._config.rules import RuleSettings
from harbor._core.asking.asks import Bid
from harbor._core.log.acts import Acted
from harbor._core.log.events import LogOpened, PublicEvent, SaleClosed
from harbor._core.log.log_entries import Entry
from harbor._core.plugins.extensions import Part
from harbor._core.plugins.finding import everything
from harbor._core.settings import Settings
from harbor._packs.packing import pack
from harbor._packs.publishing import told, told_config, told_entries, told_manifest, told_player
from harbor._packs.unpacking import unpack
from harbor.evaluation._experiments.design import Experiment
from harbor.evaluation._running.runner import run_experiment
from support.canaries import WORD, Marked, break_down, speak
from support.commands import harbor

NUMBERS = ("7351829", "8462917", "1987613", "2143837", "9182736", "8273645", "918273645", "5647382")
"""The digits of every planted number."""


ITEMS = [
    {"name": "Lot A", "start": 1_000_000, "true_value": 1987613.61, "persona": "canary-kind"},
    {"name": "Lot B", "start": 1_000_000, "true_value": 2143837.83},
]
SECRETS: dict[str, Any] = {"model": "canary-model", "objective": "canary-objective", "persona": "canary-kind"}
MIND: dict[str, Any] = {"theory_of_mind": "second", "strategy": "on", "memory": "list", "learning": True}
PRIVATE = {
    "name": "canary-name", "seed": 918273645, "models": {"canary-model": {"use": "given", "seed": 5647382}},
    "personas": [{"id": "canary-kind", "name": "Canary", "text": "canary-text of a persona"}],
}  # fmt: skip
VALUES = {"values": {"Ann": [9182736.45], "Ben": [8273645.18]}, "assets": 9_999_999, "show": "nothing", "runs": 2}
RESIDENTS = {name: {"need": 8, "salary": 70} for name in ("Ann", "Ben", "Eve")}
RESIDENTS["Nobody"] = {"need": 9, "salary": 5647382}
GAMES: dict[str, dict[str, Any]] = {
    "english": {"reveal": "price"}, "second-price": VALUES, "first-price": VALUES,
    "english-private": {**VALUES, "step_share": 0.4}, "beauty": {"runs": 2, "show": "nothing"},
    "water": {"days": 2, "residents": RESIDENTS},
}  # fmt: skip


def settings(game: str, **more: Any) -> AuctionConfig:
    """The settings of a game, with a canary wherever there is something private to set."""
    ann: dict[str, Any] = {"name": "Ann", "model": "canary-model"}
    ben: dict[str, Any] = {"name": "Ben", "rule": "random"}
    if game == "english":
        ann |= {**SECRETS, **MIND, "budget": 7351829.19, "overestimate": 0.137}
        ben |= {"budget": 8462917.27, "persona": "canary-kind"}
        more = {"items": ITEMS, **more}
    return AuctionConfig(**{**PRIVATE, "rules": {"game": game, **GAMES[game]}, "bidders": [ann, ben], **more})


def played(config: AuctionConfig, out: Path, with_agent: bool = False) -> Path:
    """Run a game with canaries in every reply, and in the words and the error of an agent."""
    given: dict[str, Any] = {"models": {"canary-model": Marked()}}
    if with_agent:
        config = config.model_copy(update={"bidders": (*config.bidders, Bidder("Eve", agent=True))})
        given["agents"] = {"Eve": break_down}
    with warnings.catch_warnings(action="ignore"):
        run_series(config, out, **given) if config.series else Auction(**dict(config)).run(out, **given)
    return out


def packed(folder: Path, to: Path) -> Path:
    """Pack a folder for everyone, into another."""
    with warnings.catch_warnings(action="ignore"):
        return pack(folder, to / "public.harbor.zip", public=True)


def everything_in(file: Path) -> str:
    """All that a pack has: names and bytes of its entries, the cells and the metadata of its tables, its own bytes."""
    found = [file.read_bytes().decode("latin-1")]
    with ZipFile(file) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            found += [name, content.decode("latin-1")]
            if name.endswith(".parquet"):
                table = pq.read_table(BytesIO(content))
                found += [json.dumps(table.to_pylist()), str(table.schema), str(table.schema.metadata)]
    return "\n".join(found)


def canaries_in(text: str) -> list[str]:
    return [canary for canary in (WORD, WORD.capitalize(), *NUMBERS) if canary in text]


def traces_of(folder: Path) -> set[str]:
    """When and where a run was made, by which name it goes, and every digest over it."""
    manifests = [json.loads(path.read_bytes()) for path in folder.rglob("manifest.json")]
    lines = [json.loads(line) for path in folder.rglob("events.jsonl") for line in path.read_bytes().splitlines()]
    began = [manifest["began"] for manifest in manifests if "began" in manifest]
    days = {written for one in began for written in (one, one[:10], one[:10].replace("-", ""))}
    digests = {one[key] for one in (*manifests, *lines) for key in ("config_digest", "digest", "token") if one.get(key)}
    commits = {(manifest.get("git") or {}).get("commit") for manifest in manifests} - {None}
    return {folder.name, str(folder.parent), str(Path.cwd())} | days | digests | commits


def leaks(folder: Path, file: Path) -> list[str]:
    """The canaries and the traces of a run that a pack of it has."""
    text = everything_in(file)
    return [*canaries_in(text), *(trace for trace in traces_of(folder) if trace in text)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One run of each game."""
    folder = tmp_path_factory.mktemp("canaries")
    return {game: played(settings(game), folder / f"{WORD}-{game}", game in ("english", "water")) for game in GAMES}


@pytest.fixture(scope="module")
def packs(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The public pack of each."""
    return {game: packed(run, tmp_path_factory.mktemp("packs")) for game, run in runs.items()}


@pytest.fixture(params=GAMES)
def game(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def unpacked(game: str, packs: dict[str, Path], tmp_path: Path) -> Path:
    return unpack(packs[game], tmp_path / "unpacked")


def test_a_canary_is_planted_for_every_game_of_harbor_and_is_in_the_private_files_of_the_runs(runs):
    assert {one.name for one in everything("game") if one.builtin} == set(GAMES)
    text = "".join(path.read_text("utf-8") for folder in runs.values() for path in folder.glob("*.json*"))
    assert canaries_in(text) == [WORD, WORD.capitalize(), *NUMBERS]
    for place in ("objective", "text", "reasons", "plan", "learning", "words", "failure", "english"):
        assert f"canary-{place}" in text, place


def test_no_canary_of_any_private_field_is_in_a_public_pack(runs, packs, game):
    assert leaks(runs[game], packs[game]) == []


def test_no_canary_of_a_series_with_memories_is_in_a_public_pack(tmp_path):
    folder = played(settings("english", series={"auctions": 2}), tmp_path / f"{WORD}-series")
    assert (folder / "memory").is_dir()
    file = packed(folder, tmp_path)
    assert leaks(folder, file) == []
    with ZipFile(file) as archive:
        logs = {name for name in archive.namelist() if name.endswith("events.jsonl")}
    assert logs == {"1/events.jsonl", "2/events.jsonl"}


def test_no_canary_of_finished_games_of_an_experiment_is_in_its_public_pack(tmp_path):
    config = settings("english", models={"canary-model": {"use": "support.canaries:MARKED", "seed": 5647382}})
    values = config.model_dump(mode="json", exclude_unset=True)
    values["bidders"].append({"name": "Eve", "agent": True})
    design = Experiment(
        name="small", title="A small title", question="Does a test pass?", source="made up", repeats=1,
        seed=values.pop("seed"), note=f"{WORD}-note", auction=values, metrics=("profit", "revenue"),
        arms=[{"name": "plain", "label": f"{WORD}-label"}],
    )  # fmt: skip
    folder = tmp_path / f"{WORD}-experiment"
    results = asyncio.run(run_experiment(design, folder, agents={"Eve": speak}))
    assert [(record.status, record.detail) for record in results.records] == [("finished", "")]
    private = "".join(path.read_text("utf-8") for path in folder.rglob("*.json*"))
    for place in ("objective", "text", "reasons", "plan", "learning", "words", "note", "label"):
        assert f"canary-{place}" in private, place
    assert leaks(folder, packed(folder, tmp_path)) == []


LINE = {"seq", "at", "audience", "type", "digest"}
ALLOWED: dict[str, set[str]] = {
    "pack.json": {"format", "kind", "published", "harbor", "files"},
    "manifest.json": {"public", "python", "versions", "options"},
    "config.json": {"bidders", "items", "rules", "series"},
    "results.json": {"harbor", "simulated", "players", "measurements"},
}
ALLOWED_INSIDE = {
    "bidders": {"name", "protocol"},
    "items": {"name", "start"},
    "measurements": {"metric", "value", "bidder", "about", "at", "missing", "counted"},
}
ALLOWED_RULES = {
    "english": {"increment_share", "lowerings", "lowering_share", "reveal"},
    "second-price": (SESSION := {"runs", "show", "history", "rational_rivals", "equal_rivals"})
    | {"draw", "entrance_fee_share"},
    "first-price": SESSION | {"draw", "entrance_fee_share"},
    "english-private": SESSION | {"draw", "entrance_fee_share", "step_share"},
    "beauty": SESSION | {"fraction", "prize"},
    "water": {"days", "history"},
}


def test_every_field_of_a_public_pack_is_on_the_list_of_this_test(game, unpacked):
    others = {"events.jsonl", "README.md", "CITATION.cff", "events.parquet", "measurements.parquet"}
    assert {path.name for path in unpacked.iterdir()} == {*ALLOWED, *others}
    for name, allowed in ALLOWED.items():
        values = json.loads((unpacked / name).read_text("utf-8"))
        assert set(values) == allowed
        assert values.get("options", [{"cache": False}]) == [{"cache": False}]
        for inside, keys in ALLOWED_INSIDE.items():
            rows = values.get(inside, [])
            assert all(set(row) <= keys for row in (rows if isinstance(rows, list) else []))
    config = json.loads((unpacked / "config.json").read_text("utf-8"))
    assert set(config["rules"]) == {"game", "reasks"} | ALLOWED_RULES[game]


def test_a_public_log_has_public_events_alone_numbered_anew_and_without_times(game, unpacked):
    opening, *events = map(json.loads, (unpacked / "events.jsonl").read_text("utf-8").splitlines())
    assert set(opening) - LINE == {"schema", "harbor", "run", "seed", "parts", "rules"}
    assert (opening["run"], opening["seed"], "token" in opening) == (game, None, False)
    assert not any("audience" in event for event in events)
    assert [event["seq"] for event in (opening, *events)] == list(range(len(events) + 1))
    assert {event["at"] for event in (opening, *events)} == {0.0}


def test_every_game_is_replayed_measured_and_verified_from_its_public_log_and_its_results_are_measured_anew(unpacked):
    for command in ("replay", "score"):
        done = harbor(command, unpacked)
        assert (done.returncode, done.stderr) == (0, "")
        assert "simulated bidders" in done.stdout
        found = harbor(command, unpacked, "--json").stdout
        assert json.loads(found)["seed"] is None
        assert "metric failed" not in found
    done = harbor("verify", unpacked)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("public events follow from the rules")
    (unpacked / "pack.json").unlink()
    results = json.loads((unpacked / "results.json").read_text("utf-8"))
    results["measurements"][0]["value"] = 1e9
    (unpacked / "results.json").write_text(json.dumps(results))
    done = harbor("verify", unpacked)
    assert (done.returncode, done.stdout.splitlines()[1]) == (1, "results.json")


class Stranger(RuleSettings):
    """A stranger's settings, which say nothing of what is public."""

    game: str = "strange"
    secret: int = 7


class Newer(RuleSettings):
    """A class that publishes one setting, which has settings of a class that publishes none."""

    public = RuleSettings.public | {"inner"}
    inner: tuple[Stranger, ...] = (Stranger(),)


def every(cls: type[Settings]) -> list[type[Settings]]:
    return [cls, *(inner for one in cls.__subclasses__() for inner in every(one))]


def test_a_setting_is_private_unless_its_class_lists_it():
    assert told(Stranger()) == {"game": "strange", "reasks": 3}
    assert told(Newer()) == {"game": "", "reasks": 3, "inner": [{"game": "strange", "reasks": 3}]}
    assert all(cls.public <= set(cls.model_fields) for cls in every(Settings) if cls.__module__.startswith("harbor"))


@dataclass(frozen=True, slots=True)
class Richer(LogOpened):
    """An opening with one field more."""

    secret: str = WORD


@dataclass(frozen=True, slots=True)
class Whispered(PublicEvent):
    """An event that calls itself public, and says that one bidder alone may see it."""

    @property
    def audience(self) -> str:  # type: ignore[override]
        return "bidder:Ann"


def test_an_event_with_a_new_field_or_another_audience_is_not_published():
    parts = (Part("game", "english", "harbor-auctions", "0.1.0"), Part("agent", WORD, WORD, ""))
    opened = Richer(2, "0.1.0", WORD, 9, WORD, parts)
    bid = Acted("Ann", "Lot", Bid(Decimal(7)))
    events = [Entry(place, 5.0, event) for place, event in enumerate([opened, Whispered(), bid, SaleClosed()])]
    first, *rest = told_entries(events, "name")
    assert type(first.event) is LogOpened
    assert [one.name for one in first.event.parts] == ["english"]
    assert rest == [Entry(1, 0.0, bid), Entry(2, 0.0, SaleClosed())]
    assert {one.name for one in fields(LogOpened)} == {"schema", "harbor", "run", "seed", "token", "parts", "rules"}


KNOWN = ("simulated", "knapsack", "person", "openai:gpt-4o-mini", "ollama:llama3.1:8b", "openai:meta-llama/Llama-3-8B")
PLAYERS = {name: name for name in KNOWN} | {
    "simulated (my-canary)": "simulated", "agent (canary.module:AGENT)": "agent",
    "openai:gpt-4o-mini (canary)": "openai:gpt-4o-mini", "openai:ft:gpt-4o:canary::9a": "openai: a model",
    "openai:ft:canary": "openai: a model", "openai:/models/canary": "openai: a model",
    "openai:../canary": "openai: a model", "openai:https://canary.example/v1": "openai: a model",
    "openai:C:\\canary": "openai: a model", "canary.package:MODEL": "a model", "Canary model": "a model",
}  # fmt: skip


def test_a_player_is_told_by_a_name_that_others_know_and_never_by_a_path_or_an_address():
    assert {player: told_player(player) for player in PLAYERS} == PLAYERS


def test_a_manifest_tells_versions_alone():
    versions = {"pydantic": "2.11", "canary Name": "1", "langgraph": WORD}
    public = {"public": True, "python": "", "versions": {"pydantic": "2.11", "langgraph": ""}}
    assert told_manifest({"versions": versions, "git": WORD, "config_digest": WORD}) == public


def test_personas_are_published_only_where_the_settings_say_so():
    assert "persona" not in json.dumps(told_config(settings("english")))
    shown = told_config(settings("english", publish_personas=True))["bidders"][0]
    assert shown["persona"] == {"canary-kind": 1.0}
    assert shown["persona_texts"] == {"canary-kind": "canary-text of a persona"}


def test_equal_runs_make_equal_public_packs(packs, tmp_path):
    again = played(settings("water"), tmp_path / "again" / "water", with_agent=True)
    assert packed(again, tmp_path).read_bytes() == packs["water"].read_bytes()


def test_a_seed_that_is_easily_guessed_is_warned_of(tmp_path):
    played(settings("beauty", seed=7), tmp_path / "run")
    done = harbor("pack", tmp_path / "run", "--public")
    assert done.returncode == 0
    assert "seed 7 is not in the pack, but easily guessed" in done.stderr
