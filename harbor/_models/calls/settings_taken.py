"""Which settings of a model are sent: a server may refuse some, and a provider's package may leave some out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

from langchain_core.language_models import BaseChatModel

from harbor._config.dialects import PROVIDERS, named_in
from harbor._config.models import MayBeLeftOut, ModelSettings

MAY_BE_LEFT_OUT: tuple[MayBeLeftOut, ...] = get_args(MayBeLeftOut)
"""Settings without which a model answers too; those under `extra` are called "extra.NAME"."""
_REFUSES = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|unexpected|extra inputs|not permitted|not allowed|deprecated"
    r"|only the default|may only be|can(?:not|'t| not) be (?:set|used|specified)|no such parameter|invalid parameter",
    re.IGNORECASE,
)
"""How a server says that it does not take a setting, whatever its value."""
_OTHER_VALUES = re.compile(r"(?:supported|allowed|valid) values|must be (?:one of|between)", re.IGNORECASE)
"""How it says that it takes the setting with another value, which is the user's to choose."""
_ABOUT_FORM = re.compile(r"tool_choice|\btools?\b|response_format|json_schema", re.IGNORECASE)
"""What it speaks of where it refuses the form beside a setting: then another form is tried."""
_ALSO_CALLED = {"max_tokens": "max_completion_tokens", "reasoning": "thinking"}


def sent(settings: ModelSettings, not_taken: tuple[str, ...]) -> ModelSettings:
    """Give the settings as they are sent: without those that are not taken."""
    left: dict[str, Any] = {name: None for name in MAY_BE_LEFT_OUT if name in not_taken}
    if any(name.startswith("extra.") for name in not_taken):
        left["extra"] = {name: value for name, value in settings.extra.items() if f"extra.{name}" not in not_taken}
    return settings.model_copy(update=left) if left else settings


def wished(settings: ModelSettings) -> tuple[str, ...]:
    """Name the settings that are given, of those that may be left out."""
    own = (name for name in MAY_BE_LEFT_OUT if getattr(settings, name) is not None)
    return (*own, *(f"extra.{name}" for name in settings.extra))


def left_out(chat: BaseChatModel, settings: ModelSettings) -> tuple[str, ...]:
    """Name the settings that a provider's package has left out of a chat model that was made with them."""
    names = dict(_theirs(settings))
    return tuple(name for name in wished(settings) if name in names and _value(chat, names[name]) is None)


def refused_in(words: str, settings: ModelSettings) -> str:
    """Name the setting that a server refuses in these words, of those that were sent; "" if it speaks of none."""
    if not _REFUSES.search(words) or _OTHER_VALUES.search(words) or _ABOUT_FORM.search(words):
        return ""
    names = dict(_theirs(settings))
    for name in wished(settings):
        if _speaks_of(words, name.removeprefix("extra."), names.get(name), _ALSO_CALLED.get(name)):
            return name
    return ""


def remedy_of(name: str, setting: str) -> str:
    """Say how a model is asked without a setting that it must take, and does not."""
    return (
        f"it does not take the {setting!r} that the settings state; leave it out with --set models.{name}.{setting}="
        " or choose another model"
    )


def remedy_in(words: str, name: str, settings: ModelSettings) -> str:
    """Say what to do where a server refuses, in these words, a setting that the model must take; "" if it does not."""
    setting = refused_in(words, settings)
    return f"; {remedy_of(name, setting)}" if setting in settings.must_take else ""


def without(chat: BaseChatModel, settings: ModelSettings, not_taken: tuple[str, ...]) -> BaseChatModel:
    """Give a copy of a chat model that does not send these; it shares the connections."""
    names = dict(_theirs(settings))
    fields = {_field(chat, names[name]) for name in not_taken if name in names} - {None}
    if not fields:
        return chat
    kinds = type(chat).model_fields
    return chat.model_copy(update={name: kinds[name].get_default(call_default_factory=True) for name in fields if name})


def _speaks_of(words: str, *names: str | None) -> bool:
    return any(name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", words, re.IGNORECASE) for name in names)


def _theirs(settings: ModelSettings) -> Iterator[tuple[str, str]]:
    """Give what the package of a provider calls the settings that are given."""
    provider = settings.use.partition(":")[0]
    if provider not in PROVIDERS:
        return
    for name in wished(settings):
        extra = name.startswith("extra.")
        yield name, name.removeprefix("extra.") if extra else named_in(provider, name, settings)


def _field(chat: BaseChatModel, name: str) -> str | None:
    """Find the field of a chat model by its name or alias."""
    fields = type(chat).model_fields
    return next((field for field, kind in fields.items() if name in (field, kind.alias)), None)


def _value(chat: BaseChatModel, name: str) -> Any:
    field = _field(chat, name)
    return chat if field is None else getattr(chat, field)
