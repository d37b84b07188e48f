"""Makes a public copy of a run, a series or an experiment: a folder with only the data that everyone may know."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from harbor._config.auction import AuctionConfig
from harbor._config.models import PROVIDERS
from harbor._core.faces import __version__
from harbor._core.files.layout import CONFIG, DESIGN, EVENTS, GAMES, MANIFEST, RESULTS
from harbor._core.log.events import EVERYONE, Event, LogOpened, PublicEvent
from harbor._core.log.log import of_type, read_log
from harbor._core.log.log_entries import Entry, encode
from harbor._core.plugins.extensions import HARBOR, NAME, WITH_EVENTS, Part
from harbor._core.plugins.finding import of_part
from harbor._core.settings import Settings
from harbor._packs.contents import Kind
from harbor._runs.folder import read_config
from harbor.evaluation._experiments.design import Experiment, measured
from harbor.evaluation._experiments.trial_records import TrialRecord
from harbor.evaluation._experiments.trials import Trial, trials
from harbor.evaluation._metrics.calls import any_simulated, players
from harbor.evaluation._metrics.measurement import PRIVATE, Measurement, fitting, measure
from harbor.evaluation._running.experiment_folder import read_manifest, read_results, trial_path

MODEL = re.compile(r"(?!ft:)[A-Za-z0-9][\w.-]{0,80}(/[A-Za-z0-9][\w.-]{0,80})?(:[A-Za-z0-9][\w.-]{0,40})?", re.ASCII)
"""A model name that a provider lists: no path, no address, and no fine-tuned model."""
UNNAMED = "a model"
VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,40}")


def told(settings: Settings) -> dict[str, Any]:
    """Return as JSON the fields that the class of the settings lists in `public`; filter nested settings alike."""
    plain = settings.model_dump(mode="json", include=set(type(settings).public))
    return {name: _told(getattr(settings, name), plain[name]) for name in sorted(type(settings).public)}


def _told(value: Any, plain: Any) -> Any:
    if isinstance(value, Settings):
        return told(value)
    if isinstance(value, dict):
        return {key: _told(inner, shown) for (key, inner), shown in zip(value.items(), plain.values(), strict=True)}
    if isinstance(value, list | tuple):
        return [_told(inner, shown) for inner, shown in zip(value, plain, strict=True)]
    return plain


def told_config(config: AuctionConfig) -> dict[str, Any]:
    """Return the public settings of a game. Include the bidders' personas only if `publish_personas` is set."""
    settings = told(config)
    if config.publish_personas:
        texts = {persona.id: persona.text for persona in config.personas}
        for bidder, shown in zip(config.bidders, settings["bidders"], strict=True):
            shown["persona"] = dict(bidder.persona)
            shown["persona_texts"] = {key: texts[key] for key in bidder.persona if key in texts}
    return settings


def told_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the versions, and the options about the data. Leave out digests, dates, checkouts and addresses."""
    versions = manifest.get("versions")
    named = versions.items() if isinstance(versions, dict) else ()
    return {
        "public": True,
        "python": version_of(manifest.get("python")),
        "versions": {name: version_of(one) for name, one in named if NAME.fullmatch(name)},
        **({"options": _told_options(manifest["options"])} if "options" in manifest else {}),
    }


def _told_options(history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the cache option and the lane of calls at the start and after each change of either."""
    found: list[dict[str, Any]] = []
    for one in history:
        shown: dict[str, Any] = {"cache": bool(one.get("cache"))}
        if "lane" in one:
            shown["lane"] = "batch" if one["lane"] == "batch" else "live"
        if found[-1:] != [shown]:
            found.append(shown)
    return found


def version_of(given: object) -> str:
    """Return a version, or "" if the value is none."""
    return given if isinstance(given, str) and VERSION.fullmatch(given) else ""


def told_player(player: str) -> str:
    """Return the name of a player as it may be published: a rule, an agent, a person, or a provider's model.

    A name in brackets, which the user gave, is left out. A path, an address or an unknown name becomes "a model".
    """
    use = player.partition(" (")[0]
    provider, _, model = use.partition(":")
    if not model:
        return use if NAME.fullmatch(use) else UNNAMED
    if provider not in PROVIDERS:
        return UNNAMED
    return use if MODEL.fullmatch(model) else f"{provider}: {UNNAMED}"


