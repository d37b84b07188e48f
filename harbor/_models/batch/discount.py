"""What a batch costs, and which models can be asked in one."""

from __future__ import annotations

from collections.abc import Mapping

from harbor._config.models import BUILT_IN, ModelSettings
from harbor._core.errors import ConfigError

BATCH_SHARE = 0.5
"""What a call in a batch costs of what it costs alone, for what is read and what is written alike.

Source: platform.openai.com/docs/guides/batch; docs.claude.com/en/docs/build-with-claude/batch-processing#pricing.
"""
BATCHED = ("openai", "anthropic")
"""The providers that take batches."""


def in_batch(settings: ModelSettings) -> ModelSettings:
    """Give the settings of a model with the prices of a batch."""
    prices = {name: getattr(settings, name) for name in type(settings).model_fields if name.endswith("_price")}
    return settings.model_copy(update={name: price * BATCH_SHARE for name, price in prices.items() if price})


def check_batched(models: Mapping[str, ModelSettings]) -> None:
    """Refuse a model whose calls can't wait for a batch; the built-in one needs none.

    Raises:
        ConfigError: it names the model.
    """
    for name, settings in models.items():
        provider, colon, _ = settings.use.partition(":")
        if settings.use != BUILT_IN and not (colon and provider in BATCHED):
            raise ConfigError(
                f"model {name!r} ({settings.use}) can't be asked in batches, as only models of"
                f" {' and '.join(BATCHED)} can; leave --lane batch out"
            )
