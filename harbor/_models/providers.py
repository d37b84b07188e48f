"""Finds the settings of a model by its name, and makes a chat model from settings. Extensions add their own models.

LangChain is imported where a model is opened, so that a wrong name is refused without it.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harbor._config.models import NAMES, NO_KEY, PROVIDERS, ModelSettings, in_dialect, unknown_to
from harbor._core.basics.errors import ConfigError, UnknownName, unknown
from harbor._core.basics.numbers import derive
from harbor._core.basics.redaction import known_secrets_of, redact
from harbor._core.plugins.extensions import API, REFERENCE, part
from harbor._core.plugins.finding import asked, find, names

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model, as an extension.

    `make` takes the settings of the model and the model's own seed, and returns a LangChain chat model. Import
    LangChain and other slow packages inside `make`, so that reading settings stays fast.

    >>> Model(name="mine", description="a chat model", make=lambda settings, seed: SimulatedChat(seed=seed)).name
    'mine'
    """

    name: str = part("its name, in lower case")
    description: str = part("what it is, in one line")
    make: Callable[[ModelSettings, int], BaseChatModel] = part("what makes the chat model")
    api: int = API

    @classmethod
    def of_function(cls, reference: str, make: Callable[[ModelSettings, int], BaseChatModel]) -> Model:
        """Return a model that a function makes; its name is made from `reference`.

        `reference` is the "package.module:NAME" by which the user names the function. The name of the model is the
        reference in lower case, with one hyphen in place of each run of other characters than letters and digits.
        """
        name = re.sub("[^a-z0-9]+", "-", reference.lower()).strip("-")
        return cls(name=name, description=f"what {reference} makes", make=make)


def settings_of(name: str, models: Mapping[str, ModelSettings], given: Iterable[str] = ()) -> ModelSettings:
    """Find the settings of a model by its name in `models`, or by its direct name.

    A direct name is "provider:model", an installed model such as "simulated", or "package.module:NAME". `given` names
    further models for the message.

    Raises:
        ConfigError: there is no such model; the message names the nearest.
    """
    settings = models.get(name) or ModelSettings(use=name)
    provider, colon, model = settings.use.partition(":")
    if provider in PROVIDERS and model:
        return settings
    if not colon or "." in provider:  # "package.module:NAME" has a dot before its colon, and a provider has none
        with suppress(UnknownName):
            asked("model", settings.use)
            return settings
    elif model:
        raise ConfigError(f"model {settings.use!r}: {unknown('provider', provider, PROVIDERS)}")
    known = {*models, *given, *names("model"), "PROVIDER:MODEL"}
    hint = " (code has a dot before its colon: 'package.module:NAME')" if REFERENCE.fullmatch(settings.use) else ""
    raise ConfigError(unknown("model", settings.use, known - {settings.use}) + hint)


def check_fallback(name: str, models: Mapping[str, ModelSettings], given: Iterable[str] = ()) -> None:
    """Refuse a fallback that can't answer in place of the model with this name; `given` names models beside `models`.

    Raises:
        ConfigError: the fallback does not exist, is the model itself, or has a fallback of its own.
    """
    fallback = models[name].fallback
    if fallback is None or fallback in given:
        return
    try:
        settings = settings_of(fallback, models)
    except ConfigError as error:
        raise ConfigError(f"fallback of model {name!r}: {error}") from error
    if fallback == name:
        raise ConfigError(f"model {name!r} has itself as its fallback; name another model, or drop it")
    if settings.fallback is not None:
        raise ConfigError(
            f"model {name!r} has the fallback {fallback!r}, which has {settings.fallback!r} itself; drop the second"
        )


def open_chats(name: str, settings: ModelSettings, seed: int) -> dict[str, BaseChatModel]:
    """Make one chat model per key, by the environment variable of the key ("" if the model has fewer than two).

    Raises:
        ConfigError: as `open_chat` raises, or some variables are not set; the message names all of them.
    """
    variables = settings.key_variables
    if len(variables) < 2:
        return {"": open_chat(name, settings, seed)}
    if missing := [variable for variable in variables if not os.environ.get(variable, "").strip()]:
        raise ConfigError(
            f"api_key_env of model {name!r} names environment variables that are not set: {', '.join(missing)}; set"
            " them, or drop them from the list"
        )
    return {one: open_chat(name, settings.model_copy(update={"api_key_env": one}), seed) for one in variables}


def open_chat(name: str, settings: ModelSettings, seed: int) -> BaseChatModel:
    """Make the chat model of a name.

    Raises:
        ConfigError: the package is not installed, the model lacks a setting, or making it fails (a missing key, say).
    """
    provider, _, model = settings.use.partition(":")
    if provider not in PROVIDERS:
        return _own(settings, derive(seed, "model", name))
    given = in_dialect(provider, settings)
    chat = _made(settings.use, lambda: _initialised(provider, model, given), "; is its API key set?")
    if strange := unknown_to(chat, given):
        ours = {theirs: own for own, theirs in NAMES.items()}
        raise ConfigError(
            f"model {settings.use!r} takes no {ours.get(strange[0], strange[0])!r}: {PROVIDERS[provider]} has no such"
            " setting; drop it, or give the provider's own setting under extra"
        )
    known_secrets_of(chat)
    return chat


def open_keyless(name: str, settings: ModelSettings, seed: int) -> BaseChatModel:
    """Make a chat model without its key, for a run with kept replies; its provider refuses any other call.

    Raises:
        ConfigError: the model can't be made for a reason other than its key.
    """
    given = {**settings.extra, NAMES["key"]: NO_KEY}
    return open_chat(name, settings.model_copy(update={"api_key_env": None, "extra": given}), seed)


def _initialised(provider: str, model: str, given: Mapping[str, Any]) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a package still sends a setting that it warns about
            made: BaseChatModel = init_chat_model(model, model_provider=provider, **given)
            return made
    except ImportError as error:
        package = PROVIDERS[provider]
        raise ConfigError(
            f"model '{provider}:{model}' needs {package}, which is not installed; run: pip install {package}"
        ) from error


def _own(settings: ModelSettings, seed: int) -> BaseChatModel:
    """Make the chat model of an extension, or of a function that the user names."""
    from langchain_core.language_models import BaseChatModel

    value = find("model", settings.use)
    made: object = _made(settings.use, lambda: value.make(settings, seed), "; mend it")
    if not isinstance(made, BaseChatModel):
        raise ConfigError(f"model {settings.use!r} is a {type(made).__name__}; make a LangChain chat model")
    return made


def _made(use: str, make: Callable[[], BaseChatModel], remedy: str) -> BaseChatModel:
    try:
        return make()
    except ConfigError:
        raise
    except Exception as error:  # a stranger's code may raise anything
        why = (redact(str(error)).splitlines() or [type(error).__name__])[0].rstrip(".; ")
        raise ConfigError(f"model {use!r} can't be made: {why}{remedy}") from error
