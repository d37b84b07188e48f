"""How many tokens a model thinks on before it answers: learned from its answers, or as far as settings tell."""

from __future__ import annotations

from dataclasses import dataclass

from harbor._config.models import ModelSettings
from harbor._core.errors import ConfigError
from harbor._models.replies.cache import is_cached


@dataclass(frozen=True, slots=True)
class Thoughts:
    """The tokens that a model thinks on per call, and what that rests on; `words` is empty if it does not think."""

    per_call: float = 0.0
    words: str = ""


def thoughts_of(settings: ModelSettings) -> Thoughts:
    """Give the thoughts that are to be expected of a model: what is not known is told and not counted."""
    if not is_cached(settings):
        return Thoughts()
    from harbor._models.opened import known_to  # here, as what is played offline needs no package of a provider
    from harbor._models.providers import open_keyless

    try:
        chat = open_keyless(settings.use, settings, 0)
    except ConfigError:  # its package is not installed: nothing is known
        return Thoughts()
    known = known_to(chat, settings).passport
    if (learned := known.reasoning_per_call) is not None:
        words = f"{learned:,.0f} tokens per call, as in {known.calls:,} calls before" if learned else ""
        return Thoughts(learned, words)
    if isinstance(settings.reasoning, int):
        words = f"up to {settings.reasoning:,} tokens per call, by its settings" if settings.reasoning else ""
        return Thoughts(settings.reasoning, words)
    if (chat.profile or {}).get("reasoning_output"):
        return Thoughts(words="not counted, as nothing is known of them before its first calls")
    return Thoughts()
