"""What a file may name: never code, unless its user has named that code too, as the file may have been sent.

Nor may it name a folder of prompts, whose texts would go to a model.
"""

from __future__ import annotations

from collections.abc import Iterator

from harbor._core.errors import ConfigError
from harbor._core.extensions import REFERENCE
from harbor._core.finding import references


def check_references(values: object, where: str) -> None:
    """Refuse code that only a file names: a reference in its values that the user has not named too.

    Raises:
        ConfigError: it names the reference and how to allow it.
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
"""Where a name with a colon is a model's, "provider:name", unless it has a dot before the colon."""
OTHER_KEYS = ("game", "rule", "agent", "nodes", "catalogue", "metric", "metrics", "correlations", "figures")
NAMING_KEYS = (*OTHER_KEYS, *MODEL_KEYS, "prompts")
"""The settings that name values of extensions, at any depth."""


def _named(values: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text under a key that names values, with its key."""
    if isinstance(values, str) and key in NAMING_KEYS:
        yield key, values
    elif isinstance(values, dict):
        for name, value in values.items():
            yield from _named(value, name)
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _named(value, key)
