"""A catalogue is an extension: personas, and items that suit them. Settings ask for a sample of the items.

Harbor's own have ten kinds of home buyers, and two sets of houses. The listings of "homes" use the words of the persona
that they suit. Those of "homes-low-overlap" describe the same by facts, in other words; some of its houses suit two
personas, and some suit nobody. If the words of a listing alone tell its persona, this is a leak in studies of
judgement. Labels are in a file of their own, apart from the texts that bidders read.
Source: Harbor sec. 3.3 and App. A (names and prices); the texts are our own.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from random import Random

from pydantic import model_validator

from harbor._config.auction import AuctionConfig, Houses, Item, Persona, check
from harbor._core.basics.errors import ConfigError, unknown
from harbor._core.basics.numbers import stream
from harbor._core.plugins.extensions import API, part
from harbor._core.plugins.finding import asked, find, found
from harbor._core.settings import Settings, check_distinct, read_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """A catalogue of personas and of items that suit them, as an extension.

    `version` changes with any text or price, so that "NAME@VERSION" always means the same catalogue. The `persona` of
    an item is the id of the persona that the item suits, or several ids, or None. A persona that an item names may be
    missing in the catalogue, if the settings of an auction add that persona.

    >>> farmer = Persona(id="farmer", name="a farmer", text="You grow corn.")
    >>> barn = Item(name="Barn", start=100, true_value=300, persona="farmer")
    >>> lots = {"personas": {"farmer": farmer}, "items": {"barn": barn}}
    >>> [item.name for item in Catalogue(name="farms", description="farms", version="1", **lots).suiting("farmer")]
    ['Barn']
    """

    name: str = part("its name, in lower case")
    description: str = part("what it is, in one line")
    version: str = part("its version, such as '1'")
    personas: Mapping[str, Persona] = part("its personas by id")
    items: Mapping[str, Item] = part("its items by id")
    api: int = API

    @classmethod
    def read(cls, file: Traversable) -> Catalogue:
        """Read a catalogue from a TOML file of a package.

        The file has the fields of the catalogue, and the tables [[personas]] and [[items]], each with an `id`.

        Raises:
            ConfigError: the file can't be read, or a value in it is refused.
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
        """Say what is wrong with the catalogue, such as a wrong type or two equal texts; empty if nothing is wrong."""
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
    """A catalogue as a TOML file."""

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
    """Return the catalogue that settings name: "homes", "homes@1" with its version, or "package.module:NAME".

    Raises:
        ConfigError: there is no such catalogue, or the installed version differs from the named one.
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
    """Return the personas of a catalogue, and these.

    Raises:
        ConfigError: one of them has an id of the catalogue.
    """
    for one in own:
        if one.id in catalogue.personas:
            raise ConfigError(f"persona {one.id!r} is in the catalogue already; give yours another id")
    return {**catalogue.personas, **{one.id: one for one in own}}


def with_own(catalogue: Catalogue, personas: Sequence[Persona], items: Sequence[Item]) -> Catalogue:
    """Return a catalogue with these personas added; items replace its own if there are any.

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
    """Return a persona by id.

    Raises:
        ConfigError: no such id; the message names the nearest.
    """
    try:
        return personas[id]
    except KeyError:
        raise ConfigError(unknown("persona", id, personas)) from None


def sample(catalogue: Catalogue, count: int, seed: int, matched: Mapping[str, int] | None = None) -> tuple[Item, ...]:
    """Sample items without repeats, in random order.

    Args:
        catalogue: the catalogue to draw from.
        count: number of items.
        seed: random seed; equal seeds return equal samples.
        matched: exact number of items for each of these personas; the other items suit none of them. An item that suits
            two of them is not drawn.

    Raises:
        ConfigError: the catalogue has too few items.
    """
    rng, whole = stream(seed, "houses"), f"catalogue {catalogue.name!r}"
    every = list(catalogue.items.values())
    if matched is None or not 0 <= count <= len(every):
        return tuple(_draw(rng, every, count, whole))
    drawn: list[Item] = []
    for persona, wanted in matched.items():
        drawn += _draw(rng, suited(catalogue, persona, matched), wanted, f"persona {persona!r}")
    if len(drawn) > count:
        raise ConfigError(
            f"{len(drawn)} matched items are more than the {count} for sale; lower matched or raise count"
        )
    others = [item for item in every if matched.keys().isdisjoint(item.suits)]
    drawn += _draw(rng, others, count - len(drawn), f"the rest of {whole}")
    rng.shuffle(drawn)
    return tuple(drawn)


def suited(catalogue: Catalogue, persona: str, matched: Iterable[str]) -> list[Item]:
    """List the items that suit a persona and none of the other personas in `matched`.

    Raises:
        ConfigError: the catalogue has neither the persona nor an item that suits it; the message names the nearest.
    """
    items = catalogue.suiting(persona)
    if not items:
        persona_of(catalogue.personas, persona)
    others = {*matched} - {persona}
    return [item for item in items if others.isdisjoint(item.suits)]


