# ruff: noqa: RUF001 - letters that look alike stand in its tables
"""The base of all settings: they are frozen, refuse unknown keys and look-alike names, and explain a mistake.

Neither a person nor a model can tell look-alike names apart. Unicode writes one letter in
several ways (NFKD makes them one), and has letters of other scripts in the shapes of Latin ones. Source: Unicode
Technical Standard 39, confusables.txt; of its letters, those of Greek and Cyrillic.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, get_args
from unicodedata import normalize

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.basics.numbers import NUMBER_IN_JSON, PositiveMoney
from harbor._core.basics.redaction import SECRET_NAME, redact
from harbor._core.files.safe_files import MOST_SETTINGS, parsed, read_sent
from harbor._core.plugins.finding import check_references

_GREEK = {"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ": "ABEZHIKMNOPTYX", "αγιορνυϳ": "ayiopvuj"}
"""Letters of Greek, and the Latin letters that they look like."""
_CYRILLIC = {"АВЕЅІЈКМНОРСТУХҮԌԚԜӀ": "ABESIJKMHOPCTYXYGQWI", "асеһіјорԛѕԝхуүԁѵ": "acehijopqswxyydv"}
"""Letters of Cyrillic, and the Latin letters that they look like."""
_LATIN = {
    ord(shape): latin
    for letters in (_GREEK, _CYRILLIC)
    for shapes, latins in letters.items()
    for shape, latin in zip(shapes, latins, strict=True)
}


def look_of(name: str) -> str:
    r"""Return one text for all names that look alike, whatever the case of their letters.

    >>> look_of("Zoë") == look_of("ZOE\u0308"), look_of("Ann") == look_of("\u0410nn"), look_of("Ann") == look_of("An")
    (True, True, False)
    """
    return normalize("NFKD", name).translate(_LATIN).casefold()


def looks_of(name: str) -> set[str]:
    r"""Return two texts per name; two names that look alike share one, as most letters look Latin in only one case.

    >>> looks_of("\u041a\u0430\u0442\u044f") & looks_of("\u043a\u0430\u0442\u044f") != set()
    True
    """
    return {look_of(name), normalize("NFKD", name).casefold()}


M = TypeVar("M", bound=BaseModel)


def _speakable(name: Any) -> Any:
    """Refuse a name that can't be printed in one line: with control or invisible characters, or odd spaces."""
    if not isinstance(name, str):
        return name
    hidden = [character for character in name if unicodedata.category(character)[0] == "C"]
    if hidden:
        raise ValueError(f"contains the control character {hidden[0]!r}; use printable characters")
    if name != " ".join(name.split()) or not name:
        raise ValueError("is empty, or has spaces at its ends or several in a row; trim it")
    return name


def _decimal(amount: Any) -> Any:
    """Read a float as it is written (0.1 is one tenth), and refuse a value that is not a number."""
    if isinstance(amount, bool | str):
        raise ValueError("is not a number; write one, such as 20000")
    if isinstance(amount, float):
        if not math.isfinite(amount):
            raise ValueError("is not a finite number")
        return Decimal(str(amount))
    return amount


Name = Annotated[str, BeforeValidator(_speakable), Field(max_length=80)]
Dollars = Annotated[PositiveMoney, BeforeValidator(_decimal)]
Number = Annotated[Decimal, Field(allow_inf_nan=False), NUMBER_IN_JSON, BeforeValidator(_decimal)]
Share = Annotated[Number, Field(gt=0, le=1)]
Rate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


_inside = ContextVar("_inside", default=False)
"""True while settings inside other settings are made."""


@contextmanager
def _one_line_errors(source: str) -> Iterator[None]:
    """Explain refused settings in one line.

    Nested settings leave the explanation to the outermost settings: only those know the whole path to the mistake.
    """
    if _inside.get():
        yield
        return
    token = _inside.set(True)
    try:
        yield
    except ValidationError as error:
        # not from the error: a program that shows where an error comes from would show the value, which may be a key
        raise ConfigError(f"{source}: {redact(_explain(error))}") from None
    finally:
        _inside.reset(token)


class Settings(BaseModel):
    """The base class of settings: they can't be changed once they are made, and refuse unknown keys.

    `public` names the settings that a public copy of a run may contain. It is empty by default, so that a new setting
    can't be published by mistake.

    Raises:
        ConfigError: a setting is refused; the message names the setting, its value and the remedy.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    public: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, /, **settings: Any) -> None:
        with _one_line_errors(type(self).__name__):
            super().__init__(**settings)

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, values: Any) -> Any:
        """Refuse unknown and missing keys here, because the known ones are at hand to name a remedy.

        Unknown keys come first: a required key that is misspelt is unknown and missing at once.
        """
        if isinstance(values, dict):
            for key in values:
                if key not in cls.model_fields and cls.model_config["extra"] == "forbid":
                    raise ValueError(unknown("key", str(key), cls.model_fields))
            for name, field in cls.model_fields.items():
                if field.is_required() and name not in values:
                    raise ValueError(f"{name} is missing; write {_in_toml(name, field.annotation)}")
        return values


def _in_toml(name: str, annotation: Any) -> str:
    rows = any(isinstance(kind, type) and issubclass(kind, Settings) for kind in get_args(annotation))
    return f"[[{name}]] once for each, with its settings below" if rows else f"{name} = ..."


def as_toml(value: Any) -> str:
    """Write the value of a setting as in a TOML file, on one line; tables inside lists can't be written so."""
    return json.dumps(value, ensure_ascii=False, default=str)


