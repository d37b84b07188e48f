"""Finds values of extensions: among the installed packages by name, or by a reference that the user wrote.

A value is loaded when it is first needed, and one that can't be loaded does not affect others. A file may have been
sent, so it may name no code unless its user has named that code too. It may not name a folder of prompts either, whose
texts would go to a model.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harbor._core.basics.errors import ConfigError, UnknownName, unknown
from harbor._core.basics.redaction import of_strangers, told
from harbor._core.plugins.extensions import (
    ADDED,
    HARBOR,
    KINDS,
    NOT_HARBORS,
    REFERENCE,
    Found,
    Kind,
    Part,
    class_of,
    entry_points,
    fault,
    kind_of,
    name_and_version,
    not_imported,
    only_harbors,
    packages,
)

if TYPE_CHECKING:  # it takes long to import, and `harbor --help` looks for nothing
    from importlib.metadata import Distribution, EntryPoint

GIVEN = "given in Python"
"""The package name of a value that was handed over as an object."""
_FOUND: dict[Kind, dict[str, Found]] = {kind: {} for kind in KINDS}
"""The values loaded so far, by kind, and by each of their names and references."""
_TRIED: dict[str, str | tuple[str, ...]] = {}
"""The names of the values that an entry point has brought, or the reason why it can't be loaded."""


def asked(kind: Kind, name: str) -> Any:
    """Return the extension that the user names, in settings or in a command; if it is a reference, import it.

    Settings from a file that somebody may have sent have to pass `check_references` before.

    Raises:
        ConfigError: there is no such extension, it can't be loaded, or it lacks a part; the message names the package.
    """
    if name not in _FOUND[kind] and REFERENCE.fullmatch(name):
        follow(name, kind)
    return find(kind, name)


def find(kind: Kind, name: str) -> Any:
    """Return the extension with a name, or with a reference that was imported before; raise the errors of `asked`."""
    return found(kind, name).value


def found(kind: Kind, name: str) -> Found:
    """Return an extension together with its package; the errors are those of `asked`."""
    known = _FOUND[kind]
    if name not in known and ":" not in name:
        _load_by_name(kind, name)
    if name not in known and name in references():  # followed as a value of another kind
        follow(name, kind)
    if name not in known:
        raise UnknownName(_unknown(kind, name))
    return known[name]


def of_part(part: Part) -> Any:
    """Return an extension that a log depends on.

    Somebody may have sent the log, so a reference in it is not imported unless the user has named it too.

    Raises:
        ConfigError: the extension is missing; the message tells how to install or name it.
    """
    whose = f"{part.kind} {part.name!r} from the package {part.package!r} {part.version}".rstrip()
    if ":" in part.name and part.name not in references():
        raise ConfigError(f"{whose}, which only you can name; if you trust that code: harbor --plugin {part.name} ...")
    try:
        one = found(part.kind, part.name)
    except ConfigError as error:
        installed = any(package.name == part.package for package in packages())
        why = f": {error}" if installed else ", which is not installed; install it"
        raise ConfigError(f"{whose}{why}") from error
    if one.package != part.package:
        raise ConfigError(f"{whose}, and here that name is of the package {one.package!r}; uninstall it")
    return one.value


def names(kind: Kind) -> list[str]:
    """List the names of all extensions of a kind, Harbor's own first, then in the order of their packages."""
    return [one.value.name for one in everything(kind)]


def everything(kind: Kind) -> list[Found]:
    """Load all extensions of a kind, in the order of their packages; warn of those that fail, and leave them out."""
    brought = list[str]()
    for point, package in entry_points(kind):
        try:
            brought += _load(kind, point, package)
        except ConfigError as error:
            warnings.warn(str(error), stacklevel=2)  # shown once, as Python does with equal warnings
    known = _FOUND[kind]
    return list({id(one.value): one for one in (*map(known.__getitem__, brought), *known.values())}.values())