def _draw(rng: Random, items: list[Item], count: int, of: str) -> list[Item]:
    if not 0 <= count <= len(items):
        raise ConfigError(f"{count} items demanded, but {of} has {len(items)}; ask for at most {len(items)}")
    return rng.sample(items, count)


def with_items(config: AuctionConfig) -> AuctionConfig:
    """Return settings that list the items for sale, so that the run folder has them."""
    items = resolve_items(config)
    return config.model_copy(update={"items": items}) if items else config


def resolve_items(config: AuctionConfig) -> tuple[Item, ...]:
    """Return the items for sale, sampled from the catalogue if the settings ask for it; none in a game without items.

    Raises:
        ConfigError: there are fewer items than demanded, or an item to draw from is refused.
    """
    if "items" not in find("game", config.rules.game).uses:
        return ()
    if not isinstance(config.items, Houses):
        return config.items
    catalogue, matched = with_own(catalogue_of(config.catalogue), config.personas, config.items.of), None
    if config.items.matched is not None:
        matched = {key: config.items.matched for bidder in config.bidders for key in bidder.persona}
        for own in config.personas:
            if own.id in matched and not catalogue.suiting(own.id):
                raise ConfigError(
                    f"no item of the catalogue {catalogue.name!r} suits your persona {own.id!r}; drop matched, list"
                    f" items, or name items whose persona is {own.id!r} in items.of or in a catalogue"
                )
    return sample(catalogue, config.items.count, config.seed, matched)


WORD = r"(?u)\b[^\W\d_]{2,}\b"
"""Pattern of a word: two or more letters, without digits."""


def nearest_in_words(catalogue: Catalogue) -> Mapping[str, str]:
    """Map each item to the persona whose text is most similar to its listing; labels are not used.

    Similarity is the cosine between TF-IDF vectors of single words, without the usual stop words, weighted over all
    texts of the catalogue. An item that shares no word with any persona is left out.

    Returns:
        The ids of personas by the ids of items.
    """
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    told = {key: item.listing for key, item in catalogue.items.items() if item.listing}
    ids, texts = list(catalogue.personas), [one.text for one in catalogue.personas.values()]
    counts = HashingVectorizer(stop_words="english", token_pattern=WORD, alternate_sign=False, norm=None)
    vectors = TfidfTransformer().fit_transform(counts.transform([*texts, *told.values()]))
    likeness = (vectors[len(ids) :] @ vectors[: len(ids)].T).toarray()
    return {key: ids[int(row.argmax())] for key, row in zip(told, likeness, strict=True) if row.any()}


def named_by_words(catalogue: Catalogue) -> tuple[int, int]:
    """Count the items whose words alone name a persona that they suit, and all items that suit any persona."""
    nearest = nearest_in_words(catalogue)
    judged = [nearest.get(key) in item.suits for key, item in catalogue.items.items() if item.suits]
    return sum(judged), len(judged)


def personas() -> Mapping[str, Persona]:
    """Return the personas of the catalogue "homes" by id, in the order of the catalogue.

    >>> len(personas())
    10
    """
    return HOMES.personas


def houses(count: int = 10, seed: int = 0, matched: Mapping[str, int] | None = None) -> tuple[Item, ...]:
    """Draw a random sample of houses from the catalogue "homes", without repeats and in random order.

    >>> len(houses(count=3, seed=1))
    3

    Args:
        count: number of houses.
        seed: random seed; equal seeds return equal samples.
        matched: for each of these personas, by id, the exact number of houses in the sample that suit it. The other
            houses in the sample suit none of these personas. If it is None, the draw ignores personas.

    Raises:
        ConfigError: the catalogue has too few houses.
    """
    return sample(HOMES, count, seed, matched)


def _personas() -> dict[str, Persona]:
    return {entry["id"]: check(Persona, entry, "personas.toml") for entry in _read("personas.toml")["personas"]}


def _items(which: str = "") -> dict[str, Item]:
    suits = _read(f"labels{which}.toml")["persona_of"]
    found = {}
    for entry in _read(f"houses{which}.toml")["houses"]:
        key = entry.pop("id")
        found[key] = check(Item, entry | {"persona": suits[key]}, f"house {key!r}")
    return found


def _read(name: str) -> dict:  # type: ignore[type-arg]
    return tomllib.loads((files("harbor.personas._catalog.data") / name).read_text(encoding="utf-8"))


HOMES = Catalogue(
    name="homes",
    description="ten kinds of home buyers and forty houses",
    version="1",
    personas=_personas(),
    items=_items(),
)

HOMES_LOW_OVERLAP = Catalogue(
    name="homes-low-overlap",
    description="the same buyers, and houses that tell whom they suit by facts and not by shared words",
    version="1",
    personas=HOMES.personas,
    items=_items("-low-overlap"),
)