def toml_key(name: str) -> str:
    """Write one part of a key as in a TOML file: in quotes where it is more than a word."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else as_toml(name)


def check_distinct(kind: str, names: list[str]) -> None:
    """Refuse names of which two are equal, differ only in case, or look alike.

    Raises:
        ValueError: there are two such names; the message names them.
    """
    looks = Counter(look for name in names for look in looks_of(name))
    for name in names:
        if any(looks[look] > 1 for look in looks_of(name)):
            twins = [twin for twin in names if looks_of(twin) & looks_of(name)]
            other = next((twin for twin in twins if twin != twins[0]), None)
            if other is None:
                raise ValueError(f"{kind} name {twins[0]!r} is there twice; rename or drop one")
            both = f"{kind} names {twins[0]!r} and {other!r}"
            if twins[0].casefold() == other.casefold():
                raise ValueError(f"{both} differ only in case; rename one")
            raise ValueError(f"{both} look alike, and are {twins[0]!a} and {other!a}; rename one")


def check(settings: type[M], values: dict[str, Any], source: str) -> M:
    """Make settings from plain values; `source` names the origin of the values in messages.

    Raises:
        ConfigError: a setting is refused; the message names the setting, its value and the remedy.
    """
    with _one_line_errors(source):
        return settings.model_validate(values)


def read_settings(path: Path, settings: type[M], what: str = "config") -> M:
    """Read settings, such as an auction, from a TOML file, or from the `config.json` of a run.

    Args:
        path: the file.
        settings: the class of the settings.
        what: the word for the content of the file in messages.

    Raises:
        ConfigError: the file is missing or is not TOML (or JSON), a setting is refused, or a JSON file names code that
            the user has not named.
    """
    kind, parse = ("JSON", json.loads) if path.suffix == ".json" else ("TOML", tomllib.loads)
    try:
        # Somebody else may have sent a JSON file; a TOML file is its user's own word, wherever it is.
        sent = read_sent(path, MOST_SETTINGS) if kind == "JSON" else path.read_bytes()
        values = parsed(sent.decode("utf-8-sig"), parse)
    except OSError as error:
        raise ConfigError(f"{what} {str(path)!r} can't be read ({error.strerror}); give a TOML file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{what} {str(path)!r} is not {kind} (not UTF-8 text); give a {kind} file") from error
    except ValueError as error:
        raise ConfigError(f"{what} {str(path)!r} is not {kind} ({error}); mend it") from error
    if kind == "JSON":
        check_references(values, f"{what} {str(path)!r}")
    return check(settings, values, f"{what} {str(path)!r}")


TAG = "kind: "
"""Prefix of the tag of each type in a union, so that complaints can leave it out."""

_PLAINLY = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "decimal_max_places": "must have at most {decimal_places} places after the point",
    "decimal_type": "must be a number, such as 20000",
    "dict_type": "must be a table of settings, such as name = value",
    "finite_number": "must be a finite number",
    "float_parsing": "must be a number, such as 0.5",
    "float_type": "must be a number, such as 0.5",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "literal_error": "must be {expected}",
    "model_attributes_type": "must be a table of settings, such as name = value",
    "model_type": "must be a table of settings, such as name = value",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must not be empty",
    "string_type": "must be a text in quotes",
    "too_long": "has {actual_length}, and may have at most {max_length}",
    "too_short": "must contain at least one",
    "tuple_type": "must be a list; in TOML write it as [[name]], with two brackets, once for each",
    "value_error": "{error}",
}
"""Complaints of pydantic's validator in plain words, by type; braces take its details."""


def _explain(error: ValidationError) -> str:
    """Write the first complaint of a validation in one line."""
    problem = error.errors()[0]
    kind, given, details = problem["type"], problem["input"], problem.get("ctx", {})
    message = _PLAINLY.get(kind, problem["msg"]).format_map(details)
    if kind == "literal_error" and isinstance(given, bool):  # TOML reads true without quotes as no word
        message = f"must be a word in quotes: {details['expected']}"
    place = [part for part in problem["loc"] if not str(part).startswith((TAG, "literal[", "tuple["))]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{_printable(part)}" for part in place).lstrip(".")
    if not where:
        return message
    if message.startswith("unknown "):
        return f"{message} (at {where})"
    unshown = isinstance(given, dict | tuple | list | BaseModel) or SECRET_NAME.search(str(place[-1]))
    shown = "" if unshown else f" {_show(given)}"
    return f"{where}{shown}: {message}"


def _show(given: object) -> str:
    return str(given) if isinstance(given, Decimal) else repr(given)


def _printable(part: str) -> str:
    return part if part.isprintable() else repr(part)
