"""Reasons to distrust a folder: the effects and costs of another person's settings, and logs that do not follow."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harbor._cli.shared.shell import say
from harbor._core.basics.errors import ConfigError, HarborError, LogError
from harbor._core.basics.feedback import steps
from harbor._core.basics.redaction import told
from harbor._core.files.layout import CONFIG, DESIGN, EVENTS, check_experiment, games_in
from harbor._core.plugins.extensions import Kind, only_harbors
from harbor._core.plugins.finding import command, everything

if TYPE_CHECKING:
    from harbor._core.log.log_entries import Entry

Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Mark a folder that somebody sent as yours, and run the code and programs that its settings name.",
    ),
]
TrustSettings = Annotated[
    bool, typer.Option("--trust", help="Run the code and programs that a JSON file from somebody else names.")
]
NAMED: dict[str, dict[str, Kind | None]] = {
    "asks models, with your keys": {"use": "model", "model": "model", "models": "model"},
    "starts programs, with your rights": {"command": None},
    "gives them the variables": {"env": None},
    "takes the keys in": {"api_key_env": None},
    "contacts": {"url": None, "base_url": None},
    "opens memories": {"store": None},
    "loads embeddings": {"embedding": None},
    "runs extensions": {
        "game": "game",
        "rule": "policy",
        "agent": "agent",
        "nodes": "node",
        "catalogue": "catalogue",
        "metric": "metric",
        "metrics": "metric",
        "correlations": "metric",
        "figures": "figure",
    },
}
"""The effect of each setting that names something, and the kind of extension named (None: no extension)."""
SLOT = re.compile(r"@[1-9][0-9]?")
"""A slot in a design, which stands for a model that the design names elsewhere."""
HASHING = "hashing"
"""Harbor's own embedding."""
NOTHING = "names nothing but Harbor's own: no model of a provider, no server, no code of anybody else"
"""Line for settings that name only parts of Harbor."""
ADDRESS = re.compile(r"\s*https?:", re.IGNORECASE)
"""Start of the address of a server, under any key."""
MOST_SHOWN, LONGEST_SHOWN = 10, 300
"""The greatest number of names that are shown for one effect, and of characters in a name."""


def settle_trust(folder: Path, trust: bool) -> None:
    """Refuse another person's folder, after listing its names; with `trust`, mark it as the user's own.

    Raises:
        RunFolderError: it is another person's.
        ConfigError: there is no place for the key of marks.
    """
    from harbor._core.files.marks import check_own, is_own

    if not trust and not is_own(folder):
        file = DESIGN if (folder / DESIGN).is_file() else CONFIG
        for line in (*(_named_in(folder / file) or [NOTHING]), *_options_of(folder), _spent_in(folder)):
            say(f"{folder.name}: {line}")
    check_own(folder, trust)


def settle_trust_in_settings(name: str | None, trust: bool) -> None:
    """Refuse settings that somebody may have sent, after listing their names; users write TOML files themselves.

    Args:
        name: of a preset or of a file.
        trust: whether the user trusts it.

    Raises:
        ConfigError: it is a JSON file without the user's mark, and names parts that are not Harbor's.
    """
    from harbor._core.files.marks import is_own

    file = Path(name or "")
    marked = file.name in (CONFIG, DESIGN) and is_own(file.parent)
    if trust or marked or file.suffix != ".json" or not file.is_file() or not (named := _named_in(file)):
        return
    for line in named:
        say(f"{file.name}: {line}")
    raise ConfigError(
        f"{name!r} is not marked as yours: somebody else may have made it; if you trust what it names, give --trust, or"
        " write a TOML file of your own"
    )


