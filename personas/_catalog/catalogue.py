"""A catalogue: personas, and items that suit them; one value, as an extension."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file
from importlib.resources.abc import Traversable

from pydantic import model_validator

from harbor._config.auction import Item, Persona
from harbor._core.errors import ConfigError, unknown
from harbor._core.extensions import API, part
from harbor._core.finding import asked, found
from harbor._core.settings import Settings, check_distinct, read_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """A catalogue, as an extension: personas and items by id.

    `version` changes with any text or price, so that a design which names it means these. The `persona` of an item is
    the id of whom it suits, or several, or None; it may be a persona that only the settings of an auction bring.
    """

    name: str = part("its name, in lower case")
    description: str = part("what it is, in one line")
    version: str = part("its version, such as '1'")
    personas: Mapping[str, Persona] = part("its personas by id")
    items: Mapping[str, Item] = part("its items by id")
    api: int = API

    @classmethod
    def read(cls, file: Traversable) -> Catalogue:
        """Read a catalogue from a TOML file of a package: its parts, [[personas]], and [[items]] with an id each.

        Raises:
            ConfigError: it can't be read, or something in it is refused.
        """
        with as_file(file) as path:
            values = read_settings(path, CatalogueFile, "catalogue")
        return cls(
            name=values.name,
            description=values.description,
            version=values.version,
            personas={one.id: one for one in values.personas},
            items={one.id: Item(**one.model_dump(exclude={"id"})) for one in values.items},
            api=values.api,
        )

    def suiting(self, persona: str) -> list[Item]:
        """List the items that suit a persona."""
        return [item for item in self.items.values() if persona in item.suits]

    def complaint(self) -> str:
        """Say what is wrong with what it has: nothing there, an id under another, names or texts that are equal."""
        if not self.personas or not self.items:
            return f"lacks {'items' if self.personas else 'personas'}; give it one or more"
        if stray := [one for one in self.personas.values() if not isinstance(one, Persona)]:
            return f"has {stray[0]!r} among its personas; give a Persona"
        if other := [one for one in self.items.values() if not isinstance(one, Item)]:
            return f"has {other[0]!r} among its items; give an Item"
        if wrong := [key for key, one in self.personas.items() if key != one.id]:
            return f"has persona {self.personas[wrong[0]].id!r} under the id {wrong[0]!r}; write the same"
        if "@" in self.version:
            return f"has the version {self.version!r}; write it without '@'"
        texts = (one.text for one in self.personas.values())
        return _twice("the text", texts) or _twice("the item name", (one.name for one in self.items.values()))


def _twice(what: str, given: Iterable[str]) -> str:
    return next((f"has {what} {one!r} twice; change one" for one, times in Counter(given).items() if times > 1), "")


class CatalogueItem(Item):
    """An item of a catalogue, with its id."""

    id: str


class CatalogueFile(Settings):
    """A catalogue as it is written in a file."""

    name: str
    description: str
    version: str
    personas: tuple[Persona, ...]
    items: tuple[CatalogueItem, ...]
    api: int = API

    @model_validator(mode="after")
    def _distinct_ids(self) -> CatalogueFile:
        check_distinct("persona", [one.id for one in self.personas])
        check_distinct("item", [one.id for one in self.items])
        return self


def catalogue_of(name: str) -> Catalogue:
    """Give the catalogue that settings name: "homes", "homes@1", or a reference.

    Raises:
        ConfigError: there is none, or it is installed in another version than the one named.
    """
    plain, versioned, version = name.partition("@")
    if versioned and ":" in plain:
        raise ConfigError(f"catalogue {name!r}: code that you name is as it is; drop @{version}")
    asked("catalogue", plain)
    one = found("catalogue", plain)
    catalogue: Catalogue = one.value
    if versioned and version != catalogue.version:
        raise ConfigError(
            f"catalogue {name!r} is not installed, as the package {one.package!r} {one.version} brings"
            f" '{plain}@{catalogue.version}'; name that one, or install the package that brings {name!r}"
        )
    return catalogue


def extended(catalogue: Catalogue, own: Sequence[Persona]) -> Mapping[str, Persona]:
    """Give the personas of a catalogue with these added.

    Raises:
        ConfigError: one of them has an id of the catalogue.
    """
    for one in own:
        if one.id in catalogue.personas:
            raise ConfigError(f"persona {one.id!r} is in the catalogue already; give yours another id")
    return {**catalogue.personas, **{one.id: one for one in own}}


def with_own(catalogue: Catalogue, personas: Sequence[Persona], items: Sequence[Item]) -> Catalogue:
    """Give a catalogue with these personas added and, if there are any, these items in place of its own.

    Raises:
        ConfigError: a persona is in the catalogue already, or an item suits an unknown one.
    """
    every = extended(catalogue, personas)
    for item in items:
        for persona in item.suits:
            if persona not in every:
                raise ConfigError(f"item {item.name!r}: {unknown('persona', persona, every)}")
    if not items:
        return replace(catalogue, personas=every)
    return replace(catalogue, name="items.of", personas=every, items={item.name: item for item in items})


def persona_of(personas: Mapping[str, Persona], id: str) -> Persona:  # noqa: A002 - the catalogue's word
    """Find a persona.

    Raises:
        ConfigError: no such id; the message names the nearest.
    """
    try:
        return personas[id]
    except KeyError:
        raise ConfigError(unknown("persona", id, personas)) from None
