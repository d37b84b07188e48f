"""Studies that can't be what they say: a design states a setting for a model that is known not to take it."""

from __future__ import annotations

from collections.abc import Iterable

from harbor._core.errors import ConfigError
from harbor._models.replies.cache import is_cached
from harbor._runs.resolve import models_of
from harbor.evaluation._experiments.trials import Trial


def check_stated(first: Iterable[Trial]) -> None:
    """Refuse a new experiment that states a setting which a model of its first trials is known not to take.

    It is known from the answers of the model, or from the package or the profile of its provider.

    Raises:
        ConfigError: it states one; the message names the model and the remedy.
    """
    models = {(name, one.model_dump_json()): one for trial in first for name, one in models_of(trial.config).items()}
    for (name, _), settings in models.items():
        if not settings.must_take or not is_cached(settings):
            continue
        from harbor._models.calls.forms import Forms  # here, as what is played by scripts needs no LangChain
        from harbor._models.calls.settings_taken import remedy_of
        from harbor._models.opened import known_to
        from harbor._models.providers import open_keyless

        chat = open_keyless(name, settings, 0)
        free = Forms(chat, settings.model_copy(update={"must_take": ()}), known_to(chat, settings))
        unable = {"temperature"} if (chat.profile or {}).get("temperature") is False else set()
        if refused := sorted({*free.not_taken, *unable}.intersection(settings.must_take)):
            raise ConfigError(f"model {name!r} ({settings.use}): {remedy_of(name, refused[0])}")
