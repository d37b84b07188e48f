"""A manifest describes a run: its extensions, the commit it began in, and its options.

Resuming repeats the options in the manifest of a run or an experiment. ``options`` of manifest.json is a list: first
the initial options, then all options again at each change, with the time. The last ones hold. A manifest of an earlier
Harbor has none, and the defaults hold. The commit of a folder is read without git: git runs programs that the folder's
settings name.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from harbor._config.auction import AuctionConfig, ModelSettings
from harbor._config.models import GIVEN, PROVIDERS
from harbor._core.basics.errors import ConfigError, RunFolderError
from harbor._core.files.layout import MANIFEST
from harbor._core.files.marks import replace_settings
from harbor._core.files.safe_files import MOST_SETTINGS, parsed, read_sent
from harbor._core.log import thoughts
from harbor._core.plugins.extensions import Kind, Part
from harbor._core.plugins.finding import found
from harbor.graphs._context.node import ThoughtNode
from harbor.personas._catalog.catalogue import catalogue_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from harbor._models.replies.cache import ReplyCache
    from harbor._runs.inputs import RunInputs

    Options = TypeVar("Options", bound=DataclassInstance)
else:
    Options = TypeVar("Options")

EXACT = ConfigDict(extra="forbid", strict=True)
"""No unknown option and no other type is accepted."""
AT = "at"
"""Key of the time from which options hold."""


@dataclass(frozen=True, config=EXACT)
class AuctionOptions:
    """The options of an auction or a series.

    If `cache` is true, replies of hosted models are kept on this machine. If it is "given", they are in a cache of the
    caller's own, which the caller has to pass again. `max_cost` is in dollars, over all sessions (None: no limit).
    """

    cache: bool | Literal["given"] = False
    max_cost: float | None = None


def options_of(inputs: RunInputs) -> AuctionOptions:
    """Return the options among the inputs of a run."""
    from harbor._models.replies.cache import ReplyCache

    given = inputs.cache is not None
    limit = None if inputs.max_cost is None else float(inputs.max_cost)
    return AuctionOptions("given" if given and inputs.cache != ReplyCache() else given, limit)


def cache_again(path: Path, options: AuctionOptions) -> ReplyCache | None:
    """Open the cache of a run again.

    Raises:
        ConfigError: the run used a cache of the caller's own, which only the caller can pass again.
    """
    from harbor._models.replies.cache import ReplyCache

    if options.cache == "given":
        raise ConfigError(
            f"run {str(path)!r} was begun with a ReplyCache of your own; give it again as resume(cache=...), or choose"
            " with --cache or --no-cache"
        )
    return ReplyCache() if options.cache else None


def noted(options: DataclassInstance) -> dict[str, Any]:
    """Return options as a manifest lists them, with the current time."""
    return {AT: datetime.now(UTC).isoformat(timespec="seconds"), **asdict(options)}


def kept(path: Path, kind: type[Options]) -> Options:
    """Read the options that hold in the folder of a run or an experiment.

    Raises:
        RunFolderError: they can't be read.
    """
    try:
        written = json.dumps({name: one for name, one in last(path).items() if name != AT})
        return cast("Options", _reader(kind).validate_json(written))
    except ValidationError as error:
        raise _unreadable(path, wrong_in(error)) from error


def wrong_in(error: ValidationError) -> str:
    """Return the first option with an error, and the error."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))!r}: {first['msg'].lower()}"


def last(path: Path) -> Mapping[str, Any]:
    """Return the last options of a manifest, unchecked; the folder may come from somebody else.

    Raises:
        RunFolderError: there is no list of options.
    """
    history = history_in(path)
    return history[-1] if history else {}


def history_in(path: Path) -> list[dict[str, Any]]:
    """Return all options of a manifest, unchecked, the first ones first.

    Raises:
        RunFolderError: they are not a list of options.
    """
    try:
        found = parsed(read_sent(path / MANIFEST, MOST_SETTINGS)).get("options", [])
    except (OSError, ValueError, AttributeError) as error:
        raise _unreadable(path, "it is no manifest") from error
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise _unreadable(path, "they are no list of options")
    return found


def keep(path: Path, options: DataclassInstance) -> None:
    """Write options that have changed to the manifest of a locked folder, which is the user's own.

    Raises:
        RunFolderError: the old ones can't be read, or the new ones can't be written.
    """
    if options == kept(path, type(options)):
        return
    manifest = parsed(read_sent(path / MANIFEST, MOST_SETTINGS))
    manifest["options"] = [*manifest.get("options", []), noted(options)]
    try:
        replace_settings(path, MANIFEST, json.dumps(manifest, indent=2).encode() + b"\n")
    except OSError as error:
        raise RunFolderError(f"{str(path / MANIFEST)!r} can't be written ({error.strerror}); make room") from error


