"""The examination of all prompts: automatic checks, and a folder of prompts for a human reader.

`make prompts` writes the longest filled prompt of each game, protocol and kind into build/prompts, with the schema
of its reply, and an index of lengths and findings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from harbor._core.plugins.finding import names
from harbor._core.prompts.prompts import PLAIN
from harbor._core.prompts.prose import in_prose
from harbor._models.simulated.chat_model import CHARACTERS_PER_TOKEN
from harbor.graphs._context.prompting import ADVICE
from support.asked import Asked, everything_asked, names_in
from support.folders import ROOT

FOLDER = Path("build/prompts")
NOUNS = frozenset({"bid", "limit", "plan", "profile", "rivals"})
"""Names of nodes that are also plain English words for a fact."""
WEIGHT = r"-1 \(certainly not\)", r"0 \(unknown\)", r"1 \(certainly\)"
PERCENT = r"\b0 \(certainly not\)", r"\b100 \(certainly\)"
EITHER = [f"{weight}|{percent}" for weight, percent in zip(WEIGHT[::2], PERCENT, strict=True)]
INTEREST = r"\b0\W+not at all\b", r"\b1\W+very\s+much\b"
SCALES: Mapping[str, Sequence[str]] = {
    "profile": EITHER,
    "profile_of_you": WEIGHT,
    "profiles": EITHER,
    "profiles_of_you": EITHER,
    "weights": WEIGHT,
    "shares": PERCENT,
    "shares_of_you": PERCENT,
    "shares_so_far": PERCENT,
    "personas": [r"\bshares?\b"],  # the weights sum to 1
    "share": [r"\badd up to 100\b"],
    "interest": INTEREST,
    "expected_interest_of_yours": INTEREST,
    "priority": [
        r"\b3\W+(you want it most|you need (this one|it) most)\b",
        r"\b1\W+(you give it up|it matters least)\b",
    ],
}
"""Patterns that a prompt must contain if it states or asks for one of these: both ends of the scale, with meanings."""
ADVISING = re.compile(
    r"\b(should|consider|usually|commonly|weigh what|keep (money|the rest)|compare how|raise the weights"
    r"|counts more)\b",
    re.IGNORECASE,
)
"""Words of the sentences in hints."""
BUDGETS: Mapping[str, int] = {
    "believe": 2_100,
    "bid": 2_200,
    "contest_believe": 1_900,
    "contest_plan": 1_400,
    "contest_replan": 1_800,
    "fused": 4_600,
    "learn": 2_300,
    "limit": 2_100,
    "mirror": 4_100,
    "plan": 2_000,
    "predict": 4_300,
    "profile": 4_200,
    "replan": 4_300,
    "rivals": 3_800,
    "strategize": 4_500,
}
"""Most tokens of a prompt with its facts, by kind: the longest in these games, rounded up."""
FULL_PAGE = 900
"""Most additional tokens of a prompt in a sale of more than thirty items, because it lists a page of them."""
HARDEST_TEXT, HARDEST_PARAGRAPH = 30.0, 50.0
"""Highest LIX. Below 30 is the prose of children's books, above 50 that of officials (Björnsson 1968)."""
_BLOCK = re.compile(r"<facts>\n.*?\n</facts>", re.DOTALL)
_NAMED = re.compile(r"`([a-z][a-z0-9_-]*)`")
_ADVICE = re.compile(rf"^\[(?:hint[^\]\n]*|if {ADVICE})\]\n(.*?)(?=^\[|^\n|\Z)", re.DOTALL | re.MULTILINE)
_SAYS = re.compile(r"(?:^|[.:] |- )`([a-z][a-z0-9_-]*)` (?:is|are|lists|tells|says|names|sums up|counts|means)\b")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_RAW = re.compile(r"[{}]|\[\[|\bnull\b|\bis (?:true|false)\b")
_CODE = re.compile(r"\b[a-z]+_[a-z_]+\b|\b[A-Z][a-z]+[A-Z]\w*|\btask is called\b")
_STOP = re.compile(r"[.:!?](?=\s|$)|\n\s*\n")
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_LONG = 6  # most letters of a word that LIX does not count as long
Check = Callable[[Asked], Iterator[str]]


class Finding(NamedTuple):
    """A finding of a check in a prompt."""

    prompt: str
    check: str
    what: str


def examine(calls: Iterable[Asked]) -> Sequence[Finding]:
    """Return the findings of all checks, once for each prompt."""
    found = (Finding(call.name, name, what) for call in calls for name, check in CHECKS.items() for what in check(call))
    return sorted(set(found))


def unexplained(call: Asked) -> Iterator[str]:
    """Yield the facts in JSON that the text does not explain."""
    text = said(*call.messages)
    if any(block.endswith("}\n</facts>") for message in call.messages for block in _BLOCK.findall(message)):
        yield from (f"`{name}`" for name in call.told - PLAIN if f"`{name}`" not in text)


def unsaid(call: Asked) -> Iterator[str]:
    """Yield the facts for which prose has no sentence, or one with JSON in it."""
    for name, value in call.facts.items():
        line = in_prose({name: value})
        if line.startswith(("The fact ", "Your task is called ")) or _RAW.search(_QUOTED.sub("", line)):
            yield f"`{name}`" + (f" {value!r}" if name == "task" else "")


def absent(call: Asked) -> Iterator[str]:
    """Yield explained names that are in no call of this seat, or, outside the system prompt, not in this call."""
    system, *asked = (_NAMED.findall(said(message)) for message in call.messages)
    yield from (f"`{name}`" for name in system if name not in call.known)
    yield from (f"`{name}`" for names in asked for name in names if name not in call.told | call.reply)


