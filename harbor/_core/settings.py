"""What all settings share: frozen, no unknown keys, and a mistake is one line that names the remedy."""

from __future__ import annotations

import json
import math
import tomllib
import unicodedata
from collections import Counter
from contextvars import ContextVar
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Tag, ValidationError

from harbor._core.errors import ConfigError, unknown
from harbor._core.money import NUMBER_IN_JSON, Price

M = TypeVar("M", bound=BaseModel)


def _speakable(name: Any) -> Any:
    """Let a name through that can be read aloud and printed: no control or invisible characters, no odd spaces."""
    if not isinstance(name, str):
        return name
    hidden = [character for character in name if unicodedata.category(character)[0] == "C"]
    if hidden:
        raise ValueError(f"holds the control character {hidden[0]!r}; use printable characters")
    if name != " ".join(name.split()) or not name:
        raise ValueError("is empty or has spaces at its ends or in a row; trim it")
    return name


def _decimal(amount: Any) -> Any:
    """Take a float as it is written (0.1 is one tenth), and nothing that is no number."""
    if isinstance(amount, bool | str):
        raise ValueError("is not a number; write one, such as 20000")
    if isinstance(amount, float):
        if not math.isfinite(amount):
            raise ValueError("is not a finite number")
        return Decimal(str(amount))
    return amount


Name = Annotated[str, BeforeValidator(_speakable), Field(max_length=80)]
Dollars = Annotated[Price, BeforeValidator(_decimal)]
Number = Annotated[Decimal, Field(allow_inf_nan=False), NUMBER_IN_JSON, BeforeValidator(_decimal)]
Share = Annotated[Number, Field(gt=0, le=1)]
Rate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


_inside = ContextVar("_inside", default=False)


class Settings(BaseModel):
    """Frozen settings that refuse unknown keys.

    Raises:
        ConfigError: one line that names the setting, its value and the remedy.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **settings: Any) -> None:
        if _inside.get():  # settings inside settings: the outermost explain, as they know the whole place
            super().__init__(**settings)
            return
        token = _inside.set(True)
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise ConfigError(f"{type(self).__name__}: {_explain(type(self), error)}") from error
        finally:
            _inside.reset(token)


def check_distinct(kind: str, names: list[str]) -> None:
    """Refuse names that are equal, or differ only in case.

    Raises:
        ValueError: it names both.
    """
    folded = Counter(name.casefold() for name in names)
    for name in names:
        if folded[name.casefold()] > 1:
            twins = [twin for twin in names if twin.casefold() == name.casefold()]
            other = next((twin for twin in twins if twin != twins[0]), None)
            if other is None:
                raise ValueError(f"{kind} name {twins[0]!r} is there twice; rename or drop one")
            raise ValueError(f"{kind} names {twins[0]!r} and {other!r} differ only in case; rename one")


def check(settings: type[M], values: dict[str, Any], source: str) -> M:
    """Build settings from plain values.

    Raises:
        ConfigError: one line that names the setting, its value and the remedy.
    """
    token = _inside.set(True)
    try:
        return settings.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{source}: {_explain(settings, error)}") from error
    finally:
        _inside.reset(token)


def read_settings(path: Path, settings: type[M], what: str = "config") -> M:
    """Read settings, such as an auction, from a TOML file, or from the `config.json` of a run.

    Args:
        path: the file.
        settings: their type.
        what: what complaints call the file.

    Raises:
        ConfigError: no such file, not TOML (or JSON), or a setting that is refused.
    """
    kind, parse = ("JSON", json.loads) if path.suffix == ".json" else ("TOML", tomllib.loads)
    try:
        values = parse(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{what} {str(path)!r} can't be read ({error.strerror}); give a TOML file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{what} {str(path)!r} is not {kind} (not UTF-8 text); give a {kind} file") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{what} {str(path)!r} is not {kind} ({error}); mend that line") from error
    return check(settings, values, f"{what} {str(path)!r}")


TAG = "game: "
"""What begins the tag of a union that `game` decides."""

_PLAINLY = {
    "tuple_type": "must be a list; in TOML write it as [[name]], with two brackets, once for each",
    "model_type": "must be a table of settings, such as name = value",
    "model_attributes_type": "must be a table of settings, such as name = value",
    "dict_type": "must be a table of settings, such as name = value",
    "too_short": "must hold at least one",
    "decimal_max_places": "must have at most two places after the point",
}
"""Complaints of the validator that need to be put in words for people."""


def _explain(settings: type[BaseModel], error: ValidationError) -> str:
    """Put the first complaint of a validation in one line; an unknown key before the one that it was meant to be."""
    problems = [problem for problem in error.errors() if problem["type"] != "tuple_type"] or error.errors()
    problem = next((problem for problem in problems if problem["type"] == "extra_forbidden"), problems[0])
    tagged = [part for part in problem["loc"] if part not in ("Houses",) and not str(part).startswith("tuple[")]
    place = [part for part in tagged if not str(part).startswith(TAG)]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{_printable(part)}" for part in place).lstrip(".")
    if problem["type"] == "extra_forbidden":
        line = unknown("key", str(place[-1]), _known_keys(settings, tagged))
        return f"{line} (at {where})" if len(place) > 1 else line
    if problem["type"] == "union_tag_invalid":
        known = [tag.strip(" '").removeprefix(TAG) for tag in problem["ctx"]["expected_tags"].split(",")]
        return unknown("game", problem["ctx"]["tag"].removeprefix(TAG), known)
    if problem["type"] == "missing":
        return f"{where} is missing; give it"
    message = _PLAINLY.get(problem["type"], problem["msg"].removeprefix("Value error, "))
    message = message[0].lower() + message[1:]
    given = problem["input"]
    shown = "" if isinstance(given, dict | tuple | list | BaseModel) else f" {_show(given)}"
    return f"{where}{shown}: {message}" if where else message


def _show(given: object) -> str:
    return str(given) if isinstance(given, Decimal) else repr(given)


def _printable(part: str) -> str:
    return part if part.isprintable() else repr(part)


def _known_keys(annotation: Any, place: list[int | str]) -> list[str]:
    """Find the names that the settings know at the place of an unknown key."""
    options = get_args(annotation)
    tag = next((option.tag for option in options if isinstance(option, Tag)), None)
    if tag is not None:
        return _known_keys(options[0], place[1:]) if tag == place[0] else []
    fields = getattr(annotation, "model_fields", None)
    if fields is not None:
        return list(fields) if len(place) == 1 else _known_keys(fields[place[0]].annotation, place[1:])
    origin = get_origin(annotation)
    if origin is dict:
        return _known_keys(options[1], place[1:])
    if origin is tuple:
        return _known_keys(options[0], place[1:]) if isinstance(place[0], int) else []
    if origin is Annotated:
        return _known_keys(options[0], place)
    suited = (option for option in options if isinstance(place[0], int) != hasattr(option, "model_fields"))
    return next((known for option in suited if (known := _known_keys(option, place))), [])