def settle_trust_in_memory(folder: Path, trust: bool) -> None:
    """List the reads for opening another person's memory, unless it is trusted; opening it then refuses it."""
    from harbor._core.files.marks import is_in_own
    from harbor.memory._store.place import embedding_named

    if not trust and not is_in_own(folder):
        size = sum(file.lstat().st_size for file in folder.rglob("*"))
        say(f"{folder.name}: opens the database of a memory, {size:,} bytes, with SQLite and Chroma")
        say(f"{folder.name}: loads the embedding: {embedding_named(folder) or 'the one that the database names'}")


def _named_in(file: Path) -> list[str]:
    """Return a line for each effect of the settings in a file, valid or not; load no package for it."""
    from harbor._core.files.safe_files import MOST_SETTINGS, parsed, read_sent

    try:
        values = parsed(read_sent(file, MOST_SETTINGS))
    except (OSError, ValueError):  # refused when it is read for more than this
        return ["names: unknown, as its settings can't be read"]
    return [f"{does}: {_shown(names)}" for does, names in named_by(values).items()]


def named_by(values: object) -> dict[str, list[str]]:
    """Return the names in settings that are not Harbor's own, by their effect; load no package for it."""
    own = _own_models(values)
    found = [one for one in dict.fromkeys(_texts(_without_labels(values))) if one not in own]
    named = {
        does: [text for key, text in found if key in kinds and not _is_harbors(key, kinds[key], text)]
        for does, kinds in NAMED.items()
    }
    return {does: names for does, names in named.items() if names}


def _own_models(values: object) -> set[tuple[str, str]]:
    """Return the settings that name a model of the file's own table: only the `use` in the table has an effect.

    The table of an arm is not shared. A name with a colon can be a provider's model, so it counts itself.
    """
    whole: Any = values.get("auction", values) if isinstance(values, dict) else {}
    table = whole.get("models") if isinstance(whole, dict) else None
    names = [name for name in table if ":" not in name] if isinstance(table, dict) else []
    return {(key, name) for key in ("model", "models") for name in names}


def _without_labels(values: object) -> object:
    """Drop the models of published numbers: they are labels for readers, and are never asked."""
    if not isinstance(values, dict) or not isinstance(values.get("published"), list):
        return values
    bare = [{**one, "model": None} if isinstance(one, dict) else one for one in values["published"]]
    return {**values, "published": bare}


def _is_harbors(key: str, kind: Kind | None, name: str) -> bool:
    """Return whether a setting names a part of Harbor, or has no effect of its own."""
    if kind is None:
        return (key, name) == ("embedding", HASHING)
    if key == "metric":  # unlike `metrics`, it may be a correlation or a rating
        from harbor.evaluation._experiments.design_parts import RATINGS

        return all(one in RATINGS or one in _harbors(kind) for one in name.split(" ~ "))
    return bool(SLOT.fullmatch(name)) or (name.partition("@")[0] if kind == "catalogue" else name) in _harbors(kind)


@cache
def _harbors(kind: Kind) -> frozenset[str]:
    """Return the names of Harbor's own parts of a kind; load no other package for it."""
    token = only_harbors.set(True)
    try:
        return frozenset(one.name for one in everything(kind) if one.builtin)
    finally:
        only_harbors.reset(token)