def twice(call: Asked) -> Iterator[str]:
    """Yield the names that more than one sentence explains, as such sentences may contradict each other."""
    explained = _SAYS.findall(said(call.messages[0], call.messages[-1]))
    yield from (f"`{name}`" for name in set(explained) if explained.count(name) > 1)


def idle(call: Asked) -> Iterator[str]:
    """Report a catalog in a prompt without any profile over it, given or requested."""
    facts = dict(call.facts)
    over = facts.pop("catalog", {})
    if over and not over.keys() & set(names_in(facts)) and not {"weights", "shares"} & call.reply:
        yield "`catalog`"


def one_sided(call: Asked) -> Iterator[str]:
    """Yield the scales of which the prompt omits an end."""
    text = said(*call.messages)
    for name in SCALES.keys() & (call.told | call.reply):
        if not all(re.search(end, text) for end in SCALES[name]):
            yield f"`{name}`"


def code_names(call: Asked) -> Iterator[str]:
    """Yield the names of nodes and classes, other words that are not English, and facts with names of nodes."""
    yield from _CODE.findall(_NAMED.sub("", said(*call.messages)))
    yield from (name for name in names("node") if "-" in name and name in "\n".join(call.messages))
    nodes = {name.replace("-", "_") for name in names("node")} - NOUNS
    yield from (f"`{name}`" for name in nodes & call.told)


def advising(call: Asked) -> Iterator[str]:
    """Yield the sentences that advise with hints off. Report a prompt that lacks more than its hints then."""
    text = said(*call.unadvised)
    yield from (sentence for sentence in re.split(r"(?<=[.:;?!]) ", text) if ADVISING.search(sentence))
    advised = said(*call.messages)
    for hint in hints():
        advised = advised.replace(hint, "")
    if advised.split() != text.split():
        yield "without its hints, the text is another than with hints off"


def too_long(call: Asked) -> Iterator[str]:
    """Report a prompt with more tokens than its kind may have."""
    if tokens(call) > budget(call):
        yield f"above {budget(call):,} tokens"


def budget(call: Asked) -> int:
    """Return the most tokens that a prompt may have."""
    return BUDGETS[call.kind] + FULL_PAGE * bool({"earlier_results", "later_items"} & call.facts.keys())


def hard(call: Asked) -> Iterator[str]:
    """Report a text that is hard to read, and yield its hard paragraphs."""
    text = _BLOCK.sub("", "\n\n".join(call.messages))
    if lix(text) > HARDEST_TEXT:
        yield f"LIX above {HARDEST_TEXT:g}"
    for paragraph in re.split(r"\n\s*\n", text):
        if lix(paragraph) > HARDEST_PARAGRAPH:
            yield " ".join(paragraph.split())


CHECKS: Mapping[str, Check] = {
    "unexplained": unexplained,
    "without a sentence": unsaid,
    "explained and absent": absent,
    "explained twice": twice,
    "of no use": idle,
    "scale without its ends": one_sided,
    "code name": code_names,
    "advice outside hints": advising,
    "too long": too_long,
    "hard to read": hard,
}


def said(*messages: str) -> str:
    """Return the text of messages in one line, without their facts."""
    return " ".join(_BLOCK.sub("", "\n\n".join(messages)).split())


@cache
def hints() -> Sequence[str]:
    """Return the advising parts of all prompts, in one line each, the longest first."""
    files = (file for folder in ("graphs", "harbor/_games") for file in (ROOT / folder).rglob("*.md"))
    found = {said(hint) for file in files for hint in _ADVICE.findall(file.read_text(encoding="utf-8"))}
    return sorted(found, key=len, reverse=True)


def tokens(call: Asked) -> int:
    """Count the tokens of a prompt as the built-in model does, without earlier turns of a dialogue."""
    return (len(call.messages[0]) + len(call.messages[-1])) // CHARACTERS_PER_TOKEN


def lix(text: str) -> float:
    """Return the LIX of a text: words per sentence, plus the percentage of words of more than six letters.

    Source: Björnsson, Läsbarhet, 1968.
    """
    words = _WORD.findall(text)
    sentences = sum(1 for sentence in _STOP.split(text) if _WORD.search(sentence))
    return len(words) / sentences + 100 * sum(len(word) > _LONG for word in words) / len(words) if words else 0.0


def write(folder: Path, calls: Sequence[Asked]) -> Sequence[Finding]:
    """Write the longest prompt of each name and the index. Return the findings."""
    findings = examine(calls)
    shown = {call.name: call for call in sorted(calls, key=tokens)}
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, call in shown.items():
        (folder / f"{name}.md").write_text(_page(call), encoding="utf-8")
    (folder / "index.md").write_text(_index(shown, findings), encoding="utf-8")
    return findings


def _page(call: Asked) -> str:
    system, *asked = call.messages
    parts = [("System", system), *(("Asked", one) for one in asked), ("Reply", json.dumps(call.schema, indent=1))]
    return "\n".join(f"# {title}\n\n{text.strip()}\n" for title, text in parts)


def _index(shown: Mapping[str, Asked], findings: Sequence[Finding]) -> str:
    rows = ["| prompt | tokens | budget | LIX | findings |", "|---|---|---|---|---|"]
    for name, call in sorted(shown.items()):
        found = "; ".join(f"{one.check}: {one.what}" for one in findings if one.prompt == name)
        ease = lix(_BLOCK.sub("", "\n\n".join(call.messages)))
        rows.append(f"| [{name}]({name}.md) | {tokens(call):,} | {budget(call):,} | {ease:.0f} | {found} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    found = write(FOLDER, everything_asked())
    for finding in found:
        print("\t".join(finding))
    print(f"{len(found)} findings; read {FOLDER / 'index.md'}")
