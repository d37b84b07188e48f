"""A model as one value: a name for settings, and what makes the chat model."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harbor._config.models import ModelSettings
from harbor._core.extensions import API, part

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model, as an extension.

    `make` takes the settings of the model and a seed of its own, and gives a LangChain chat model. Import LangChain and
    what else takes long there, so that settings are read without it.
    """

    name: str = part("its name, in lower case")
    description: str = part("what it is, in one line")
    make: Callable[[ModelSettings, int], BaseChatModel] = part("what makes the chat model")
    api: int = API

    @classmethod
    def of_function(cls, reference: str, make: Callable[[ModelSettings, int], BaseChatModel]) -> Model:
        """Take a function that the user names as the model that it makes."""
        name = re.sub("[^a-z0-9]+", "-", reference.lower()).strip("-")
        return cls(name=name, description=f"what {reference} makes", make=make)