def _texts(values: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text with its key: a command as one text, an address also as that of a server."""
    if isinstance(values, str):
        yield key, values
        if ADDRESS.match(values):
            yield "url", values
    elif key == "command" and isinstance(values, list):
        yield key, shlex.join(map(str, values))
    elif isinstance(values, dict):
        for name, value in values.items():
            yield from _texts(value, name)
    elif isinstance(values, list):
        for value in values:
            yield from _texts(value, key)


def _shown(names: Iterable[str]) -> str:
    each = list(dict.fromkeys(names))
    shown = [
        repr(name[:LONGEST_SHOWN]) + f" and {len(name) - LONGEST_SHOWN:,} more characters" * (len(name) > LONGEST_SHOWN)
        for name in each[:MOST_SHOWN]
    ]
    return ", ".join([*shown, *([f"and {len(each) - MOST_SHOWN} more"] if len(each) > MOST_SHOWN else [])])


def _options_of(folder: Path) -> list[str]:
    """Return a line with the options for resuming: the place of the games, their number at once, and the limit."""
    from harbor._runs.manifest import in_words, last

    try:
        words = in_words(last(folder))
    except HarborError:
        return ["resumes with: unknown, as its options can't be read"]
    return [f"resumes with: {_shown([words])}"] if words else []


def _spent_in(folder: Path) -> str:
    from harbor._runs.run import calls_in

    try:
        costs = [call.cost_dollars or 0.0 for call in calls_in(folder)]
    except HarborError:
        return "spends: unknown, as its recorded calls can't be read; --max-cost sets a limit"
    return f"spends: ${sum(costs):,.2f} so far, by its {len(costs):,} recorded calls; --max-cost limits the rest"


MOST_CHECKED = 20_000_000
"""Bytes of logs that a command checks in passing; more would take longer than a few seconds."""


@contextmanager
def measuring(run: Path, entries: Sequence[Entry]) -> Iterator[None]:
    """Warn of a log that does not follow, and report an error in measuring it in one line.

    Raises:
        LogError: it can't be measured.
    """
    from harbor._runs.verification import difference_in

    _warn(run, difference_in(run, entries))
    with _in_one_line(run):
        yield


@contextmanager
def measuring_games(experiment: Path, checked: bool = True) -> Iterator[None]:
    """Report an error in measuring an experiment in one line; if `checked`, also warn if it does not follow.

    Raises:
        LogError: it can't be measured.
    """
    if checked:
        warn_of_games(experiment)
    with _in_one_line(experiment):
        yield


def warn_of_games(experiment: Path) -> None:
    """Warn of an experiment with a log, a record or results that do not follow, or with too many logs to check.

    Raises:
        LogError: it can't be measured.
    """
    games = games_in(experiment)
    if (size := sum(log.stat().st_size for log in experiment.rglob(EVENTS))) > MOST_CHECKED:
        say(f"its logs have {size // 10**6:,} MB, so they are not checked here; see: {_verify(experiment)}")
        return
    with _in_one_line(experiment):
        _warn(experiment, _difference_in_games(experiment, games))


def warn_of(folder: Path) -> None:
    """Warn of a run (its folder or its log), a series or an experiment that does not follow.

    Raises:
        RunFolderError: the experiment has a link in it.
        LogError: it can't be measured.
    """
    from harbor._runs.verification import first_difference

    if (folder / DESIGN).is_file():
        check_experiment(folder)
        warn_of_games(folder)
    elif found := first_difference(folder):
        inside = found.log.relative_to(folder if folder.is_dir() else folder.parent)
        _warn(folder, f"{inside}: {found.verdict.words}")


def _difference_in_games(experiment: Path, games: Sequence[Path]) -> str:
    """Return the first difference in an experiment, logs first; empty: it follows, or it can't be checked."""
    from harbor._runs.verification import first_difference
    from harbor.evaluation._running.verifying import results_checked

    if found := next(filter(None, map(first_difference, steps(games, "games checked"))), None):
        return f"{found.log.relative_to(experiment)}: {found.verdict.words}"
    with suppress(HarborError):
        verdict = results_checked(experiment)
        if not verdict.follows:
            return f"{verdict.event}, does not follow from its log: {verdict.found}, not {verdict.expected}"
    return ""


def _warn(run: Path, difference: str) -> None:
    if difference:
        say(f"warning: {difference}; see: {_verify(run)}")


def _verify(run: Path) -> str:
    return f"{command()} verify {shlex.quote(str(run))}"


@contextmanager
def _in_one_line(run: Path) -> Iterator[None]:
    """Turn other errors than Harbor's into one line: a forged log may cause any error in measuring it."""
    try:
        yield
    except (HarborError, OSError):
        raise
    except Exception as error:
        raise LogError(f"{str(run)!r} can't be measured ({told(error)}); see: {_verify(run)}") from error
