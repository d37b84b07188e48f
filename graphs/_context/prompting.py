"""Prompts are texts with blanks for facts, filled strictly, with facts as JSON or prose, in one bidder's wording.

The wording sets the source of the texts, the form of the facts, and whether the texts advise.
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
"""Name of the prompt before all others."""


@dataclass(frozen=True)
class Wording:
    """Texts that replace the usual ones, by prompt name, and the form of facts.

    `one_beginning`: all calls of a bidder begin alike, so that providers' prompt caches work; the papers' bundles keep
    the order of their papers. A text is read once and kept while the bidder plays, even if its file changes.
    """

    own: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[Traversable, ...] = ()
    form: Literal["json", "prose"] = "json"
    hints: bool = True
    one_beginning: bool = False
    _read: dict[tuple[str, Traversable], str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, protocol: ProtocolSettings) -> Wording:
        """Return the wording from a bidder's settings: its own texts first, then the bundle's, then the usual ones."""
        bundles = filter(None, (protocol.protocol, BUNDLES[protocol.protocol].after))
        folders = tuple(PROMPTS / name for name in bundles)
        return cls(protocol.prompts, folders, protocol.facts, protocol.hints, protocol.protocol == "native")

    def text(self, name: str, usual: Traversable) -> str:
        """Return the text of a prompt."""
        if name in self.own:
            return self.own[name]
        if (name, usual) not in self._read:
            files = (folder / f"{name}.md" for folder in self.folders)
            text = next((file for file in files if file.is_file()), usual).read_text(encoding="utf-8")
            self._read[name, usual] = text
        return self._read[name, usual]


DECISIONS = (BidReply, PriceReply, ChoiceReply, UnitsReply, WordsReply)
"""Shapes of decisions, except that for bundles: the texts of such a game name its items."""
USUAL = Wording()
"""The usual texts, with facts as JSON, and with advice."""


def check_wording(protocol: ProtocolSettings, game: Game, nodes: Collection[ThoughtNode]) -> None:
    """Refuse a bundle that does not know the game, and the user's own prompts that a model could not answer.

    Raises:
        ConfigError: the message names the bundle; or the prompt that is missing, can't be filled, names a fact without
            showing it, or leaves a key of the answer unexplained.
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
    """Name the first fact that a bidder's own text mentions though its prompt never shows it; empty if none.

    Harbor's own texts explain every fact that they show, so these are all the facts. The papers' texts explain none, so
    each fact that they choose must have a sentence.
    """
    text, usual = protocol.prompts[name], prompts_of(game, nodes)
    if protocol.protocol != "native":
        known = {*prose.told(), *spoken_of(usual[name].read_text(encoding="utf-8"))}
        return next((fact for fact in chosen(text) or () if fact not in known), "")
    known = told_with(game, nodes, usual if name == OPENING else (name, OPENING))
    return next((fact for fact in spoken_of(text) if fact not in known), "")


def told_with(game: Game, nodes: Collection[ThoughtNode], names: Iterable[str]) -> set[str]:
    """Return the facts that Harbor's prompts with these names show, and the keys of the answers."""
    usual, known = prompts_of(game, nodes), set(PLAIN)
    for name in names:
        known.update(spoken_of(usual[name].read_text(encoding="utf-8")))
    for node in nodes:
        if node.note not in game.played.tells:  # every prompt has its sentence
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
    """Name the first key of a bundle's own answer forms in a game that a text does not explain; empty if none."""
    keys = (key for form in bundle.replies[game.name].all for key in form.all_keys())
    return next((key for key in keys if not explains(text, key)), "")


def copied(protocol: ProtocolSettings, game: Game, nodes: Iterable[ThoughtNode]) -> dict[str, str]:
    """Return the texts of all prompts of a game in a protocol, by file name, as a start for your own prompts."""
    wording = Wording.of(protocol)
    return {f"{name}.md": wording.text(name, usual) for name, usual in prompts_of(game, nodes).items()}


def prompts_of(game: Game, nodes: Iterable[ThoughtNode]) -> Mapping[str, Traversable]:
    """Return the usual files of the prompts that a bidder needs, by name."""
    usual = {OPENING: game.played.system}
    for node in nodes:
        if node.occasions and (words := words_of(node, game)):
            usual[task_of(node, game)] = words.prompt
    return usual


ALWAYS = ("task", "game", "in_words", "answer_keys")
"""Facts that every prompt shows, even if its text does not choose them."""
IN_SENTENCES = "Facts come in sentences: a name in backticks stands for what such a sentence tells."
"""Sentence that makes Harbor's own texts, which name facts, fit facts in prose."""
REFUSAL = ("refused", "attempt")
"""Facts of an earlier call that are no longer true."""
ADVICE = "true_per_estimate"
"""A fact that advises: the ratio of true values to estimates so far, unasked."""


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
    """Fill a prompt: the text of its files before the facts, then the bidder's identity, then the facts of this call.

    So the constant parts come first. If the wording has one beginning for all calls, only the system prompt stands
    before the facts of the call; there growing facts come first, and the question comes last.

    Args:
        body: the file of the prompt.
        who: facts that stay the same through the sale.
        facts: facts of this call.
        system: the file of the system prompt, which comes first.
        task: name of the prompt, if its file has another name.
        tells: sentences that explain facts unknown to the prompt.
        shared: more facts that stay the same.
        wording: texts, and form of facts.
        earlier: the turns before this call, in a dialogue.
        noted: facts unknown to the prompt.
        explained: facts of other calls that the system prompt explains here too.
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
        turns = [{**turn, "task": task} for turn in turns if (task := turn.pop("task"))]  # changing facts come last
        if "catalog" in stays:
            stays["catalog"] = stays.pop("catalog")  # last, because some calls lack it
    *before, last = (as_json(turn) for turn in news(turns))
    lasting = as_json(stays)
    answered = {turn.task: turn.answer for turn in earlier or () if turn.task}  # the model knows its own answers
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
    """Return the sentences that explain facts unknown to the texts, or the form of the facts."""
    in_sentences = [IN_SENTENCES] if wording.one_beginning and wording.form == "prose" else []
    sentences = [*in_sentences, *tells, *([EXPLAINED[wording.form]] if dialogue else [])]
    return "".join(f"{sentence}\n" for sentence in sentences) + "\n" if sentences else ""


def _all_of(turns: Sequence[Facts]) -> str:
    """Return all facts of a dialogue as JSON, without the reasons of earlier refusals, which no longer hold."""
    before = [{name: fact for name, fact in turn.items() if name not in REFUSAL} for turn in turns[:-1]]
    return "".join(map(as_json, (*before, turns[-1])))


def _without(name: str, facts: Any) -> Any:
    """Remove a fact, at any depth."""
    if isinstance(facts, dict):
        return {key: _without(name, fact) for key, fact in facts.items() if key != name}
    return [_without(name, fact) for fact in facts] if isinstance(facts, list) else facts


def _told(task: str, facts: Facts, text: str) -> dict[str, Any]:
    """Return the facts that a text chooses, in its order; `task` is first, and no fact may replace it."""
    names = chosen(text)
    told = facts if names is None else {name: facts[name] for name in (*ALWAYS, *names) if name in facts}
    return {"task": task} | dict(told) | {"task": task}


def _around(text: str, facts: str, wording: Wording) -> tuple[str, str]:
    """Return the text before and after the facts, without the parts that are not sent."""
    return _sides(sent(text, facts, wording.hints))


@lru_cache(TEXTS_KEPT)
def _sides(text: str) -> tuple[str, str]:
    before, after = (Template(side).substitute() for side in text.split(BLANK))
    return before, after
