"""How the prompts of one bidder are worded: whose texts, which form of facts, and whether they advise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import Any, Literal

from harbor._config.protocol import BUNDLES, Bundle, ProtocolSettings
from harbor._core import prose
from harbor._core.decisions import BidReply, ChoiceReply, PriceReply, UnitsReply, WordsReply
from harbor._core.errors import ConfigError
from harbor._core.prompts import PLAIN, chosen, explains, spoken_of, unfillable_text
from harbor._games.game import Game
from harbor.graphs._context.node import PROMPTS, ThoughtNode
from harbor.graphs._context.words import reply_of, task_of, words_of

OPENING = "system"
"""The name of the prompt that begins all others."""


@dataclass(frozen=True)
class Wording:
    """The texts that stand in place of the usual ones, by the name of their prompt, and how facts are written.

    `one_beginning`: all calls of a bidder begin alike, so that providers find what they have read before in their
    caches; the papers' bundles keep the order of their papers. A text that was read stays as it is while the
    bidder plays, whatever becomes of its file.
    """

    own: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[Traversable, ...] = ()
    form: Literal["json", "prose"] = "json"
    hints: bool = True
    one_beginning: bool = False
    _read: dict[tuple[str, Traversable], str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, protocol: ProtocolSettings) -> Wording:
        """Give the wording that the settings of a bidder ask for: its own texts, then the bundle's, then the usual."""
        bundles = filter(None, (protocol.protocol, BUNDLES[protocol.protocol].after))
        folders = tuple(PROMPTS / name for name in bundles)
        return cls(protocol.prompts, folders, protocol.facts, protocol.hints, protocol.protocol == "native")

    def text(self, name: str, usual: Traversable) -> str:
        """Give the text of a prompt."""
        if name in self.own:
            return self.own[name]
        if (name, usual) not in self._read:
            files = (folder / f"{name}.md" for folder in self.folders)
            text = next((file for file in files if file.is_file()), usual).read_text(encoding="utf-8")
            self._read[name, usual] = text
        return self._read[name, usual]


DECISIONS = (BidReply, PriceReply, ChoiceReply, UnitsReply, WordsReply)
"""The shapes of decisions; a bundle of items is one of a game whose texts name its items."""
USUAL = Wording()
"""The texts as they are, with facts as JSON, and with advice."""


def check_wording(protocol: ProtocolSettings, game: Game, nodes: Collection[ThoughtNode]) -> None:
    """Refuse a bundle that does not know the game, and prompts of one's own that a model could not answer.

    Raises:
        ConfigError: it names the bundle; or the prompt that is missing, can't be filled, speaks of a fact that it does
            not tell, or leaves a key of the answer unexplained.
    """
    bundle = BUNDLES[protocol.protocol]
    known = bundle.games
    if known and game.name not in known:
        games = " and ".join(map(repr, known))
        raise ConfigError(
            f"protocol {protocol.protocol!r} does not know the game {game.name!r}, only {games}; choose another"
        )
    for name, usual in prompts_of(game, nodes).items() if protocol.prompts else ():
        file = f"{name}.md"
        if name not in protocol.prompts:
            raise ConfigError(f"its folder of prompts lacks {file!r}, which this bidder needs; write it")
        text = protocol.prompts[name]
        if wrong := unfillable_text(text, file):
            raise ConfigError(f"its folder of prompts {wrong}")
        if fact := untold(protocol, game, nodes, name):
            raise ConfigError(
                f"its folder of prompts has {file!r}, which speaks of `{fact}`, and this prompt tells no such fact; see"
                f" the texts that 'harbor new prompts FOLDER --game {game.name}' writes, or write a word that is no"
                " fact without backticks"
            )
        if game.name in bundle.replies and usual == game.played.prompt and (key := unexplained(bundle, game, text)):
            raise ConfigError(
                f"its folder of prompts has {file!r}, which does not explain {key!r}, a key of the answer in protocol"
                f' {protocol.protocol!r}; write there what "{key}" is'
            )


def untold(protocol: ProtocolSettings, game: Game, nodes: Collection[ThoughtNode], name: str) -> str:
    """Name the first fact that a bidder's own text speaks of though its prompt never tells it; empty if none.

    Harbor's own texts explain every fact that is told with them, so these are all there are. Those of the papers
    explain none: there the facts that a text chooses must have a sentence.
    """
    text, usual = protocol.prompts[name], prompts_of(game, nodes)
    if protocol.protocol != "native":
        known = {*prose.told(), *spoken_of(usual[name].read_text(encoding="utf-8"))}
        return next((fact for fact in chosen(text) or () if fact not in known), "")
    known = told_with(game, nodes, usual if name == OPENING else (name, OPENING))
    return next((fact for fact in spoken_of(text) if fact not in known), "")


def told_with(game: Game, nodes: Collection[ThoughtNode], names: Iterable[str]) -> set[str]:
    """Name the facts that Harbor's own prompts of these names tell, and the keys of their answers."""
    usual, known = prompts_of(game, nodes), set(PLAIN)
    for name in names:
        known.update(spoken_of(usual[name].read_text(encoding="utf-8")))
    for node in nodes:
        if node.note not in game.played.tells:  # its sentence stands in every prompt
            known.update(spoken_of(node.tells or ""))
        if node.occasions and task_of(node, game) in names:
            kind = reply_of(node, game)
            known.update(key for one in ([kind] if kind else DECISIONS) for key in _keys(one.model_json_schema()))
    return known


def _keys(schema: Any) -> Iterator[str]:
    """Name the fields of a JSON schema, at any depth."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        for value in schema.values():
            yield from _keys(value)


def unexplained(bundle: Bundle, game: Game, text: str) -> str:
    """Name the first key of a bundle's own forms of answer in a game that a text does not explain; empty if none."""
    keys = (key for form in bundle.replies[game.name].all for key in form.all_keys())
    return next((key for key in keys if not explains(text, key)), "")


def copied(protocol: ProtocolSettings, game: Game, nodes: Iterable[ThoughtNode]) -> dict[str, str]:
    """Give the texts of all prompts of a game in a protocol, by file name: what to begin one's own prompts from."""
    wording = Wording.of(protocol)
    return {f"{name}.md": wording.text(name, usual) for name, usual in prompts_of(game, nodes).items()}


def prompts_of(game: Game, nodes: Iterable[ThoughtNode]) -> Mapping[str, Traversable]:
    """Give the usual files of the prompts that a bidder needs, by name."""
    usual = {OPENING: game.played.system}
    for node in nodes:
        if node.occasions and (words := words_of(node, game)):
            usual[task_of(node, game)] = words.prompt
    return usual