def told_players(entries: Sequence[Entry]) -> dict[str, str]:
    """Return the public name of each bidder's player."""
    return {bidder: told_player(player) for bidder, player in players(entries).items()}


def told_entries(entries: Sequence[Entry], run: str) -> list[Entry]:
    """Return a new opening and then the public events of a log, with new numbers and without times.

    The opening has only the fields that this function sets; `run` is the name that the opening gives to the run.
    """
    events = [entry.event for entry in entries if is_for_everyone(entry.event)]
    opened = of_type(entries, LogOpened)[0]
    parts = tuple(part for part in opened.parts if part.kind == "game" or _brings(part, events))
    if any_simulated(players(entries).values()):
        parts = (*parts, Part("model", "simulated", HARBOR, version_of(opened.harbor)))
    opening = LogOpened(
        schema=opened.schema, harbor=version_of(opened.harbor), run=run, seed=None, parts=parts, rules=opened.rules
    )
    return [Entry(place, 0.0, event) for place, event in enumerate((opening, *events))]


def is_for_everyone(event: Event) -> bool:
    """Return whether everyone may see an event, by its class and by its audience."""
    return isinstance(event, PublicEvent) and event.audience == EVERYONE


def _brings(part: Part, events: Sequence[Event]) -> bool:
    """Return whether one of the events belongs to a part, which is then needed to read them."""
    return part.kind in WITH_EVENTS and any(type(event) in of_part(part).events for event in events)


FAILED = "the game failed; why is private"
_RECORDS = TypeAdapter(tuple[TrialRecord, ...])
_MEASUREMENTS = TypeAdapter(tuple[Measurement, ...])


@dataclass(frozen=True, slots=True)
class PublicGame:
    """An auction of a public copy: its folder ("" for the copy itself), its public log and its measurements."""

    place: str
    entries: Sequence[Entry]
    measurements: tuple[Measurement, ...] = ()


@dataclass(slots=True)
class PublicCopy:
    """A public copy: its subject, its numbers of games and events, and the names of its games.

    `seed` is the original's seed. It is not published, and serves for a warning if it can be guessed.
    """

    kind: Kind
    title: str
    question: str = ""
    seed: int = 0
    simulated: bool = False
    games: int = 0
    events: int = 0
    failed: int = 0
    named: set[str] = field(default_factory=set)

    def count(self, game: PublicGame, config: AuctionConfig) -> PublicGame:
        """Count one more game and return it."""
        self.games += 1
        self.events += len(game.entries) - 1
        self.named.add(config.rules.game)
        return game


def kind_of(folder: Path) -> Kind:
    """Return the kind of a folder.

    Raises:
        RunFolderError: it is the folder of neither a run nor an experiment.
    """
    if (folder / DESIGN).is_file():
        read_manifest(folder)
        return "experiment"
    return "run" if read_config(folder).series is None else "series"


def publish(folder: Path, to: Path, about: PublicCopy) -> Iterator[PublicGame]:
    """Write a public copy into an empty folder, and yield its games.

    Raises:
        RunFolderError: the original can't be read.
        LogError: a log was edited.
    """
    if about.kind == "experiment":
        return _experiment(folder, to, about)
    return _run(folder, to, about)


def _run(folder: Path, to: Path, about: PublicCopy) -> Iterator[PublicGame]:
    """Copy a run, or each auction of a series. Measure a run again from its public events."""
    config = read_config(folder)
    entries = read_log(folder / EVENTS).entries
    shown = told_players(entries)
    about.simulated = any_simulated(shown.values())
    about.seed, about.title = config.seed, f"A {about.kind} of the game {config.rules.game}"
    found: list[Measurement] = []
    if config.series is None:
        game = about.count(_game(entries, config, folder, to, "", ()), config)
        found = measure(fitting(game.entries), game.entries)
        yield PublicGame("", game.entries, tuple(found))
    else:
        yield from (about.count(game, config) for game in _auctions(folder, to, ""))
        _write(to / CONFIG, told_config(config))
        _write(to / MANIFEST, told_manifest(_json(folder / MANIFEST)))
    results = {"harbor": __version__, "simulated": about.simulated, "players": shown}
    _write(to / RESULTS, results | {"measurements": _MEASUREMENTS.dump_python(tuple(found), mode="json")})


