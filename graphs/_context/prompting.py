"""Prompts are texts that are strictly filled, with the facts as JSON or in prose, in the wording of one bidder.

The wording says whose texts these are, which form facts have, and whether they advise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources.abc import Traversable
from string import Template
from typing import Any, Literal

from harbor._config.thinking import BUNDLES, Bundle, ProtocolSettings
from harbor._core.asking.decisions import BidReply, ChoiceReply, PriceReply, UnitsReply, WordsReply
from harbor._core.basics.errors import ConfigError
from harbor._core.prompts import prose
from harbor._core.prompts.prompts import (
    BLANK,
    EXPLAINED,
    PLAIN,
    TEXTS_KEPT,
    Turn,
    as_json,
    block,
    chosen,
    explains,
    news,
    sent,
    spoken_of,
    unfillable_text,
)
from harbor._games.game import Game
from harbor._models.calls.prompt import Prompt, version_of
from harbor.graphs._context.deciding import reply_of, task_of, words_of
from harbor.graphs._context.node import NOTHING_MORE, PROMPTS, Facts, ThoughtNode

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


ALWAYS = ("task", "game", "in_words", "answer_keys")
"""What every prompt tells, whichever facts its text chooses."""
IN_SENTENCES = "Facts come in sentences: a name in backticks stands for what such a sentence tells."
"""Why Harbor's own texts, which name facts, fit prose."""
REFUSAL = ("refused", "attempt")
"""Facts of an earlier call that hold no longer."""
ADVICE = "true_per_estimate"
"""A fact that advises: it says how far off estimates were, before anybody has asked."""


def fill(
    body: Traversable,
    who: Facts,
    facts: Facts,
    system: Traversable,
    task: str = "",
    tells: Sequence[str] = (),
    shared: Facts = NOTHING_MORE,
    wording: Wording = USUAL,
    earlier: Sequence[Turn] | None = None,
    noted: Facts = NOTHING_MORE,
    explained: Iterable[str] = (),
    parts: Sequence[str] = (),
) -> Prompt:
    """Fill a prompt: all that its files say before their facts, then who asks, then the facts of this call.

    So what changes least comes first. Where the wording has one beginning for all calls, only the system prompt stands
    before the facts of the call, in which what is appended to comes first; what is asked comes last.

    Args:
        body: the file of the prompt.
        who: facts that stay the same all through the sale.
        facts: facts of this call.
        system: the file of the system prompt, which comes first.
        task: what the prompt is named, if it is not named after its file.
        tells: sentences that explain facts which the prompt does not know of.
        shared: more facts that stay the same.
        wording: whose texts, and how facts are written.
        earlier: the turns before this call, in a dialogue.
        noted: facts that the prompt does not know of.
        explained: facts of other calls, which the system prompt explains in this one too.
        parts: names of parts of the text that are sent though no fact brings them.
    """
    task = task or body.name.removesuffix(".md")
    opening, wanted = wording.text(OPENING, system), wording.text(task, body)
    turns = [_told(turn.task or task, turn.facts, wanted) for turn in earlier or ()]
    turns.append(_told(task, facts, wanted) | dict(noted))
    if not wording.hints:
        turns = [_without(ADVICE, turn) for turn in turns]
    stays = {**shared, **who}
    if wording.one_beginning:
        turns = [{**turn, "task": task} for turn in turns if (task := turn.pop("task"))]  # what changes comes last
        if "catalog" in stays:
            stays["catalog"] = stays.pop("catalog")  # last, as some calls lack it
    *before, last = (as_json(turn) for turn in news(turns))
    lasting = as_json(stays)
    answered = {turn.task: turn.answer for turn in earlier or () if turn.task}  # as good as told
    known = lasting + as_json({**answered, **dict.fromkeys(parts)}) + (_all_of(turns) if before else last)
    told = _explanations(tells, wording, dialogue=earlier is not None)
    rules, after_names = _around(opening, known + as_json(dict.fromkeys(explained)), wording)
    asked, after_known = _around(wanted, known, wording)
    if wording.one_beginning:
        asked, after_known = "", f"\n\n{(asked + after_known).strip()}"
    return Prompt(
        name=task,
        system=f"{rules}{asked}{told}{block(lasting, wording.form)}{after_names}",
        human=f"{block(last, wording.form)}{after_known}",
        version=version_of(opening + told + wanted),
        earlier=tuple((block(one, wording.form), turn.answer) for one, turn in zip(before, earlier or (), strict=True)),
    )


def _explanations(tells: Sequence[str], wording: Wording, *, dialogue: bool) -> str:
    """Write down what explains facts that the texts do not know of, or the form in which they come."""
    in_sentences = [IN_SENTENCES] if wording.one_beginning and wording.form == "prose" else []
    sentences = [*in_sentences, *tells, *([EXPLAINED[wording.form]] if dialogue else [])]
    return "".join(f"{sentence}\n" for sentence in sentences) + "\n" if sentences else ""


def _all_of(turns: Sequence[Facts]) -> str:
    """Write down all that a dialogue has told; why an earlier answer was refused is known no longer."""
    before = [{name: fact for name, fact in turn.items() if name not in REFUSAL} for turn in turns[:-1]]
    return "".join(map(as_json, (*before, turns[-1])))


def _without(name: str, facts: Any) -> Any:
    """Leave a fact out, at any depth."""
    if isinstance(facts, dict):
        return {key: _without(name, fact) for key, fact in facts.items() if key != name}
    return [_without(name, fact) for fact in facts] if isinstance(facts, list) else facts


def _told(task: str, facts: Facts, text: str) -> dict[str, Any]:
    """Give the facts that a text tells, in its order; the task is first, and no fact of that name takes its place."""
    names = chosen(text)
    told = facts if names is None else {name: facts[name] for name in (*ALWAYS, *names) if name in facts}
    return {"task": task} | dict(told) | {"task": task}


def _around(text: str, facts: str, wording: Wording) -> tuple[str, str]:
    """Give what a text says before and after its facts, without the parts that are not sent."""
    return _sides(sent(text, facts, wording.hints))


@lru_cache(TEXTS_KEPT)
def _sides(text: str) -> tuple[str, str]:
    before, after = (Template(side).substitute() for side in text.split(BLANK))
    return before, after
