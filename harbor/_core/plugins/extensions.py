"""Extension points to which any package brings values, found by name or as "package.module:NAME".

A game, a thought node, a metric, a figure, a scripted policy, an agent, a model and a catalogue are each one value of
a class that lists its parts. Harbor's own values come in by the same door: entry points of an installed package. A
value is loaded when it is first needed. A reference, "package.module:NAME", is code. Harbor follows it only where the
user names it, in a command, in TOML or in Python, and never because a file that may have been sent names it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from harbor._core.basics.errors import HarborError, unknown

if TYPE_CHECKING:  # it takes long to import, and `harbor --help` neither checks nor looks for anything
    from importlib.metadata import Distribution, EntryPoint

    from pydantic import BaseModel

API = 1
"""Version of the interface of extensions; each value states the version that it was written for."""

HARBOR = "harbor-auctions"
"""Name of Harbor's own package."""
Kind = Literal["game", "node", "metric", "figure", "policy", "agent", "model", "catalogue"]
KINDS: dict[Kind, tuple[str, str]] = {
    "game": ("harbor.games", "harbor._games.game:Game"),
    "node": ("harbor.nodes", "harbor.graphs._context.node:ThoughtNode"),
    "metric": ("harbor.metrics", "harbor.evaluation._metrics.measurement:Metric"),
    "figure": ("harbor.figures", "harbor.evaluation._report.drawing.figure:Figure"),
    "policy": ("harbor.policies", "harbor._games.game:ScriptedPolicy"),
    "agent": ("harbor.agents", "harbor._doors.agent:Agent"),
    "model": ("harbor.models", "harbor._models.providers:Model"),
    "catalogue": ("harbor.catalogues", "harbor.personas._catalog.catalogue:Catalogue"),
}
"""The group of entry points of each kind, and the class of its values."""
WITH_EVENTS: tuple[Kind, ...] = ("game", "node")
"""The kinds that add events to logs, so that a log with them can't be read without them."""

only_harbors: ContextVar[bool] = ContextVar("only_harbors", default=False)
"""True while a stranger's folder is read: then no package is loaded because of a name, except Harbor's own."""
NOT_HARBORS = (
    "is none of Harbor's, and no package is loaded for a folder that is not marked as yours; if you trust that package:"
    " harbor --plugin MODULE:NAME ..."
)

REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
"""A reference "package.module:NAME"."""
LONGEST_SHOWN = 60
"""The greatest number of characters of a value's `repr` in a message."""
NAME = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
"""The name of a value of an extension."""


@dataclass(frozen=True, slots=True)
class Found:
    """An extension that was found, and the package that brings it.

    `reference` is the "package.module:NAME" by which the user named it; empty if it was found by its name.
    """

    kind: Kind
    value: Any
    package: str
    version: str
    reference: str = ""

    @property
    def name(self) -> str:
        """The name of the value in settings."""
        return self.reference or str(self.value.name)

    @property
    def builtin(self) -> bool:
        """True if the value is one of Harbor's own."""
        return self.package == HARBOR and not self.reference

    @property
    def whose(self) -> str:
        """The package of the value, in words."""
        return f"package {self.package!r} {self.version}".rstrip()

    @property
    def part(self) -> Part:
        """The value as a log names it."""
        return Part(self.kind, self.name, self.package, self.version)


@dataclass(frozen=True, slots=True)
class Part:
    """A log's record of an extension that the log depends on: its kind, its name in settings, and its package."""

    kind: Kind
    name: str
    package: str
    version: str


def part(says: str, default: Any = None) -> Any:
    """Declare a field that an extension of this class must have; `says` describes it to an author who left it out."""
    return field(default=default, metadata={"part": says})


def lacks(value: Any, whole: str = "") -> str:
    """Say what is wrong with an extension; return "" if nothing is.

    The result names a field that is missing, or is the extension's own `complaint`, or names a field of a wrong type.
    The complaint comes before wrong types inside a field, because it tells the remedy.
    """
    strange = ""
    for one in fields(value):
        given, named = getattr(value, one.name), f"{whole}{one.name}"
        if "part" in one.metadata and (given is None or given in ("", ())):
            return f"lacks {named}: {one.metadata['part']}; give it one"
        misfit = "" if given is None else _misfit(given, type(value), one.name)
        told = f"has {named} {_short(given)}, which is no {one.type}; give one"
        if misfit == "itself":
            return told
        if misfit:
            strange = strange or told
        elif is_dataclass(given) and not isinstance(given, type) and (missing := lacks(given, f"{named}.")):
            return missing
    if wrong := _complaint(value, sure=not strange) or strange:
        return wrong
    nothing = (one.name for one in fields(value) if getattr(value, one.name) is None and "None" not in str(one.type))
    return next((f"lacks {whole}{name}; leave it as it is by default, or give one" for name in nothing), "")


def _complaint(value: Any, sure: bool) -> str:
    """Ask a value for its own complaint; errors count only if `sure`, as parts of wrong types cause them too."""
    try:
        return str(value.complaint()) if hasattr(value, "complaint") else ""
    except Exception:
        if sure:
            raise
        return ""