def _auctions(folder: Path, to: Path, place: str) -> Iterator[PublicGame]:
    """Copy the auctions of a series. The series' own log has no public events."""
    for inner in sorted(one for one in folder.iterdir() if one.name.isdecimal() and (one / EVENTS).is_file()):
        where = f"{place}/{inner.name}".lstrip("/")
        yield _game(read_log(inner / EVENTS).entries, read_config(inner), inner, to, where, ())


def _experiment(folder: Path, to: Path, about: PublicCopy) -> Iterator[PublicGame]:
    results = read_results(folder)
    experiment, records = results.experiment, []
    about.title, about.question, about.simulated = experiment.title, experiment.question, results.simulated
    about.seed = experiment.seed
    for trial, record in zip(trials(experiment), results.records, strict=True):
        games = list(_trial(trial, record, trial_path(folder, trial), to, measured(experiment)))
        yield from (about.count(game, trial.config) for game in games)
        records.append(_record(record, games[0].measurements if games else ()))
    about.failed = sum(record.status == "failed" for record in records)
    design = json.dumps(told_design(experiment), indent=2)
    begun_with = told_manifest(read_manifest(folder)) | {"harbor": __version__, "experiment": json.loads(design)}
    _write(to / MANIFEST, begun_with | {"config_digest": sha256(design.encode()).hexdigest()})
    (to / DESIGN).write_text(design + "\n", encoding="utf-8")
    head = {"experiment": experiment.name, "harbor": __version__, "simulated": results.simulated}
    dumped = _RECORDS.dump_python(tuple(records), mode="json", exclude_defaults=True)
    _write(to / RESULTS, {**head, "games": dumped})


def _trial(trial: Trial, record: TrialRecord, path: Path, to: Path, metrics: Sequence[str]) -> Iterator[PublicGame]:
    """Copy the games of a finished trial. Copy nothing from any other trial, whose record has only its status."""
    if record.status != "finished":
        return
    place = f"{GAMES}/{trial.path}"
    if trial.config.series is not None:
        missing = tuple(Measurement(name, None, missing=PRIVATE) for name in metrics)
        for game in _auctions(path, to, place):
            yield replace(game, measurements=missing)
            missing = ()
        return
    yield _game(read_log(path / EVENTS).entries, trial.config, path, to, place, metrics)


def _record(record: TrialRecord, found: tuple[Measurement, ...]) -> TrialRecord:
    """Make the public record of a trial from listed fields only."""
    return TrialRecord(
        arm=record.arm,
        condition=record.condition,
        repeat=record.repeat,
        seed=None,
        status=record.status,
        detail=FAILED if record.status == "failed" else "",
        players=tuple((bidder, told_player(player)) for bidder, player in record.players),
        measurements=found,
    )


def told_design(experiment: Experiment) -> dict[str, Any]:
    """Return the public settings of a design and the names of its models, without the settings of its auctions."""
    models = [told_player(model) for model in experiment.models]
    return told(experiment) | {"models": models, "auction": {}}


def _game(
    entries: Sequence[Entry], config: AuctionConfig, folder: Path, to: Path, place: str, metrics: Sequence[str]
) -> PublicGame:
    """Write the public log, the public settings and the versions of one auction."""
    public = told_entries(entries, place.removeprefix(f"{GAMES}/") or config.rules.game)
    (to / place).mkdir(parents=True, exist_ok=True)
    digest = ""
    with (to / place / EVENTS).open("wb") as log:
        for entry in public:
            line, digest = encode(entry, digest)
            log.write(line)
    _write(to / place / CONFIG, told_config(config))
    _write(to / place / MANIFEST, told_manifest(_json(folder / MANIFEST)))
    return PublicGame(place, public, tuple(measure(metrics, public)))


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, values: dict[str, Any]) -> None:
    path.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", errors="replace")