def changed(what: str, before: DataclassInstance, after: DataclassInstance) -> str:
    """Return a sentence on the options that change; empty if none changes."""
    old, new = asdict(before), asdict(after)
    names = [name for name in old if old[name] != new[name]]
    if not names:
        return ""
    then, now = (" and ".join(_word(name, one[name]) for name in names) for one in (old, new))
    return f"{what} was played with {then}; from now on with {now}"


def in_words(options: Mapping[str, Any]) -> str:
    """Return options as arguments of a command, without those that are not set."""
    return " ".join(_word(name, one) for name, one in options.items() if name != AT and one is not None)


def _word(name: str, value: object) -> str:
    option = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{option}" if value else f"--no-{option}"
    if value is None:
        return f"no --{option}"
    return f"--{option} {f'{value:.10g}' if isinstance(value, float) else value}"


@cache
def _reader(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _unreadable(path: Path, why: str) -> RunFolderError:
    return RunFolderError(
        f"{str(path / MANIFEST)!r} has options that can't be read ({why}); restore it as it was written, or resume"
        " with the Harbor that wrote it"
    )


def parts_of(
    config: AuctionConfig, models: Iterable[ModelSettings], nodes: Iterable[ThoughtNode] = ()
) -> tuple[Part, ...]:
    """Return the game, then nodes, policies and agents of bidders, then models and the catalogue, each once.

    Args:
        config: the settings.
        models: those of the models in use; models given as objects, or from a provider, are no extensions.
        nodes: those of the bidders; only nodes with an event outside the core are named, for readers of the log.
    """
    own: list[tuple[Kind, str]] = [("node", node.name) for node in nodes if node.event.__module__ != thoughts.__name__]
    named = dict.fromkeys([("game", config.rules.game), *_of_bidders(config), *own, *_of_models(models)])
    parts = dict.fromkeys(found(kind, name).part for kind, name in named)
    return (*parts, *_catalogue(config))


def _of_bidders(config: AuctionConfig) -> Iterator[tuple[Kind, str]]:
    for bidder in config.bidders:
        if bidder.uses_model:
            yield from (("node", name) for name in bidder.nodes)
        if bidder.rule:
            yield "policy", bidder.rule
        if isinstance(bidder.agent, str):
            yield "agent", bidder.agent


def _of_models(models: Iterable[ModelSettings]) -> Iterator[tuple[Kind, str]]:
    for one in models:
        if one.use != GIVEN and one.use.partition(":")[0] not in PROVIDERS:
            yield "model", one.use


def _catalogue(config: AuctionConfig) -> Iterator[Part]:
    """Yield the catalogue with its own version if items or personas may come from it.

    A resumed run has its items listed, so whether they were sampled makes no difference.
    """
    if "items" in found("game", config.rules.game).value.uses or any(bidder.persona for bidder in config.bidders):
        one, catalogue = found("catalogue", config.catalogue.partition("@")[0]), catalogue_of(config.catalogue)
        yield Part("catalogue", f"{one.name}@{catalogue.version}", one.package, one.version)


MOST_HEAD = 4096
"""The greatest number of bytes that are read of HEAD or of a branch."""
MOST_REFS = 16 * 2**20
"""The greatest number of bytes that are read of `packed-refs`; Linux has 100 bytes for each of its thousand tags."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
"""A commit of git, by SHA-1 or SHA-256."""
_BRANCH = re.compile(r"ref: (refs(?:/(?!\.)[^/\s\0]+)+)")
"""HEAD on a branch; no part of the name may begin with a dot, so that no path leads out of `.git`."""


def commit_of(folder: Path) -> str | None:
    """Return the commit that is checked out in a folder or in the nearest folder above with a `.git`; else None.

    Only `.git` itself is read, and no link is followed. Therefore a worktree and a submodule, whose `.git` names
    another folder, have no commit. Errors in it count as no commit.
    """
    git = next((one / ".git" for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)
    try:
        return _head_of(git) if git else None
    except (OSError, ValueError):
        return None


def _head_of(git: Path) -> str | None:
    head = _text(git, "HEAD", MOST_HEAD).strip()
    if not (named := _BRANCH.fullmatch(head)):
        return _commit(head)
    branch = named[1]
    try:
        return _commit(_text(git, branch, MOST_HEAD).strip())
    except OSError:  # git packs unchanged branches into one file
        lines = (line.split() for line in _text(git, "packed-refs", MOST_REFS).splitlines())
        return next((_commit(words[0]) for words in lines if words[1:] == [branch]), None)


def _text(git: Path, name: str, most_bytes: int) -> str:
    place = git
    for part in Path(name).parts:
        if place.is_symlink():
            raise OSError(f"{str(place)!r} is a link")
        place /= part
    return read_sent(place, most_bytes).decode()


def _commit(text: str) -> str | None:
    return text if _COMMIT.fullmatch(text) else None