def _misfit(given: object, whole: type, name: str) -> Literal["", "itself", "inside"]:
    """Tell whether a part, or a value in it, is not of the declared type; return "" if it fits.

    A wrong name or a wrong class is a value of the right type.
    """
    from pydantic import ValidationError

    try:
        _check_of(whole, name)(given)
    except HarborError:  # a model of ours refuses in its own words
        return "inside"
    except ValidationError as error:
        first = error.errors()[0]
        return "inside" if len(first["loc"]) > 1 or first["type"] in ("literal_error", "is_subclass_of") else "itself"
    return ""


@cache
def _check_of(whole: type, name: str) -> Callable[[object], object]:
    """Return the check of a part. It accepts any value if the type is one that only checkers import."""
    from pydantic import ConfigDict, create_model  # here, as callers that check no value don't need it

    settings = ConfigDict(arbitrary_types_allowed=True, strict=True)
    try:
        model: Any = create_model(name, __config__=settings, given=(_hints(whole)[name], ...))
    except NameError:
        return lambda given: given
    return lambda given: model(given=given)


_hints = cache(get_type_hints)
"""Return the types of all fields of a class. They are cached, because Python reads them anew at each call."""


def unread(uses: Iterable[str], *settings: type[BaseModel]) -> str:
    """Name a setting that an extension uses but that does not exist; return "" if all its settings exist."""
    known = {name for one in settings for name in one.model_fields}
    strange = next((one for one in uses if one not in known), "")
    return f"uses {unknown('setting', strange, known)}" if strange else ""


def fault(one: Found, called: str = "") -> str:
    """Say why a value can't be kept as one of its kind; return "" if it can.

    Args:
        one: the value that was found.
        called: the entry point that brought it, which must have its name; empty if it brought several values.
    """
    value, cls = one.value, class_of(one.kind)
    if not isinstance(value, cls):
        return f"{one.reference or called!r} is no {one.kind}, but {_short(value)}; give a {cls.__name__}"
    if missing := lacks(value):
        return f"{one.kind} {value.name!r} {missing}"
    if value.api != API:
        return (
            f"{one.kind} {value.name!r} is for version {value.api} of Harbor's extensions, and this Harbor has version"
            f" {API}; install versions that fit each other"
        )
    if not NAME.fullmatch(value.name):
        return f"{one.kind} {value.name!r} must have a name in lower case, such as 'my-own'; rename it"
    if not value.description.isprintable():
        return f"{one.kind} {value.name!r} has the description {value.description!r}; write one line of text"
    if called and called != value.name:
        return f"entry point {called!r} brings the {one.kind} {value.name!r}; give both the same name"
    return ""


def class_of(kind: Kind) -> type[Any]:
    """Return the class of the values of a kind."""
    home, _, name = KINDS[kind][1].partition(":")
    cls: type[Any] = getattr(import_module(home), name)
    return cls


def kind_of(value: object) -> Kind | None:
    """Return the kind of a value; None if its class is of no kind."""
    home, name = type(value).__module__, type(value).__name__
    return next((kind for kind, (_, place) in KINDS.items() if place == f"{home}:{name}"), None)


def _short(value: object) -> str:
    try:
        shown = repr(value)
    except (Exception, SystemExit):
        shown = ""
    return shown if 0 < len(shown) <= LONGEST_SHOWN and shown.isprintable() else f"a {type(value).__name__}"


ADDED: list[str] = []
"""Paths of modules that were added for references; packages there do not count as installed."""


def packages() -> Iterable[Distribution]:
    """List the installed packages, without those in paths that were added for references."""
    from importlib.metadata import distributions

    return distributions(path=[place for place in sys.path if place not in ADDED])


@cache
def name_and_version(package: Distribution) -> tuple[str, str]:
    """Return the name and the version of a package; cached, as the package reads its file each time."""
    return package.name, package.version


def entry_points(kind: Kind) -> list[tuple[EntryPoint, Distribution]]:
    """List the entry points that bring a kind, with their packages, Harbor's first; only Harbor's if `only_harbors`."""
    points = points_of(KINDS[kind][0])
    return [one for one in points if name_and_version(one[1])[0] == HARBOR] if only_harbors.get() else points


@cache
def points_of(group: str) -> list[tuple[EntryPoint, Distribution]]:
    """List the entry points of a group; a package that is found twice counts once."""
    found: dict[tuple[str, str], tuple[EntryPoint, Distribution]] = {}
    for package in packages():
        for point in package.entry_points.select(group=group):
            found.setdefault((package.name, point.name), (point, package))
    return sorted(found.values(), key=lambda pair: (pair[1].name != HARBOR, pair[1].name))


def not_imported(module: str, name: str, error: BaseException) -> str:
    """Return the remedy for the reference "module:name", whose module can't be imported because of an error."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is None or not f"{module}.".startswith(f"{missing}."):  # else a module that it imports is missing
        return "mend it"
    if module.endswith(".py"):
        return f"write '{module.removesuffix('.py')}:{name}', without .py"
    return "a module is looked for in the working directory and among installed packages"