def _unknown(kind: Kind, name: str) -> str:
    if REFERENCE.fullmatch(name):
        return f"{kind} {name!r} is code, which only you can name; if you trust it: harbor --plugin {name} ..."
    if ":" in name or "/" in name or "\\" in name or name.endswith(".py"):
        return f"{kind} {name!r} is no name and no 'package.module:NAME'; write one of these (a path is neither)"
    if only_harbors.get():
        return f"{kind} {name!r} {NOT_HARBORS}"
    return unknown(kind, name, names(kind), "none is installed; write 'module:NAME' for one in module.py")


def _load_by_name(kind: Kind, name: str) -> None:
    """Load entry points until one has brought that name: Harbor's own first, as nobody can take their names.

    An entry point of that name is loaded alone; if there is none, those that may bring several values are loaded.
    """
    for ours in (True, False):
        points = [one for one in entry_points(kind) if (name_and_version(one[1])[0] == HARBOR) == ours]
        own = [(point, package) for point, package in points if point.name == name]
        if len(own) > 1:
            packages = " and ".join(sorted(repr(package.name) for _, package in own))
            raise ConfigError(f"{kind} {name!r} is brought by the packages {packages}; uninstall all but one")
        for point, package in own or points:
            try:
                _load(kind, point, package)
            except ConfigError:
                if own:
                    raise
            if name in _FOUND[kind]:
                return


def _load(kind: Kind, point: EntryPoint, package: Distribution) -> tuple[str, ...]:
    of, number = name_and_version(package)
    where, mark = f"package {of!r} {number}", f"{kind} {point.name} {of}"
    if isinstance(tried := _TRIED.get(mark), str):
        raise ConfigError(tried)
    if tried is not None:
        return tried
    try:
        loaded = _imported(point.value, f"{where}, entry point {point.name!r} of {point.group!r}")
        values: tuple[Any, ...] = loaded if isinstance(loaded, tuple) else (loaded,)
        for value in values:
            _register(Found(kind, value, of, number), where, "" if values is loaded else point.name)
    except ConfigError as error:
        _TRIED[mark] = str(error)
        raise
    _TRIED[mark] = names = tuple(value.name for value in values)
    return names


def _imported(reference: str, where: str) -> Any:
    module, _, name = reference.partition(":")
    try:
        with redirect_stdout(sys.stderr):  # a module's printed text is no output of ours
            value: Any = import_module(module)
            for step in name.split("."):
                value = getattr(value, step)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a foreign module may raise anything, also SystemExit; others go on
        remedy = not_imported(module, name, error)
        raise ConfigError(f"{where}: {reference!r} can't be imported ({told(error)}); {remedy}") from error
    return value


def _register(one: Found, where: str, called: str = "") -> None:
    """Keep a value that is whole and whose name is free.

    Raises:
        ConfigError: it is not, or its name is taken.
    """
    wrong = of_strangers(f"{where}: a look at its {one.kind}", lambda: fault(one, called))
    if wrong:
        raise ConfigError(f"{where}: {wrong}")
    known, name = _FOUND[one.kind], one.value.name
    other = known.get(name)
    if other is None or other.package == one.package == GIVEN:  # as when a cell of a notebook is run again
        known[name] = one
    elif other.value is not one.value:
        raise ConfigError(f"{where}: the name of the {one.kind} {name!r} is taken by {other.package!r}; rename it")
    if one.reference:
        known[one.reference] = one


# ---------------------------------------------------------------- references of the user


def use(extension: Any) -> None:
    """Make an extension, such as a game or a metric, known in this process, so that settings can name it.

    `extension` is the extension itself, or its reference "package.module:NAME". After this call, files of settings may
    name that reference too. In files, Harbor refuses any reference that you have not named yourself.

    Raises:
        ConfigError: there is no such extension, it lacks an attribute that it needs, or its name is taken.
    """
    if isinstance(extension, str):
        follow(extension)
        return
    kind = kind_of(extension)
    if kind is None:
        raise ConfigError(f"{extension!r} is no {', '.join(KINDS)}; give one, or 'package.module:NAME'")
    _register(Found(kind, extension, GIVEN, ""), f"the {kind} that is given")


def follow(reference: str, kind: Kind | None = None) -> None:
    """Import the extension that the user named by a reference "package.module:NAME", and keep it for later use.

    `kind` is the kind that it must have (None: any kind). Modules are also looked for in the working directory.

    Raises:
        ConfigError: the extension is missing, is of another kind or lacks a part, or its name is taken.
    """
    where = f"{kind or 'extension'} {reference!r}"
    if not REFERENCE.fullmatch(reference):
        raise ConfigError(f"{where} is no 'package.module:NAME'; write the module with dots and the name of the value")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
        ADDED.append(here)
    value = _imported(reference, where)
    of = kind or kind_of(value) or of_strangers(f"{where}: a look at it", lambda: _taken_as(value))
    if of is None:
        raise ConfigError(f"{where} is no {', '.join(KINDS)}, but a {type(value).__name__}; give one")
    if of == "model" and isfunction(value):  # a function that makes one is enough
        value = class_of(of).of_function(reference, value)
    elif of == "agent" and not isinstance(value, class_of(of)):  # one that takes turns is enough
        value = of_strangers(f"{where}: a look at it", lambda: class_of(of).of_value(reference, value))
    package, number = _package_of(reference)
    _register(Found(of, value, package, number, reference), where)


def _taken_as(value: Any) -> Kind | None:
    """Return the kind of a value that has no kind's class; a function could be a model or an agent, and is a model."""
    if isfunction(value):
        return "model"
    return "agent" if class_of("agent").takes(value) else None


def given() -> list[str]:
    """Return the names of the extensions that were passed to `use` as objects; other processes don't have them."""
    return [one.name for known in _FOUND.values() for one in known.values() if one.package == GIVEN]


def command() -> str:
    """Write the command with the references that it followed, for a hint to the user."""
    return " ".join(["harbor", *(f"--plugin {reference}" for reference in references())])


def references() -> tuple[str, ...]:
    """List the references followed so far; another process follows them first to do the same work."""
    return tuple(dict.fromkeys(name for known in _FOUND.values() for name in known if ":" in name))


def _package_of(reference: str) -> tuple[str, str]:
    """Return the installed package of a module, with its version; else the reference itself and ""."""
    from importlib.metadata import distributions

    top = re.escape(reference.partition(":")[0].partition(".")[0])
    for package in distributions():
        declared = package.read_text("top_level.txt")
        pattern = rf"^{top}$" if declared else rf"^{top}(/.*)?\.py,"  # RECORD has a line for each file
        if re.search(pattern, declared or package.read_text("RECORD") or "", re.MULTILINE):
            return package.name, package.version
    return reference, ""


def check_references(values: object, where: str) -> None:
    """Refuse values of a file that name a reference which the user has not named too, or a folder of prompts.

    Raises:
        ConfigError: there is such a reference or folder; the message names it and tells how to allow it.
    """
    for key, text in _named(values):
        if key == "prompts":
            raise ConfigError(
                f"{where} names the folder {text!r} of prompts, and a file may have been sent; what Harbor writes has"
                " the texts themselves: name the folder in a TOML of yours"
            )
        code = REFERENCE.fullmatch(text) and ("." in text.partition(":")[0] or key not in MODEL_KEYS)
        if code and text not in references():
            raise ConfigError(
                f"{where} names the code {text!r}, and a file may have been sent; if you trust that code, name it"
                f" yourself: harbor --plugin {text} ..., or harbor.use({text!r}) in Python"
            )


MODEL_KEYS = ("model", "models", "use")
"""Keys under which a name with a colon is a model, "provider:name", unless it has a dot before the colon."""
OTHER_KEYS = ("game", "rule", "agent", "nodes", "catalogue", "metric", "metrics", "correlations", "figures")
NAMING_KEYS = (*OTHER_KEYS, *MODEL_KEYS, "prompts")
"""The settings that name values of extensions, at any depth."""


def _named(values: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield each key that names values, with the text under it."""
    if isinstance(values, str) and key in NAMING_KEYS:
        yield key, values
    elif isinstance(values, dict):
        for name, value in values.items():
            yield from _named(value, name)
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _named(value, key)
